// SPDX-License-Identifier: Apache-2.0
#include "connections.h"
#include "descriptors.h"

#include <fcntl.h>

#define DESCRIPTORS (1u << 16) // more than that are asked for each time

enum { ASK, BLOCKS, FAILS };

static struct connection {
    dev_t device;
    ino_t inode;
    mode_t mode; // 0: not known
    uint8_t waiting;
} *connections; // by descriptor; reserved, touched as they come
static unsigned highest;

static struct connection *connection(int descriptor) {
    if (!connections || (unsigned)descriptor > highest || !connections[descriptor].mode)
        return NULL;
    return &connections[descriptor];
}

// One that the program made for itself is told from others by more than what it is.
void ew_connection_accepted(int descriptor) {
    struct stat status;
    if ((unsigned)descriptor >= DESCRIPTORS || !ew_look_where(descriptor, &status))
        return;
    if (!connections)
        connections = ew_pages(DESCRIPTORS * sizeof *connections);
    if ((unsigned)descriptor > highest)
        highest = (unsigned)descriptor;
    connections[descriptor] =
        (struct connection){status.st_dev, status.st_ino, status.st_mode, ASK};
}

bool ew_connection_known(int descriptor, struct stat *status) {
    const struct connection *known = connection(descriptor);
    if (known)
        *status =
            (struct stat){.st_dev = known->device, .st_ino = known->inode, .st_mode = known->mode};
    return known;
}

bool ew_descriptor_blocks(int descriptor) {
    struct connection *known = connection(descriptor);
    bool alone = known && !ew_may_be_copied(descriptor);
    if (alone && known->waiting != ASK)
        return known->waiting == BLOCKS;
    long flags = raw3(SYS_fcntl, descriptor, F_GETFL, 0);
    bool blocks = flags >= 0 && !(flags & O_NONBLOCK);
    if (alone)
        known->waiting = blocks ? BLOCKS : FAILS;
    return blocks;
}

void ew_connection_changes(int descriptor) {
    struct connection *known = connection(descriptor);
    if (known)
        known->waiting = ASK;
}

void ew_connections_forget(unsigned first, unsigned last) {
    for (unsigned i = first; connections && i <= last && i <= highest; i++)
        connections[i].mode = 0;
}
