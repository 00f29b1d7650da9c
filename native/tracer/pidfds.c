// SPDX-License-Identifier: Apache-2.0
// Which process a descriptor stands for.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tracer.h"

// "...\nPid:\t17\n..."; one that is gone has -1.
static pid_t process_of(const struct thread *thread, int descriptor) {
    static const char word[] = "\nPid:";
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", (int)thread->id, descriptor);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    text[length < 0 ? 0 : length] = '\0';
    const char *found = strstr(text, word);
    return found ? (pid_t)strtol(found + strlen(word), NULL, 10) : 0;
}

void pidfds_enter(struct thread *thread) {
    if (thread->call.number != SYS_pidfd_send_signal)
        return;
    pid_t process = process_of(thread, (int)thread->call.a0);
    thread->call.value = process > 0 ? (uint64_t)process : 0;
}
