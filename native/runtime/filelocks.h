// SPDX-License-Identifier: Apache-2.0
// Locks on files.
#ifndef EITHERWAY_FILELOCKS_H
#define EITHERWAY_FILELOCKS_H

#include <fcntl.h>

// fcntl's F_SETLK, F_SETLKW and their kin of open descriptions. 0 or -errno.
long ew_file_lock(int fd, int command, struct flock *lock, const void *pc);

// With the descriptor goes the lock that was taken through it.
void ew_file_locks_closing(int fd, const void *pc);

#endif
