// SPDX-License-Identifier: Apache-2.0
#include "own_addresses.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

// Whatever comes beyond is forgotten: then what goes through it orders nothing.
#define KNOWN 64
static struct known {
    struct sockaddr_storage address;
    socklen_t length;
} known[KNOWN] EW_LARGE;
static uint32_t known_count;

bool ew_calls_itself;

static bool is_internet(sa_family_t family) {
    return family == AF_INET || family == AF_INET6;
}

// The ports of both families lie at the same place. One may be bound for all addresses.
static bool is_same_port(const struct sockaddr *one, const struct sockaddr *other) {
    in_port_t first = ((const struct sockaddr_in *)(const void *)one)->sin_port;
    return first && first == ((const struct sockaddr_in *)(const void *)other)->sin_port;
}

// A path may or may not be told with the zero behind it; one that begins with zero has its length.
static bool is_same_path(const struct sockaddr *one, socklen_t length, const struct known *other) {
    const size_t begin = offsetof(struct sockaddr_un, sun_path);
    const char *path = (const char *)one + begin, *of = (const char *)&other->address + begin;
    if (length <= begin || other->length <= begin)
        return false;
    if (!path[0])
        return length == other->length && memcmp(path, of, length - begin) == 0;
    size_t size = strnlen(path, length - begin);
    return size == strnlen(of, other->length - begin) && memcmp(path, of, size) == 0;
}

static bool is_same(const struct sockaddr *one, socklen_t length, const struct known *other) {
    const struct sockaddr *of = (const struct sockaddr *)&other->address;
    if (is_internet(one->sa_family) && is_internet(of->sa_family))
        return is_same_port(one, of);
    return one->sa_family == AF_UNIX && of->sa_family == AF_UNIX &&
           is_same_path(one, length, other);
}

static bool is_known(const struct sockaddr *address, socklen_t length) {
    for (uint32_t i = 0; i < known_count; i++)
        if (is_same(address, length, &known[i]))
            return true;
    return false;
}

static bool is_sound(const struct sockaddr *address, socklen_t length) {
    return address && length > offsetof(struct sockaddr_in, sin_addr) &&
           length <= sizeof(struct sockaddr_storage) && ew_is_readable(address, length);
}

void ew_address_bound(const struct sockaddr *address, socklen_t length) {
    if (known_count == KNOWN || !is_sound(address, length) || is_known(address, length))
        return;
    memcpy(&known[known_count].address, address, length);
    known[known_count++].length = length;
}

void ew_address_called(const struct sockaddr *address, socklen_t length) {
    if (!ew_calls_itself && is_sound(address, length))
        ew_calls_itself = is_known(address, length);
}
