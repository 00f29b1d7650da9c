/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the programs in the kernel tell the recorder, one record after the other. */
#ifndef EITHERWAY_SEEN_H
#define EITHERWAY_SEEN_H

enum { SEEN_RING = 16 << 20 }; /* bytes, a power of two */
enum { SEEN_PAGE = 4096 };
enum { SEEN_PLACES = 1 << 11 };
enum { SEEN_PATH = 512, SEEN_ARGUMENTS = 6, SEEN_CALLS = 512, SEEN_NO_ARGUMENT = 255 };
/* SEEN_LEFT: ended, by a call that was for that. */
enum seen_kind {
    SEEN_CALL = 1,
    SEEN_UNFINISHED,
    SEEN_LEFT,
    SEEN_MADE,
    SEEN_RUNS,
    SEEN_ENDED,
    SEEN_SIGNALLED
};

/* Counts: of records that were lost, of threads that have no place, then of calls that are only
 * counted, by number. */
enum { SEEN_LOST, SEEN_OTHERS, SEEN_COUNTED, SEEN_COUNTS = SEEN_COUNTED + SEEN_CALLS };
enum seen_wanted { SEEN_NOT_WANTED, SEEN_WANTED, SEEN_TO_COUNT };

/* Which arguments of a call are what; SEEN_NO_ARGUMENT: none is. */
struct seen_shape {
    unsigned char wanted, descriptor, second, gives_descriptor;
    unsigned char path[2], directory[2];
    unsigned char unless_argument, unless_bit; /* not wanted when this bit is set */
    unsigned char two_descriptors, if_given; /* wanted only when this argument is not 0; or none */
    unsigned char is_short;                  /* all of its record is in front */
} __attribute__((aligned(16)));

/* In one piece, as what is below: where a row lies is told by its number alone. */
struct seen_shapes {
    struct seen_shape of[SEEN_CALLS];
};

struct seen_inode {
    unsigned long long number;
    unsigned int device; /* as the kernel has it: major << 20 | minor; 0: there is none */
    unsigned int mode;
};

/* What most have comes first: a record of a life ends behind `result`, one of a call behind `file`
 * or with its texts. */
struct seen {
    unsigned short kind, number;  /* of the call; of a signal */
    unsigned int thread, process; /* numbers in the namespace of the thread */
    unsigned int open_flags;      /* of the file; of SEEN_LEFT, how it ended */
    unsigned long long entered;   /* how far the ring was written: what is before was over */
    long long result;             /* of a thread that was made, its number */
    unsigned long long arguments[SEEN_ARGUMENTS];
    unsigned long long position;
    unsigned int pair[2];
    struct seen_inode file;

    struct seen_inode second, given, directory[2];
    unsigned int created;   /* whether the call made the one it gives */
    unsigned int length[2]; /* of the paths, with their ends; 0: it could not be read */
    unsigned int reserved;
    char text[2 * SEEN_PATH];
};

/* What is kept of one thread. Most calls touch the first two lines of a cache alone. */
struct seen_place {
    unsigned long long owner; /* where the kernel has its registers; 0: it is nobody's */
    unsigned long long task;
    struct seen seen;
} __attribute__((aligned(64)));

struct seen_places {
    struct seen_place at[SEEN_PLACES];
};

/* Records one behind the other: who writes one adds its size to `written` and then has its place
 * for itself. A head is written last, and says where it is: what lies there of the round before is
 * none. One that begins before the end of the ring may go on behind it. Who has read all there is
 * may leave out what is left of the round, so that the begin of the ring, which the caches hold, is
 * written again: until that is done, more is read than written. */
struct seen_ring {
    unsigned long long written __attribute__((aligned(SEEN_PAGE)));
    unsigned long long read __attribute__((aligned(64)));
    char records[SEEN_RING + SEEN_PAGE] __attribute__((aligned(SEEN_PAGE)));
};

/* Who waits for records sleeps meanwhile, and is woken when so many bytes were written. */
enum { SEEN_BELL = SEEN_RING / 32 };

/* One word: the bytes of what comes behind it, and where it is; never that of a round before. */
enum { SEEN_SIZE_BITS = 16 };
#define SEEN_HEAD(at, size) (((at) / sizeof(unsigned long long) + 1) << SEEN_SIZE_BITS | (size))

#endif
