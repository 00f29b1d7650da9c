// SPDX-License-Identifier: Apache-2.0
// The runtime takes over before any constructor of the program or its libraries runs.
#include "runtime.h"
#include "schedule.h"
#include "threads.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

uint8_t ew_has_fsgsbase;
static struct ew_thread first_thread;

static void say(const char *text) {
    size_t length = 0;
    while (text[length])
        length++;
    raw3(SYS_write, 2, (long)text, (long)length);
}

static _Noreturn void leave(const char *who, const char *what, int status) {
    say(who);
    say(what);
    say("\n");
    ew_trace_finish();
    raw1(SYS_exit_group, status);
    __builtin_unreachable();
}

_Noreturn void ew_bug(const char *what) {
    leave("eitherway: a bug in EitherWay: ", what, 70);
}

_Noreturn void ew_cannot(const char *what) {
    leave("eitherway: ", what, 69);
}

void *ew_pages(size_t bytes) {
    long address = raw6(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address < 0 && address > -4096)
        ew_cannot("out of address space");
    return (void *)address;
}

// EITHERWAY_OPTIONS=name=value:name=value; the value of `name`, copied, or the fallback.
static const char *option(char **environment, const char *name, char *buffer, size_t size,
                          const char *fallback) {
    static const char variable[] = "EITHERWAY_OPTIONS=";
    size_t length = strlen(name);
    for (; *environment; environment++) {
        if (strncmp(*environment, variable, sizeof variable - 1) != 0)
            continue;
        const char *at = *environment + sizeof variable - 1;
        while (*at) {
            const char *end = strchrnul(at, ':');
            if (strncmp(at, name, length) == 0 && at[length] == '=') {
                size_t count = (size_t)(end - at) - length - 1;
                if (count >= size)
                    ew_cannot("an option in EITHERWAY_OPTIONS is too long");
                memcpy(buffer, at + length + 1, count);
                buffer[count] = 0;
                return buffer;
            }
            at = *end ? end + 1 : end;
        }
    }
    return fallback;
}

static uint64_t number(const char *text) {
    uint64_t value = 0;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            ew_cannot("an option in EITHERWAY_OPTIONS is not a number");
        value = value * 10 + (uint64_t)(*text - '0');
    }
    return value;
}

static void start(int count, char **arguments, char **environment) {
    (void)count;
    (void)arguments;
    static char scheduler[32], seed[32], trace[4096];
    ew_has_fsgsbase = (getauxval(AT_HWCAP2) & 2) != 0;
    ew_clock_start();
    ew_threads_start(&first_thread);
    ew_specific_start(&first_thread);
    const char *record = option(environment, "record", scheduler, sizeof scheduler, NULL);
    if (record)
        ew_schedule_record((int)number(record));
    const char *replay = option(environment, "replay", scheduler, sizeof scheduler, NULL);
    if (replay)
        ew_schedule_replay((int)number(replay));
    ew_scheduler_start(&first_thread,
                       option(environment, "scheduler", scheduler, sizeof scheduler, "random-walk"),
                       number(option(environment, "seed", seed, sizeof seed, "0")));
    const char *path = option(environment, "trace", trace, sizeof trace, NULL);
    if (path)
        ew_trace_start(path);
    ew_running = true;
}

__attribute__((section(".preinit_array"), used)) static void (*const starter)(int, char **,
                                                                              char **) = start;
