// SPDX-License-Identifier: Apache-2.0
#include "servers.h"
#include "descendants.h"

#define ROOM 16 // the first, and those that stand still: explorer.py has at most 6 of them

static pid_t servers[ROOM];
static uint32_t count;

void ew_servers_add(void) {
    if (count == ROOM)
        ew_bug("more runs stand still than there is room for");
    servers[count++] = (pid_t)raw1(SYS_getpid, 0);
}

bool ew_is_server(pid_t process) {
    for (uint32_t i = 0; i < count; i++)
        if (servers[i] == process)
            return true;
    return false;
}

static pid_t group_of(pid_t process) {
    return (pid_t)raw1(SYS_getpgid, process);
}

bool ew_kill_reaches_server(pid_t process) {
    if (process > 0)
        return ew_is_server(process);
    pid_t group = process ? -process : group_of(0);
    for (uint32_t i = 0; i < count; i++)
        if (process == -1 || group_of(servers[i]) == group)
            return true;
    return false;
}

static struct {
    pid_t group; // 1: any, as in kill()
    int number;
} sent;

static void send(pid_t process) {
    bool is_meant = sent.group == 1 || group_of(process) == sent.group;
    if (is_meant && !ew_is_server(process) && process != (pid_t)raw1(SYS_getpid, 0))
        raw3(SYS_kill, process, sent.number, 0);
}

void ew_kill_all_but_servers(pid_t process, int number) {
    pid_t self = (pid_t)raw1(SYS_getpid, 0);
    sent.group = process ? -process : group_of(0);
    sent.number = number;
    ew_descendants_of(servers[0], send);
    if (process != -1 && group_of(self) == sent.group)
        raw3(SYS_kill, self, number, 0);
}
