/* SPDX-License-Identifier: Apache-2.0 */
/* Written by format/generate.py from format/recording.toml: change that, then `make generate`. */
/* clang-format off */
#ifndef EITHERWAY_FORMAT_H
#define EITHERWAY_FORMAT_H

#include <stddef.h>
#include <stdint.h>

/* A record is copied as it lies in memory. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "recordings are little-endian");

#define EW_FORMAT_NAME "eitherway-recording"
#define EW_FORMAT_MAJOR 1
#define EW_FORMAT_MINOR 0
#define EW_MANIFEST "MANIFEST"
#define EW_BEGUN "MANIFEST.begun"
#define EW_STREAM_SUFFIX ".blocks"
#define EW_BLOCK_MAGIC 0x4b425745u /* EWBK */
#define EW_CONTROL_MAGIC 0x50435745u /* EWCP */
#define EW_CONTROL_VERSION 2
#define EW_MAX_PAYLOAD 1048576u /* Bytes of payload in one block. A reader holds one block at a time. */
#define EW_MAX_STREAMS 64u /* Stream files of one recording. */
#define EW_MAX_MANIFEST 8388608u /* Bytes of a MANIFEST; a command line on Linux is at most 2 MiB. */
#define EW_MAX_RECORDS 4294967295u /* Records of one table: they are numbered with a u32, and 0xffffffff means none. */
#define EW_MAX_MESSAGE 1048576u /* Bytes of payload in one control message. */
#define EW_MAX_RECORD 112u /* Bytes of the largest record, without its tail. */
#define EW_CRC_POLYNOMIAL 0xedb88320u

/* Block types. */
enum ew_block_number {
  EW_BLOCK_STRINGS = 1, /* Names. Number 0 is the empty string. */
  EW_BLOCK_ACTORS = 2, /* Threads, processes or kernel contexts. */
  EW_BLOCK_OBJECTS = 3, /* What operations touch. Number 0 means not known. */
  EW_BLOCK_RANGES = 4, /* Parts of objects. Number 0 means not known. */
  EW_BLOCK_PLACES = 5, /* Places in the code. Number 0 means not known. */
  EW_BLOCK_STACKS = 6, /* Call stacks, sharing their outer frames. Number 0 is the empty stack. */
  EW_BLOCK_OPERATIONS = 7, /* What the actors did, in the order it was seen. */
  EW_BLOCK_VALUES = 8, /* One value per operation; the blocks are missing altogether when no values were recorded. */
  EW_BLOCK_EDGES = 9, /* Which operation came before which, and not only because it was seen earlier. */
  EW_BLOCK_CHOICES = 16, /* The decisions of the scheduler, in order: with the input, all that is needed to run again. */
  EW_BLOCK_INPUT = 17, /* What came from outside, in the order it came. */
  EW_BLOCK_METADATA = 18, /* Facts that only one world knows, by name. */
  EW_BLOCK_THREAD_EVENTS = 32, /* What the threads did, in the order it happened. */
  EW_BLOCK_THREAD_FRAMES = 33, /* Call sites, sharing their outer ones. Number 0 is the bottom of a stack. */
  EW_BLOCK_THREAD_MODULES = 34, /* ELF files in the target's memory. */
  EW_BLOCK_THREAD_VALUES = 35, /* One value per event; missing altogether when none were asked for. */
  EW_BLOCK_THREAD_REGIONS = 36, /* Stacks and the heap, in the order in which they came to be. */
  EW_BLOCK_THREAD_CORRECTIONS = 38, /* Values that were told before they were written. */
  EW_BLOCK_THREAD_MEMORY = 39, /* Blocks of the heap, mappings and thread-local storage, as they came and went. */
  EW_BLOCK_THREAD_LOCALS = 40, /* Which frames of stacks the objects of operations lie in. */
  EW_BLOCK_THREAD_NAMES = 41, /* Names that threads were given; of one thread the last counts. */
  EW_BLOCK_THREAD_CHANGES = 42, /* Words of memory that are not at the end as they were where the recorded way was left, and all words of pages with blocks that were allocated behind there; in order, but for the last record. */
  EW_BLOCK_THREAD_STALE = 43, /* What stood in blocks of the heap when they were allocated behind there: bytes from their begin, without zeros at the end. */
  EW_BLOCK_THREAD_REGISTERS = 44, /* Registers of the two threads of a branch where they synchronise behind their accesses: those that a call keeps, and the stack from there on. */
  EW_BLOCK_THREAD_ASKED = 37, /* How deep the trace is: a record for each range of addresses, which differ in that alone. */
  EW_BLOCK_PROCESS_CALLS = 48, /* System calls, in the order in which they were over. */
  EW_BLOCK_PROCESS_OBJECTS = 49, /* Files, pipes and sockets that calls led to. Number 0 means none. */
  EW_BLOCK_PROCESS_LOOKUPS = 50, /* Entries of directories that calls went through by their paths, before they were made. */
  EW_BLOCK_PROCESS_TEXTS = 51, /* Names of entries, programs and command lines. Number 0 is the empty text. */
  EW_BLOCK_PROCESS_EVENTS = 52, /* Lives of processes, and signals. */
  EW_BLOCK_PROCESS_DATA = 53, /* Bytes that came from outside, or went there. */
  EW_BLOCK_PROCESS_TURNS = 54, /* Not in recordings: the order that a branch is to have, handed to the tracer. */
};
#define EW_BLOCK_LAST 54

/* Control messages. */
enum ew_message_number {
  EW_MESSAGE_HELLO = 1, /* First message of the end that is in or beside the target. */
  EW_MESSAGE_READY = 2, /* From the target's end: everything is set up, the program may run. No payload. */
  EW_MESSAGE_ERROR = 3, /* This end cannot go on; text for a person follows (UTF-8). The sender closes. */
  EW_MESSAGE_STOP = 4, /* To the target's end: finish the recording and end. No payload. */
  EW_MESSAGE_RUN = 256, /* To a runtime that serves: fork and run the program once. With it come the descriptors for standard input, output and error, then that of the family, then, for a replay, of the one to follow, then, for a trace, of the directory that takes it. Options follow, as in EITHERWAY_OPTIONS. A run that is to stand still serves from then on, until `stop`: it says `hello` in its turn, and forks itself for each such message, with which no descriptors come. */
  EW_MESSAGE_STARTED = 257, /* The run has begun. */
  EW_MESSAGE_ENDED = 258, /* The run is over and its process is gone. */
  EW_MESSAGE_SURVEY = 259, /* To a runtime that serves: run the program for each of several seeds in a row, and keep of each run only one row. Descriptors as for a run that is no replay, then that of memory for the rows. Options follow; the seed among them is the first. */
  EW_MESSAGE_SURVEYED = 260, /* All rows are there. No payload. */
};

/* What an operation does (model/words.py OpKind). */
enum ew_op_number {
  EW_OP_LOAD = 1,
  EW_OP_STORE = 2,
  EW_OP_UPDATE = 3,
  EW_OP_ALLOCATE = 4,
  EW_OP_FREE = 5,
  EW_OP_ACQUIRE = 8,
  EW_OP_RELEASE = 9,
  EW_OP_INIT = 10,
  EW_OP_DESTROY = 11,
  EW_OP_WAIT = 16,
  EW_OP_WAKE = 17,
  EW_OP_START = 24,
  EW_OP_BEGIN = 25,
  EW_OP_END = 26,
  EW_OP_JOIN = 27,
  EW_OP_OTHER = 32,
};

/* Properties of an operation (OpFlag). */
enum ew_flag_number {
  EW_FLAG_ATOMIC = 1,
  EW_FLAG_TRY = 2,
  EW_FLAG_SHARED = 4,
  EW_FLAG_FAILED = 8,
  EW_FLAG_WILDCARD = 16,
  EW_FLAG_BLOCKED = 32,
  EW_FLAG_CUMULATIVE = 64,
  EW_FLAG_CHECK = 128,
};

/* Why one operation came before another (EdgeKind). */
enum ew_edge_number {
  EW_EDGE_INHERENT = 1,
  EW_EDGE_CHANCE = 2,
};

/* Begins every block of a stream; the payload follows at once, the next block after it. */
struct ew_block_header {
  uint32_t magic; /* The bytes "EWBK". */
  uint16_t type; /* What the payload is, see the block types. An unknown one is refused. */
  uint16_t flags; /* 0. An unknown flag is refused. */
  uint32_t sequence; /* Number of the block in its stream, from 0 without a gap. */
  uint32_t records; /* Number of records in the payload. */
  uint32_t length; /* Length of the payload, at most the limit. [bytes] */
  uint32_t crc; /* CRC-32 of the 20 bytes before this field, then of the payload. */
};
_Static_assert(sizeof(struct ew_block_header) == 24, "block_header");
_Static_assert(offsetof(struct ew_block_header, magic) == 0, "block_header.magic");
_Static_assert(offsetof(struct ew_block_header, type) == 4, "block_header.type");
_Static_assert(offsetof(struct ew_block_header, flags) == 6, "block_header.flags");
_Static_assert(offsetof(struct ew_block_header, sequence) == 8, "block_header.sequence");
_Static_assert(offsetof(struct ew_block_header, records) == 12, "block_header.records");
_Static_assert(offsetof(struct ew_block_header, length) == 16, "block_header.length");
_Static_assert(offsetof(struct ew_block_header, crc) == 20, "block_header.crc");

/* One operation of a thread. */
struct ew_thread_event {
  uint64_t address; /* Of the object in memory; for start, begin, end and join the other thread's number. */
  uint64_t step; /* Of the run, as the schedule counts them. */
  uint32_t thread; /* Who: threads are numbered in the order of their creation, main is 0. */
  uint32_t site; /* Call site: where in the code, and called from where. */
  uint32_t size; /* Of what was touched; at least 1. [bytes] */
  uint32_t follows; /* Event of the wake that ended this wait; 0xffffffff when there is none, 0xfffffffe when it was not asked for. */
  uint8_t op; /* OpKind. */
  uint8_t flags; /* OpFlag bits. */
  uint8_t order; /* Memory order of an atomic operation, as the compiler numbers them; else 0. */
  uint8_t reserved; /* 0. */
  uint32_t reserved2; /* 0. */
};
_Static_assert(sizeof(struct ew_thread_event) == 40, "thread_event");
_Static_assert(offsetof(struct ew_thread_event, address) == 0, "thread_event.address");
_Static_assert(offsetof(struct ew_thread_event, step) == 8, "thread_event.step");
_Static_assert(offsetof(struct ew_thread_event, thread) == 16, "thread_event.thread");
_Static_assert(offsetof(struct ew_thread_event, site) == 20, "thread_event.site");
_Static_assert(offsetof(struct ew_thread_event, size) == 24, "thread_event.size");
_Static_assert(offsetof(struct ew_thread_event, follows) == 28, "thread_event.follows");
_Static_assert(offsetof(struct ew_thread_event, op) == 32, "thread_event.op");
_Static_assert(offsetof(struct ew_thread_event, flags) == 33, "thread_event.flags");
_Static_assert(offsetof(struct ew_thread_event, order) == 34, "thread_event.order");
_Static_assert(offsetof(struct ew_thread_event, reserved) == 35, "thread_event.reserved");
_Static_assert(offsetof(struct ew_thread_event, reserved2) == 36, "thread_event.reserved2");

/* What the event of the same number read or wrote. */
struct ew_thread_value {
  uint64_t value; /* Up to 8 bytes as a number, more as their hash (FNV-1a, 64 bit); of an update what it wrote; 0 for what is no access or could not be read. */
};
_Static_assert(sizeof(struct ew_thread_value) == 8, "thread_value");
_Static_assert(offsetof(struct ew_thread_value, value) == 0, "thread_value.value");

/* Copying a structure, gcc tells the store, then the load, and then does both. */
struct ew_thread_correction {
  uint64_t value; /* What the event wrote. */
  uint32_t event; /* A store. */
  uint32_t reserved; /* 0. */
};
_Static_assert(sizeof(struct ew_thread_correction) == 16, "thread_correction");
_Static_assert(offsetof(struct ew_thread_correction, value) == 0, "thread_correction.value");
_Static_assert(offsetof(struct ew_thread_correction, event) == 8, "thread_correction.event");
_Static_assert(offsetof(struct ew_thread_correction, reserved) == 12, "thread_correction.reserved");

/* One call site. */
struct ew_thread_frame {
  uint32_t caller; /* Call site of the calling function, with a smaller number. */
  uint32_t reserved; /* 0. */
  uint64_t pc; /* Return address of the call. */
};
_Static_assert(sizeof(struct ew_thread_frame) == 16, "thread_frame");
_Static_assert(offsetof(struct ew_thread_frame, caller) == 0, "thread_frame.caller");
_Static_assert(offsetof(struct ew_thread_frame, reserved) == 4, "thread_frame.reserved");
_Static_assert(offsetof(struct ew_thread_frame, pc) == 8, "thread_frame.pc");

/* A thread was given a name. */
struct ew_thread_name {
  uint32_t thread; /* Its number. */
  uint32_t length; /* Bytes of the name that follow. */
};
_Static_assert(sizeof(struct ew_thread_name) == 8, "thread_name");
_Static_assert(offsetof(struct ew_thread_name, thread) == 0, "thread_name.thread");
_Static_assert(offsetof(struct ew_thread_name, length) == 4, "thread_name.length");

/* A part of the memory whose place depends on the run and not on the program. */
struct ew_thread_region {
  uint64_t lo; /* First address. */
  uint64_t hi; /* Address after the last; of the heap, which grows, a tebibyte on. */
  uint32_t event; /* From which event on. */
  uint32_t thread; /* Whose stack; 0xffffffff for the heap, 0xfffffffe for the program's arguments and environment. */
  uint64_t origin; /* Where offsets are counted from. */
};
_Static_assert(sizeof(struct ew_thread_region) == 32, "thread_region");
_Static_assert(offsetof(struct ew_thread_region, lo) == 0, "thread_region.lo");
_Static_assert(offsetof(struct ew_thread_region, hi) == 8, "thread_region.hi");
_Static_assert(offsetof(struct ew_thread_region, event) == 16, "thread_region.event");
_Static_assert(offsetof(struct ew_thread_region, thread) == 20, "thread_region.thread");
_Static_assert(offsetof(struct ew_thread_region, origin) == 24, "thread_region.origin");

/* Memory that came to be, or was given back: what is there later is another object. */
struct ew_thread_memory {
  uint64_t address; /* First. */
  uint64_t size; /* That were asked for. [bytes] */
  uint32_t event; /* From which event on; of what was given back, after which. */
  uint32_t site; /* Call site of who did it. */
  uint32_t thread; /* Who. */
  uint32_t what; /* 1: allocated; 2: freed; 3: mapped; 4: thread-local storage of a new thread. */
};
_Static_assert(sizeof(struct ew_thread_memory) == 32, "thread_memory");
_Static_assert(offsetof(struct ew_thread_memory, address) == 0, "thread_memory.address");
_Static_assert(offsetof(struct ew_thread_memory, size) == 8, "thread_memory.size");
_Static_assert(offsetof(struct ew_thread_memory, event) == 16, "thread_memory.event");
_Static_assert(offsetof(struct ew_thread_memory, site) == 20, "thread_memory.site");
_Static_assert(offsetof(struct ew_thread_memory, thread) == 24, "thread_memory.thread");
_Static_assert(offsetof(struct ew_thread_memory, what) == 28, "thread_memory.what");

/* An operation on what lies on a stack, in the frame of a function that has not returned. */
struct ew_thread_local {
  uint32_t event; /* Number of the operation. */
  uint32_t site; /* Call site of the function's call. */
  uint64_t below; /* From there up to where the frame ends: the stack pointer before the call. [bytes] */
};
_Static_assert(sizeof(struct ew_thread_local) == 16, "thread_local");
_Static_assert(offsetof(struct ew_thread_local, event) == 0, "thread_local.event");
_Static_assert(offsetof(struct ew_thread_local, site) == 4, "thread_local.site");
_Static_assert(offsetof(struct ew_thread_local, below) == 8, "thread_local.below");

/* Eight bytes of memory that were changed, whoever did it. */
struct ew_thread_change {
  uint64_t address; /* Of the first, a multiple of 8; 0: the last record, which says that all were told. */
  uint64_t before; /* As they were. */
  uint64_t after; /* As they are at the end. */
};
_Static_assert(sizeof(struct ew_thread_change) == 24, "thread_change");
_Static_assert(offsetof(struct ew_thread_change, address) == 0, "thread_change.address");
_Static_assert(offsetof(struct ew_thread_change, before) == 8, "thread_change.before");
_Static_assert(offsetof(struct ew_thread_change, after) == 16, "thread_change.after");

/* A block of the heap before anybody has written to it. */
struct ew_thread_stale {
  uint64_t address; /* Of the block. */
  uint64_t known; /* From its begin on that are told, those of the tail and zeros behind them. [bytes] */
  uint64_t moved; /* The block that it was made of; 0: none. */
  uint64_t kept; /* That it has from there: they are told with that one. [bytes] */
  uint32_t event; /* As the block has it. */
  uint32_t length; /* Of what follows. [bytes] */
};
_Static_assert(sizeof(struct ew_thread_stale) == 40, "thread_stale");
_Static_assert(offsetof(struct ew_thread_stale, address) == 0, "thread_stale.address");
_Static_assert(offsetof(struct ew_thread_stale, known) == 8, "thread_stale.known");
_Static_assert(offsetof(struct ew_thread_stale, moved) == 16, "thread_stale.moved");
_Static_assert(offsetof(struct ew_thread_stale, kept) == 24, "thread_stale.kept");
_Static_assert(offsetof(struct ew_thread_stale, event) == 32, "thread_stale.event");
_Static_assert(offsetof(struct ew_thread_stale, length) == 36, "thread_stale.length");

/* What a thread holds at an event, taken within the runtime; unwinding leads from there to the program's frames. The stack follows. */
struct ew_thread_registers {
  uint64_t pc; /* Where in the code. */
  uint64_t stack; /* Address of the first byte that follows: the stack pointer. */
  uint64_t r15; /* As it is there. */
  uint64_t r14; /* As it is there. */
  uint64_t r13; /* As it is there. */
  uint64_t r12; /* As it is there. */
  uint64_t rbx; /* As it is there. */
  uint64_t rbp; /* As it is there. */
  uint64_t result; /* At the end of a thread what it returns; else 0. */
  uint32_t event; /* At which they were taken. */
  uint32_t length; /* Of the stack that follow: up to its end, or 65,536. [bytes] */
};
_Static_assert(sizeof(struct ew_thread_registers) == 80, "thread_registers");
_Static_assert(offsetof(struct ew_thread_registers, pc) == 0, "thread_registers.pc");
_Static_assert(offsetof(struct ew_thread_registers, stack) == 8, "thread_registers.stack");
_Static_assert(offsetof(struct ew_thread_registers, r15) == 16, "thread_registers.r15");
_Static_assert(offsetof(struct ew_thread_registers, r14) == 24, "thread_registers.r14");
_Static_assert(offsetof(struct ew_thread_registers, r13) == 32, "thread_registers.r13");
_Static_assert(offsetof(struct ew_thread_registers, r12) == 40, "thread_registers.r12");
_Static_assert(offsetof(struct ew_thread_registers, rbx) == 48, "thread_registers.rbx");
_Static_assert(offsetof(struct ew_thread_registers, rbp) == 56, "thread_registers.rbp");
_Static_assert(offsetof(struct ew_thread_registers, result) == 64, "thread_registers.result");
_Static_assert(offsetof(struct ew_thread_registers, event) == 72, "thread_registers.event");
_Static_assert(offsetof(struct ew_thread_registers, length) == 76, "thread_registers.length");

/* What of the run was asked for: the trace has nothing else. */
struct ew_thread_asked {
  uint32_t depth; /* 0: synchronisation and lives of threads; 1: plain accesses too; 2: values too. */
  uint32_t frames; /* Callers that are told of each operation, the nearest ones. */
  uint64_t from; /* First step. What starts and ends threads is told at any step. */
  uint64_t until; /* Step after the last. */
  uint64_t low; /* First address whose plain accesses are told. */
  uint64_t high; /* Address after the last. */
};
_Static_assert(sizeof(struct ew_thread_asked) == 40, "thread_asked");
_Static_assert(offsetof(struct ew_thread_asked, depth) == 0, "thread_asked.depth");
_Static_assert(offsetof(struct ew_thread_asked, frames) == 4, "thread_asked.frames");
_Static_assert(offsetof(struct ew_thread_asked, from) == 8, "thread_asked.from");
_Static_assert(offsetof(struct ew_thread_asked, until) == 16, "thread_asked.until");
_Static_assert(offsetof(struct ew_thread_asked, low) == 24, "thread_asked.low");
_Static_assert(offsetof(struct ew_thread_asked, high) == 32, "thread_asked.high");

/* One loaded ELF file; its path follows. */
struct ew_thread_module {
  uint64_t base; /* What is added to the file's addresses. */
  uint64_t lo; /* First address in memory. */
  uint64_t hi; /* Address after the last. */
  uint32_t reserved; /* 0. */
  uint32_t length; /* Length of the path. [bytes] */
};
_Static_assert(sizeof(struct ew_thread_module) == 32, "thread_module");
_Static_assert(offsetof(struct ew_thread_module, base) == 0, "thread_module.base");
_Static_assert(offsetof(struct ew_thread_module, lo) == 8, "thread_module.lo");
_Static_assert(offsetof(struct ew_thread_module, hi) == 16, "thread_module.hi");
_Static_assert(offsetof(struct ew_thread_module, reserved) == 24, "thread_module.reserved");
_Static_assert(offsetof(struct ew_thread_module, length) == 28, "thread_module.length");

/* One system call of a thread of a process. */
struct ew_process_call {
  uint64_t a0; /* First argument. */
  uint64_t a1; /* Second. */
  uint64_t a2; /* Third. */
  uint64_t a3; /* Fourth. */
  uint64_t a4; /* Fifth. */
  uint64_t a5; /* Sixth. */
  uint64_t result; /* As the kernel gives it: -errno, as a signed number. */
  uint64_t position; /* Of the open file before the call; of several messages of a socket, how many bytes they had; all ones when there is none. [bytes] */
  uint64_t entered; /* When it was let through; the tracer counts what happens, and the recorder how far its ring was written. */
  uint64_t left; /* When it was over. */
  uint32_t thread; /* Who, by its number inside the sandbox. */
  uint32_t index; /* Which of the thread's calls, from 0. */
  uint32_t number; /* The system call's, on x86-64. */
  uint32_t object; /* Object of the descriptor that it was given. */
  uint32_t second; /* Object of the second descriptor, or of the one that it returned. */
  uint32_t flags; /* 1: it never returned. 2: others went on while it waited. 4: the file is open for appending. 8: how it ended was not looked at: it could but work. 16: it only gives: others can go on by it from its begin. */
  uint64_t value; /* Of a path, the text; of descriptors in memory, both; of a lock, what is asked for, and 65536 when its bytes stand in a3 (the first) and a4 (behind the last); of a poll, the text of what was asked for and found (struct pollfd, of epoll struct epoll_event); of semaphores, the text of what is done (struct sembuf); of a message, its type. */
};
_Static_assert(sizeof(struct ew_process_call) == 112, "process_call");
_Static_assert(offsetof(struct ew_process_call, a0) == 0, "process_call.a0");
_Static_assert(offsetof(struct ew_process_call, a1) == 8, "process_call.a1");
_Static_assert(offsetof(struct ew_process_call, a2) == 16, "process_call.a2");
_Static_assert(offsetof(struct ew_process_call, a3) == 24, "process_call.a3");
_Static_assert(offsetof(struct ew_process_call, a4) == 32, "process_call.a4");
_Static_assert(offsetof(struct ew_process_call, a5) == 40, "process_call.a5");
_Static_assert(offsetof(struct ew_process_call, result) == 48, "process_call.result");
_Static_assert(offsetof(struct ew_process_call, position) == 56, "process_call.position");
_Static_assert(offsetof(struct ew_process_call, entered) == 64, "process_call.entered");
_Static_assert(offsetof(struct ew_process_call, left) == 72, "process_call.left");
_Static_assert(offsetof(struct ew_process_call, thread) == 80, "process_call.thread");
_Static_assert(offsetof(struct ew_process_call, index) == 84, "process_call.index");
_Static_assert(offsetof(struct ew_process_call, number) == 88, "process_call.number");
_Static_assert(offsetof(struct ew_process_call, object) == 92, "process_call.object");
_Static_assert(offsetof(struct ew_process_call, second) == 96, "process_call.second");
_Static_assert(offsetof(struct ew_process_call, flags) == 100, "process_call.flags");
_Static_assert(offsetof(struct ew_process_call, value) == 104, "process_call.value");

/* What a descriptor or a name leads to. */
struct ew_process_object {
  uint64_t device; /* Of the file system. */
  uint64_t inode; /* On it; given again when the file is gone. */
  uint32_t mode; /* Type and permissions when it was first seen. */
  uint32_t links; /* Names that it then had. */
};
_Static_assert(sizeof(struct ew_process_object) == 24, "process_object");
_Static_assert(offsetof(struct ew_process_object, device) == 0, "process_object.device");
_Static_assert(offsetof(struct ew_process_object, inode) == 8, "process_object.inode");
_Static_assert(offsetof(struct ew_process_object, mode) == 16, "process_object.mode");
_Static_assert(offsetof(struct ew_process_object, links) == 20, "process_object.links");

/* A name in a directory, as the call was about to find it. */
struct ew_process_lookup {
  uint32_t call; /* Number of the call, by its record. */
  uint32_t directory; /* Object. */
  uint32_t name; /* Text. */
  uint32_t found; /* Object; 0 when there is no such entry. */
  uint32_t path; /* 0: the call's first path; 1: its second. */
  uint32_t flags; /* 1: the last part of the path. 2: the directory is the root. */
};
_Static_assert(sizeof(struct ew_process_lookup) == 24, "process_lookup");
_Static_assert(offsetof(struct ew_process_lookup, call) == 0, "process_lookup.call");
_Static_assert(offsetof(struct ew_process_lookup, directory) == 4, "process_lookup.directory");
_Static_assert(offsetof(struct ew_process_lookup, name) == 8, "process_lookup.name");
_Static_assert(offsetof(struct ew_process_lookup, found) == 12, "process_lookup.found");
_Static_assert(offsetof(struct ew_process_lookup, path) == 16, "process_lookup.path");
_Static_assert(offsetof(struct ew_process_lookup, flags) == 20, "process_lookup.flags");

/* The bytes follow. */
struct ew_process_text {
  uint32_t length; /* Length of the text. [bytes] */
};
_Static_assert(sizeof(struct ew_process_text) == 4, "process_text");
_Static_assert(offsetof(struct ew_process_text, length) == 0, "process_text.length");

/* Something that happened to a process beside its calls. */
struct ew_process_event {
  uint64_t when; /* As calls have it. */
  uint64_t value; /* Of a fork its flags, of an end the wait status. */
  uint32_t thread; /* Whom it happened to. */
  uint32_t index; /* How many calls the thread had made. */
  uint32_t kind; /* 1: made a process or thread; 2: runs another program; 3: ended; 4: got a signal. */
  uint32_t other; /* The new thread; the program (object); the signal. */
  uint32_t text; /* Command line, words ended by NUL; of another program. */
  uint32_t process; /* The process that the thread, or the new thread, belongs to. */
};
_Static_assert(sizeof(struct ew_process_event) == 40, "process_event");
_Static_assert(offsetof(struct ew_process_event, when) == 0, "process_event.when");
_Static_assert(offsetof(struct ew_process_event, value) == 8, "process_event.value");
_Static_assert(offsetof(struct ew_process_event, thread) == 16, "process_event.thread");
_Static_assert(offsetof(struct ew_process_event, index) == 20, "process_event.index");
_Static_assert(offsetof(struct ew_process_event, kind) == 24, "process_event.kind");
_Static_assert(offsetof(struct ew_process_event, other) == 28, "process_event.other");
_Static_assert(offsetof(struct ew_process_event, text) == 32, "process_event.text");
_Static_assert(offsetof(struct ew_process_event, process) == 36, "process_event.process");

/* The bytes follow. */
struct ew_process_data {
  uint32_t call; /* Number of the call, by its record; for the tracer, of the turn. */
  uint32_t kind; /* 1: came from outside; 2: standard output; 3: standard error. */
  uint32_t reserved; /* 0. */
  uint32_t length; /* How many. [bytes] */
};
_Static_assert(sizeof(struct ew_process_data) == 16, "process_data");
_Static_assert(offsetof(struct ew_process_data, call) == 0, "process_data.call");
_Static_assert(offsetof(struct ew_process_data, kind) == 4, "process_data.kind");
_Static_assert(offsetof(struct ew_process_data, reserved) == 8, "process_data.reserved");
_Static_assert(offsetof(struct ew_process_data, length) == 12, "process_data.length");

/* One call that is to come next. */
struct ew_process_turn {
  uint64_t result; /* What it then returned. */
  uint32_t thread; /* Whose. */
  uint32_t index; /* Which of the thread's calls. */
  uint32_t number; /* The system call's. */
  uint32_t flags; /* 2: an anchor. 4: a wait for any child, which is to be for `child`. */
  uint32_t name; /* Hash of the last part of its first path and of how it is opened; 0 when it has none. */
  uint32_t child; /* The process that it made, or is to wait for. */
  uint32_t occurrence; /* How many like it the thread made before: of that number, with that name. */
  uint32_t reserved; /* 0. */
};
_Static_assert(sizeof(struct ew_process_turn) == 40, "process_turn");
_Static_assert(offsetof(struct ew_process_turn, result) == 0, "process_turn.result");
_Static_assert(offsetof(struct ew_process_turn, thread) == 8, "process_turn.thread");
_Static_assert(offsetof(struct ew_process_turn, index) == 12, "process_turn.index");
_Static_assert(offsetof(struct ew_process_turn, number) == 16, "process_turn.number");
_Static_assert(offsetof(struct ew_process_turn, flags) == 20, "process_turn.flags");
_Static_assert(offsetof(struct ew_process_turn, name) == 24, "process_turn.name");
_Static_assert(offsetof(struct ew_process_turn, child) == 28, "process_turn.child");
_Static_assert(offsetof(struct ew_process_turn, occurrence) == 32, "process_turn.occurrence");
_Static_assert(offsetof(struct ew_process_turn, reserved) == 36, "process_turn.reserved");

/* The name's bytes follow: UTF-8 where it is text, any bytes where it is a file name. */
struct ew_string {
  uint32_t length; /* Length of the name; it fits in its block. [bytes] */
};
_Static_assert(sizeof(struct ew_string) == 4, "string");
_Static_assert(offsetof(struct ew_string, length) == 0, "string.length");

/* One actor. */
struct ew_actor {
  uint32_t name; /* String. */
  uint32_t parent; /* Actor; its own number when it has none. */
  uint32_t started_by; /* Operation that created it, or 0xffffffff. */
  uint32_t reserved; /* 0. */
  uint64_t native_id; /* What the system calls it: tid, pid, CPU. */
};
_Static_assert(sizeof(struct ew_actor) == 24, "actor");
_Static_assert(offsetof(struct ew_actor, name) == 0, "actor.name");
_Static_assert(offsetof(struct ew_actor, parent) == 4, "actor.parent");
_Static_assert(offsetof(struct ew_actor, started_by) == 8, "actor.started_by");
_Static_assert(offsetof(struct ew_actor, reserved) == 12, "actor.reserved");
_Static_assert(offsetof(struct ew_actor, native_id) == 16, "actor.native_id");

/* One object. */
struct ew_object {
  uint32_t kind; /* String: mutex, heap block, inode. */
  uint32_t name; /* String. */
  uint32_t stack; /* Stack: where it was allocated. */
};
_Static_assert(sizeof(struct ew_object) == 12, "object");
_Static_assert(offsetof(struct ew_object, kind) == 0, "object.kind");
_Static_assert(offsetof(struct ew_object, name) == 4, "object.name");
_Static_assert(offsetof(struct ew_object, stack) == 8, "object.stack");

/* The part [lo, hi) of an object. */
struct ew_range {
  uint32_t object; /* Object. */
  uint32_t reserved; /* 0. */
  uint64_t lo; /* First unit, counted from the object's begin. [bytes or entries] */
  uint64_t hi; /* Unit after the last; lo < hi. [bytes or entries] */
};
_Static_assert(sizeof(struct ew_range) == 24, "range");
_Static_assert(offsetof(struct ew_range, object) == 0, "range.object");
_Static_assert(offsetof(struct ew_range, reserved) == 4, "range.reserved");
_Static_assert(offsetof(struct ew_range, lo) == 8, "range.lo");
_Static_assert(offsetof(struct ew_range, hi) == 16, "range.hi");

/* A source line where known, else a module and an offset. */
struct ew_place {
  uint32_t function; /* String. */
  uint32_t file; /* String. */
  uint32_t line; /* From 1; 0 when not known. */
  uint32_t column; /* From 1; 0 when not known. */
  uint32_t module; /* String: the ELF file. */
  uint32_t reserved; /* 0. */
  uint64_t offset; /* Into the module as it lies on disk. [bytes] */
};
_Static_assert(sizeof(struct ew_place) == 32, "place");
_Static_assert(offsetof(struct ew_place, function) == 0, "place.function");
_Static_assert(offsetof(struct ew_place, file) == 4, "place.file");
_Static_assert(offsetof(struct ew_place, line) == 8, "place.line");
_Static_assert(offsetof(struct ew_place, column) == 12, "place.column");
_Static_assert(offsetof(struct ew_place, module) == 16, "place.module");
_Static_assert(offsetof(struct ew_place, reserved) == 20, "place.reserved");
_Static_assert(offsetof(struct ew_place, offset) == 24, "place.offset");

/* One frame and the stack it was called from. */
struct ew_stack {
  uint32_t caller; /* Stack, with a smaller number than this one. */
  uint32_t place; /* Place. */
};
_Static_assert(sizeof(struct ew_stack) == 8, "stack");
_Static_assert(offsetof(struct ew_stack, caller) == 0, "stack.caller");
_Static_assert(offsetof(struct ew_stack, place) == 4, "stack.place");

/* One access or call. */
struct ew_operation {
  uint32_t actor; /* Actor. */
  uint32_t range; /* Range. */
  uint32_t stack; /* Stack. */
  uint8_t kind; /* OpKind; an unknown one is refused. */
  uint8_t flags; /* OpFlag bits. */
  uint16_t reserved; /* 0. */
};
_Static_assert(sizeof(struct ew_operation) == 16, "operation");
_Static_assert(offsetof(struct ew_operation, actor) == 0, "operation.actor");
_Static_assert(offsetof(struct ew_operation, range) == 4, "operation.range");
_Static_assert(offsetof(struct ew_operation, stack) == 8, "operation.stack");
_Static_assert(offsetof(struct ew_operation, kind) == 12, "operation.kind");
_Static_assert(offsetof(struct ew_operation, flags) == 13, "operation.flags");
_Static_assert(offsetof(struct ew_operation, reserved) == 14, "operation.reserved");

/* The value that the operation of the same number read or wrote. */
struct ew_value {
  uint64_t value; /* 0 when the operation has none. */
};
_Static_assert(sizeof(struct ew_value) == 8, "value");
_Static_assert(offsetof(struct ew_value, value) == 0, "value.value");

/* `source` happened before `target`. */
struct ew_edge {
  uint32_t source; /* Operation. */
  uint32_t target; /* Operation, with a greater number than source. */
  uint8_t kind; /* EdgeKind; an unknown one is refused. */
  uint8_t reserved; /* 0. */
  uint16_t reserved2; /* 0. */
};
_Static_assert(sizeof(struct ew_edge) == 12, "edge");
_Static_assert(offsetof(struct ew_edge, source) == 0, "edge.source");
_Static_assert(offsetof(struct ew_edge, target) == 4, "edge.target");
_Static_assert(offsetof(struct ew_edge, kind) == 8, "edge.kind");
_Static_assert(offsetof(struct ew_edge, reserved) == 9, "edge.reserved");
_Static_assert(offsetof(struct ew_edge, reserved2) == 10, "edge.reserved2");

/* One decision. */
struct ew_choice {
  uint32_t choice; /* Which of the ways open at that point; its meaning is the world's. */
};
_Static_assert(sizeof(struct ew_choice) == 4, "choice");
_Static_assert(offsetof(struct ew_choice, choice) == 0, "choice.choice");

/* The bytes that came from outside follow. Long input goes on in the next record. */
struct ew_input {
  uint32_t kind; /* What sort of input; the numbers are the world's, 0 is never used. */
  uint32_t actor; /* Actor that received it. */
  uint32_t more; /* 1: the next record continues this one; else 0. */
  uint32_t length; /* Length of this part; it fits in its block. [bytes] */
};
_Static_assert(sizeof(struct ew_input) == 16, "input");
_Static_assert(offsetof(struct ew_input, kind) == 0, "input.kind");
_Static_assert(offsetof(struct ew_input, actor) == 4, "input.actor");
_Static_assert(offsetof(struct ew_input, more) == 8, "input.more");
_Static_assert(offsetof(struct ew_input, length) == 12, "input.length");

/* The value's bytes follow. */
struct ew_metadata {
  uint32_t key; /* String. A key stands once. */
  uint32_t length; /* Length of the value; it fits in its block. [bytes] */
};
_Static_assert(sizeof(struct ew_metadata) == 8, "metadata");
_Static_assert(offsetof(struct ew_metadata, key) == 0, "metadata.key");
_Static_assert(offsetof(struct ew_metadata, length) == 4, "metadata.length");

/* How many there are. */
struct ew_family_head {
  uint64_t room; /* Slots; set by the other end. */
  uint64_t used; /* Slots that were asked for; more than there are, when some were refused. */
  uint64_t switches; /* Entries of a schedule that fit into an area. */
  uint64_t inputs; /* Of items that fit into an area. [bytes] */
  uint64_t found_room; /* Rows of what is found; set by the other end. */
  uint64_t found; /* Rows that were asked for; more than there are, when some were left out. */
  uint64_t found_again; /* How often something was found that this run had told already. */
  uint64_t forgotten; /* How often a process forgot the past, for want of numbers: races across that are missed. */
  uint64_t turns; /* How often something came off that processes do to objects of several: who has the next number comes next in a replay. */
  uint64_t turning; /* The process that is about to take a turn; 0: none. */
  uint64_t alone; /* Not 0: nobody outside has anything more to say, so that time need not really pass; set by the other end. */
};
_Static_assert(sizeof(struct ew_family_head) == 88, "family_head");
_Static_assert(offsetof(struct ew_family_head, room) == 0, "family_head.room");
_Static_assert(offsetof(struct ew_family_head, used) == 8, "family_head.used");
_Static_assert(offsetof(struct ew_family_head, switches) == 16, "family_head.switches");
_Static_assert(offsetof(struct ew_family_head, inputs) == 24, "family_head.inputs");
_Static_assert(offsetof(struct ew_family_head, found_room) == 32, "family_head.found_room");
_Static_assert(offsetof(struct ew_family_head, found) == 40, "family_head.found");
_Static_assert(offsetof(struct ew_family_head, found_again) == 48, "family_head.found_again");
_Static_assert(offsetof(struct ew_family_head, forgotten) == 56, "family_head.forgotten");
_Static_assert(offsetof(struct ew_family_head, turns) == 64, "family_head.turns");
_Static_assert(offsetof(struct ew_family_head, turning) == 72, "family_head.turning");
_Static_assert(offsetof(struct ew_family_head, alone) == 80, "family_head.alone");

/* An access that conflicts with an earlier one, when nothing orders them. Of one run, each pair of places once. The rows of a survey are those of all its runs. */
struct ew_found_row {
  uint64_t seed; /* Of the run. */
  uint64_t step; /* Of the later access. */
  uint64_t address; /* Where it begins. */
  uint64_t pc; /* Return address of its call of the runtime. */
  uint64_t module; /* Address at which the program lies. */
  uint32_t past_segment; /* Of the earlier access: what its thread did between two releases. */
  uint32_t size; /* Of the later access. [bytes] */
  uint32_t thread; /* Of the later access. */
  uint32_t past_thread; /* Of the earlier one. */
  uint32_t slot; /* Which process. */
  uint8_t kind; /* 1: race; 2: memory that was given back earlier, in order; 3: no thread can go on, and there is no access; 4: a block is given back a second time; 5: what is given back never was a block. */
  uint8_t op; /* OpKind of the later access. */
  uint8_t past_op; /* OpKind of the earlier one: LOAD or STORE. */
  uint8_t reserved; /* 0. */
};
_Static_assert(sizeof(struct ew_found_row) == 64, "found_row");
_Static_assert(offsetof(struct ew_found_row, seed) == 0, "found_row.seed");
_Static_assert(offsetof(struct ew_found_row, step) == 8, "found_row.step");
_Static_assert(offsetof(struct ew_found_row, address) == 16, "found_row.address");
_Static_assert(offsetof(struct ew_found_row, pc) == 24, "found_row.pc");
_Static_assert(offsetof(struct ew_found_row, module) == 32, "found_row.module");
_Static_assert(offsetof(struct ew_found_row, past_segment) == 40, "found_row.past_segment");
_Static_assert(offsetof(struct ew_found_row, size) == 44, "found_row.size");
_Static_assert(offsetof(struct ew_found_row, thread) == 48, "found_row.thread");
_Static_assert(offsetof(struct ew_found_row, past_thread) == 52, "found_row.past_thread");
_Static_assert(offsetof(struct ew_found_row, slot) == 56, "found_row.slot");
_Static_assert(offsetof(struct ew_found_row, kind) == 60, "found_row.kind");
_Static_assert(offsetof(struct ew_found_row, op) == 61, "found_row.op");
_Static_assert(offsetof(struct ew_found_row, past_op) == 62, "found_row.past_op");
_Static_assert(offsetof(struct ew_found_row, reserved) == 63, "found_row.reserved");

/* One process, from its start or fork to its end or the next program that it becomes. */
struct ew_member {
  uint32_t parent; /* Slot of the process that made it, itself or over others that are not ours; 0xffffffff: none. */
  uint32_t ordinal; /* Which of that one's: counts what its parent forked, started and became. */
  uint32_t again; /* How many of the same parent, ordinal and identity came earlier: what is not ours may start several. */
  uint32_t pid; /* In its pid namespace. */
  uint32_t told; /* The number that the program knows it by: in a replay the recorded one. */
  uint32_t state; /* 0: not there; 1: began; 2: ended, as status says; 3: became another program; 4: never came to be. */
  uint32_t status; /* As wait4 tells it, once it has ended. */
  uint32_t follows; /* In a replay: slot of the recorded process that it does again. */
  uint64_t identity; /* Of what it was started with: a hash of its arguments; 0: it was forked. */
  uint32_t taken; /* In a replay: 1 when somebody follows the recorded process of this slot. */
  uint32_t waiting; /* 1 while it can do nothing until something comes from outside. */
};
_Static_assert(sizeof(struct ew_member) == 48, "member");
_Static_assert(offsetof(struct ew_member, parent) == 0, "member.parent");
_Static_assert(offsetof(struct ew_member, ordinal) == 4, "member.ordinal");
_Static_assert(offsetof(struct ew_member, again) == 8, "member.again");
_Static_assert(offsetof(struct ew_member, pid) == 12, "member.pid");
_Static_assert(offsetof(struct ew_member, told) == 16, "member.told");
_Static_assert(offsetof(struct ew_member, state) == 20, "member.state");
_Static_assert(offsetof(struct ew_member, status) == 24, "member.status");
_Static_assert(offsetof(struct ew_member, follows) == 28, "member.follows");
_Static_assert(offsetof(struct ew_member, identity) == 32, "member.identity");
_Static_assert(offsetof(struct ew_member, taken) == 40, "member.taken");
_Static_assert(offsetof(struct ew_member, waiting) == 44, "member.waiting");

/* How far the run has come. */
struct ew_schedule_head {
  uint64_t steps; /* Steps so far: one for each access and each decision point. */
  uint64_t hash; /* Of all switches so far. */
  uint64_t switches; /* Entries that follow; written after the entry. */
  uint64_t room; /* Entries that fit; set by the other end. */
  uint64_t diverged_at; /* Step at which a replay could not go on as recorded; 0 when it could. */
  uint64_t reached; /* Step of the last decision point, whether anything was decided there or not. */
  uint64_t waits; /* How often there was nothing to do but to wait for the outside. */
};
_Static_assert(sizeof(struct ew_schedule_head) == 56, "schedule_head");
_Static_assert(offsetof(struct ew_schedule_head, steps) == 0, "schedule_head.steps");
_Static_assert(offsetof(struct ew_schedule_head, hash) == 8, "schedule_head.hash");
_Static_assert(offsetof(struct ew_schedule_head, switches) == 16, "schedule_head.switches");
_Static_assert(offsetof(struct ew_schedule_head, room) == 24, "schedule_head.room");
_Static_assert(offsetof(struct ew_schedule_head, diverged_at) == 32, "schedule_head.diverged_at");
_Static_assert(offsetof(struct ew_schedule_head, reached) == 40, "schedule_head.reached");
_Static_assert(offsetof(struct ew_schedule_head, waits) == 48, "schedule_head.waits");

/* Something that was decided. */
struct ew_schedule_switch {
  uint64_t steps; /* When. */
  uint32_t choice; /* Thread that went on, or which of several waiters was woken. */
  uint32_t kind; /* 0: a thread; 1: a waiter; 2: a thread whose wait for the outside is over; 3: microseconds for which the outside was waited for; 4: a signal of this number that came; 5: something became due on the virtual clock, or, with choice 1, time passed until it was. */
};
_Static_assert(sizeof(struct ew_schedule_switch) == 16, "schedule_switch");
_Static_assert(offsetof(struct ew_schedule_switch, steps) == 0, "schedule_switch.steps");
_Static_assert(offsetof(struct ew_schedule_switch, choice) == 8, "schedule_switch.choice");
_Static_assert(offsetof(struct ew_schedule_switch, kind) == 12, "schedule_switch.kind");

/* How much came. */
struct ew_inputs_head {
  uint64_t size; /* Of the items that follow; written after an item. [bytes] */
  uint64_t room; /* That fit; set by the other end. [bytes] */
};
_Static_assert(sizeof(struct ew_inputs_head) == 16, "inputs_head");
_Static_assert(offsetof(struct ew_inputs_head, size) == 0, "inputs_head.size");
_Static_assert(offsetof(struct ew_inputs_head, room) == 8, "inputs_head.room");

/* One thing that came; its bytes follow, padded to a multiple of 8. */
struct ew_inputs_item {
  uint32_t kind; /* What it is, in the lower half: the numbers are those of the `input` block. In the upper half what was asked, if that is known: a hash, and bit 31 where the outside hears of it. Bit 28: of a file, a lock or a semaphore, which a run can ask itself. */
  uint32_t thread; /* Who received it; 0xFFFFFFFF: a signal from outside, which no thread has asked for. */
  uint64_t length; /* Without the padding. [bytes] */
};
_Static_assert(sizeof(struct ew_inputs_item) == 16, "inputs_item");
_Static_assert(offsetof(struct ew_inputs_item, kind) == 0, "inputs_item.kind");
_Static_assert(offsetof(struct ew_inputs_item, thread) == 4, "inputs_item.thread");
_Static_assert(offsetof(struct ew_inputs_item, length) == 8, "inputs_item.length");

/* How much of each there is. Rooms, and what is given, are set by the other end. */
struct ew_guide_head {
  uint32_t places_room; /* Places that fit, given and found each. */
  uint32_t places; /* Given: at these, every plain access is a decision point. */
  uint32_t threads_room; /* Threads that fit, expected and seen each. */
  uint32_t expected; /* Threads that are expected, by number. */
  uint32_t prefix_room; /* Choices that fit. */
  uint32_t prefix; /* Choices to begin with. */
  uint32_t noted_room; /* For decisions. [words of 4 bytes] */
  uint32_t limit; /* Decisions after which the run is cut off; 0: none are noted. */
  uint32_t noted; /* Of decisions. [words of 4 bytes] */
  uint32_t found; /* Places that were found; more than fit, when some were left out. */
  uint32_t seen; /* Threads that were seen; more than fit, when some were left out. */
  uint32_t end; /* Of a run whose choices are given: 1 when it was cut off, 2 when a choice could not be taken. Of a branch: 3 when it asked for what the recording does not have, 4 when it had many times as many steps as the recording. */
  uint64_t asked; /* Decision points at which more than one thread could go on, but for those at a plain access that only comes now and then. */
  uint64_t uncovered; /* Times that memory turned out to be shared which another thread had touched without a decision point before it. */
  uint32_t looks; /* Times that the program looked at a clock. */
  uint32_t pairs_room; /* Pairs of operations that fit: a power of two. */
  uint32_t pairs; /* Times that a pair was seen which had not been seen in that order. */
  uint32_t tired; /* Places that had been decision points so often that they were none any more. */
  uint32_t pair_end; /* Of a branch: 0: its two accesses were not reached; 1: the first was; 2: both came in the order that was asked for; the second thread: 3: cannot go on while the first is held; 4: ended without its access; 5: did not come to it; 6: may wait for what comes from outside only when the first has told it more. */
  uint32_t rests; /* Times that nobody could go on until something was due. */
};
_Static_assert(sizeof(struct ew_guide_head) == 88, "guide_head");
_Static_assert(offsetof(struct ew_guide_head, places_room) == 0, "guide_head.places_room");
_Static_assert(offsetof(struct ew_guide_head, places) == 4, "guide_head.places");
_Static_assert(offsetof(struct ew_guide_head, threads_room) == 8, "guide_head.threads_room");
_Static_assert(offsetof(struct ew_guide_head, expected) == 12, "guide_head.expected");
_Static_assert(offsetof(struct ew_guide_head, prefix_room) == 16, "guide_head.prefix_room");
_Static_assert(offsetof(struct ew_guide_head, prefix) == 20, "guide_head.prefix");
_Static_assert(offsetof(struct ew_guide_head, noted_room) == 24, "guide_head.noted_room");
_Static_assert(offsetof(struct ew_guide_head, limit) == 28, "guide_head.limit");
_Static_assert(offsetof(struct ew_guide_head, noted) == 32, "guide_head.noted");
_Static_assert(offsetof(struct ew_guide_head, found) == 36, "guide_head.found");
_Static_assert(offsetof(struct ew_guide_head, seen) == 40, "guide_head.seen");
_Static_assert(offsetof(struct ew_guide_head, end) == 44, "guide_head.end");
_Static_assert(offsetof(struct ew_guide_head, asked) == 48, "guide_head.asked");
_Static_assert(offsetof(struct ew_guide_head, uncovered) == 56, "guide_head.uncovered");
_Static_assert(offsetof(struct ew_guide_head, looks) == 64, "guide_head.looks");
_Static_assert(offsetof(struct ew_guide_head, pairs_room) == 68, "guide_head.pairs_room");
_Static_assert(offsetof(struct ew_guide_head, pairs) == 72, "guide_head.pairs");
_Static_assert(offsetof(struct ew_guide_head, tired) == 76, "guide_head.tired");
_Static_assert(offsetof(struct ew_guide_head, pair_end) == 80, "guide_head.pair_end");
_Static_assert(offsetof(struct ew_guide_head, rests) == 84, "guide_head.rests");

/* What a thread does at its decision points, who created it, and what it wrote. */
struct ew_guide_thread {
  uint32_t sync; /* Synchronisation operations and blocking calls. */
  uint32_t atomic; /* Atomic operations. */
  uint32_t place; /* Plain accesses to memory that is known to be shared. */
  uint32_t creator; /* Number of the thread that created it; its own when it is the first. */
  uint64_t out_size; /* Bytes that it wrote to standard output. */
  uint64_t out_hash; /* A chain over them: FNV-1a, 64 bits. */
  uint64_t err_size; /* Bytes that it wrote to standard error. */
  uint64_t err_hash; /* The same of those. */
};
_Static_assert(sizeof(struct ew_guide_thread) == 48, "guide_thread");
_Static_assert(offsetof(struct ew_guide_thread, sync) == 0, "guide_thread.sync");
_Static_assert(offsetof(struct ew_guide_thread, atomic) == 4, "guide_thread.atomic");
_Static_assert(offsetof(struct ew_guide_thread, place) == 8, "guide_thread.place");
_Static_assert(offsetof(struct ew_guide_thread, creator) == 12, "guide_thread.creator");
_Static_assert(offsetof(struct ew_guide_thread, out_size) == 16, "guide_thread.out_size");
_Static_assert(offsetof(struct ew_guide_thread, out_hash) == 24, "guide_thread.out_hash");
_Static_assert(offsetof(struct ew_guide_thread, err_size) == 32, "guide_thread.err_size");
_Static_assert(offsetof(struct ew_guide_thread, err_hash) == 40, "guide_thread.err_hash");

/* One decision; when it was about threads, the numbers of all that could go on follow (a u32 each). */
struct ew_guide_decision {
  uint8_t kind; /* As in schedule_switch: 0: a thread; 1: a waiter. */
  uint8_t free; /* 1: no choice takes the turn from anybody; 0: any but the usual one does. */
  uint8_t time; /* 1: time could pass until something is due. */
  uint8_t reserved; /* 0. */
  uint32_t count; /* Threads that could go on, or waiters. */
  uint32_t chosen; /* The thread, or which waiter; 0xffffffff: time passed, and it is decided again. */
  uint32_t usual; /* What is chosen when no choice is given. */
};
_Static_assert(sizeof(struct ew_guide_decision) == 16, "guide_decision");
_Static_assert(offsetof(struct ew_guide_decision, kind) == 0, "guide_decision.kind");
_Static_assert(offsetof(struct ew_guide_decision, free) == 1, "guide_decision.free");
_Static_assert(offsetof(struct ew_guide_decision, time) == 2, "guide_decision.time");
_Static_assert(offsetof(struct ew_guide_decision, reserved) == 3, "guide_decision.reserved");
_Static_assert(offsetof(struct ew_guide_decision, count) == 4, "guide_decision.count");
_Static_assert(offsetof(struct ew_guide_decision, chosen) == 8, "guide_decision.chosen");
_Static_assert(offsetof(struct ew_guide_decision, usual) == 12, "guide_decision.usual");

/* The envelope of every control message; the payload follows at once. */
struct ew_control_header {
  uint32_t magic; /* The bytes "EWCP". */
  uint16_t version; /* Of the protocol. */
  uint16_t type; /* Message number. */
  uint32_t sequence; /* Counts the sender's messages from 0; an answer does not repeat the question's. */
  uint32_t length; /* Length of the payload, at most the limit. [bytes] */
};
_Static_assert(sizeof(struct ew_control_header) == 16, "control_header");
_Static_assert(offsetof(struct ew_control_header, magic) == 0, "control_header.magic");
_Static_assert(offsetof(struct ew_control_header, version) == 4, "control_header.version");
_Static_assert(offsetof(struct ew_control_header, type) == 6, "control_header.type");
_Static_assert(offsetof(struct ew_control_header, sequence) == 8, "control_header.sequence");
_Static_assert(offsetof(struct ew_control_header, length) == 12, "control_header.length");

/* How much to run; the options follow. */
struct ew_control_survey {
  uint64_t first; /* Seed of the first run; the others follow one by one. */
  uint32_t count; /* How many runs; that many rows have room. */
  uint32_t descriptors; /* How many came with the message: 5. */
  uint32_t reserved; /* 0. */
  uint32_t length; /* Length of the options. [bytes] */
};
_Static_assert(sizeof(struct ew_control_survey) == 24, "control_survey");
_Static_assert(offsetof(struct ew_control_survey, first) == 0, "control_survey.first");
_Static_assert(offsetof(struct ew_control_survey, count) == 8, "control_survey.count");
_Static_assert(offsetof(struct ew_control_survey, descriptors) == 12, "control_survey.descriptors");
_Static_assert(offsetof(struct ew_control_survey, reserved) == 16, "control_survey.reserved");
_Static_assert(offsetof(struct ew_control_survey, length) == 20, "control_survey.length");

/* How far a survey has come; the rows follow. */
struct ew_survey_head {
  uint64_t done; /* Rows that are there; written after the row. */
  uint64_t pid; /* Of the run under way, in the runtime's pid namespace. */
};
_Static_assert(sizeof(struct ew_survey_head) == 16, "survey_head");
_Static_assert(offsetof(struct ew_survey_head, done) == 0, "survey_head.done");
_Static_assert(offsetof(struct ew_survey_head, pid) == 8, "survey_head.pid");

/* One run. A run of the same seed is the same run, so whoever wants to know more asks for it. */
struct ew_survey_row {
  uint64_t seed; /* Which. */
  uint64_t steps; /* How long it was. */
  uint64_t schedule; /* Hash of its schedule. */
  uint64_t out_size; /* Of standard output. [bytes] */
  uint64_t out_hash; /* CRC-32. */
  uint64_t err_size; /* Of standard error. [bytes] */
  uint64_t err_hash; /* Likewise. */
  uint32_t status; /* As wait4 tells it. */
  uint32_t stopped; /* 0; 1 is written by the other end when it had to end the run. */
};
_Static_assert(sizeof(struct ew_survey_row) == 64, "survey_row");
_Static_assert(offsetof(struct ew_survey_row, seed) == 0, "survey_row.seed");
_Static_assert(offsetof(struct ew_survey_row, steps) == 8, "survey_row.steps");
_Static_assert(offsetof(struct ew_survey_row, schedule) == 16, "survey_row.schedule");
_Static_assert(offsetof(struct ew_survey_row, out_size) == 24, "survey_row.out_size");
_Static_assert(offsetof(struct ew_survey_row, out_hash) == 32, "survey_row.out_hash");
_Static_assert(offsetof(struct ew_survey_row, err_size) == 40, "survey_row.err_size");
_Static_assert(offsetof(struct ew_survey_row, err_hash) == 48, "survey_row.err_hash");
_Static_assert(offsetof(struct ew_survey_row, status) == 56, "survey_row.status");
_Static_assert(offsetof(struct ew_survey_row, stopped) == 60, "survey_row.stopped");

/* What to run; the options follow. */
struct ew_control_run {
  uint32_t descriptors; /* How many came with the message: 4 to 6, or none. */
  uint32_t length; /* Length of the options. [bytes] */
};
_Static_assert(sizeof(struct ew_control_run) == 8, "control_run");
_Static_assert(offsetof(struct ew_control_run, descriptors) == 0, "control_run.descriptors");
_Static_assert(offsetof(struct ew_control_run, length) == 4, "control_run.length");

/* Which process it is. */
struct ew_control_started {
  uint32_t pid; /* In the runtime's pid namespace. */
  uint32_t reserved; /* 0. */
};
_Static_assert(sizeof(struct ew_control_started) == 8, "control_started");
_Static_assert(offsetof(struct ew_control_started, pid) == 0, "control_started.pid");
_Static_assert(offsetof(struct ew_control_started, reserved) == 4, "control_started.reserved");

/* How it ended. */
struct ew_control_ended {
  uint32_t pid; /* As in `started`. */
  uint32_t status; /* As wait4 tells it. */
  uint64_t user; /* CPU time in the program. [microseconds] */
  uint64_t system; /* CPU time in the kernel. [microseconds] */
  uint64_t memory; /* Most memory it had at a time. [KiB] */
};
_Static_assert(sizeof(struct ew_control_ended) == 32, "control_ended");
_Static_assert(offsetof(struct ew_control_ended, pid) == 0, "control_ended.pid");
_Static_assert(offsetof(struct ew_control_ended, status) == 4, "control_ended.status");
_Static_assert(offsetof(struct ew_control_ended, user) == 8, "control_ended.user");
_Static_assert(offsetof(struct ew_control_ended, system) == 16, "control_ended.system");
_Static_assert(offsetof(struct ew_control_ended, memory) == 24, "control_ended.memory");

/* Who speaks. */
struct ew_control_hello {
  uint32_t pid; /* Process id in the sender's pid namespace. */
  uint32_t world; /* 1 threads, 2 processes, 3 kernel. */
  uint64_t features; /* Bits that the worlds define; 0 so far. Unknown bits are not used. */
};
_Static_assert(sizeof(struct ew_control_hello) == 16, "control_hello");
_Static_assert(offsetof(struct ew_control_hello, pid) == 0, "control_hello.pid");
_Static_assert(offsetof(struct ew_control_hello, world) == 4, "control_hello.world");
_Static_assert(offsetof(struct ew_control_hello, features) == 8, "control_hello.features");

/* Why; the text follows. */
struct ew_control_error {
  uint32_t code; /* Exit code that fits: 64, 65, 69 or 70. */
  uint32_t length; /* Length of the text. [bytes] */
};
_Static_assert(sizeof(struct ew_control_error) == 8, "control_error");
_Static_assert(offsetof(struct ew_control_error, code) == 0, "control_error.code");
_Static_assert(offsetof(struct ew_control_error, length) == 4, "control_error.length");

/* Bytes of one record without its tail; 0 for a number that is no block type. */
static inline uint32_t ew_record_size(uint32_t type) {
  switch (type) {
  case EW_BLOCK_STRINGS: return 4;
  case EW_BLOCK_ACTORS: return 24;
  case EW_BLOCK_OBJECTS: return 12;
  case EW_BLOCK_RANGES: return 24;
  case EW_BLOCK_PLACES: return 32;
  case EW_BLOCK_STACKS: return 8;
  case EW_BLOCK_OPERATIONS: return 16;
  case EW_BLOCK_VALUES: return 8;
  case EW_BLOCK_EDGES: return 12;
  case EW_BLOCK_CHOICES: return 4;
  case EW_BLOCK_INPUT: return 16;
  case EW_BLOCK_METADATA: return 8;
  case EW_BLOCK_THREAD_EVENTS: return 40;
  case EW_BLOCK_THREAD_FRAMES: return 16;
  case EW_BLOCK_THREAD_MODULES: return 32;
  case EW_BLOCK_THREAD_VALUES: return 8;
  case EW_BLOCK_THREAD_REGIONS: return 32;
  case EW_BLOCK_THREAD_CORRECTIONS: return 16;
  case EW_BLOCK_THREAD_MEMORY: return 32;
  case EW_BLOCK_THREAD_LOCALS: return 16;
  case EW_BLOCK_THREAD_NAMES: return 8;
  case EW_BLOCK_THREAD_CHANGES: return 24;
  case EW_BLOCK_THREAD_STALE: return 40;
  case EW_BLOCK_THREAD_REGISTERS: return 80;
  case EW_BLOCK_THREAD_ASKED: return 40;
  case EW_BLOCK_PROCESS_CALLS: return 112;
  case EW_BLOCK_PROCESS_OBJECTS: return 24;
  case EW_BLOCK_PROCESS_LOOKUPS: return 24;
  case EW_BLOCK_PROCESS_TEXTS: return 4;
  case EW_BLOCK_PROCESS_EVENTS: return 40;
  case EW_BLOCK_PROCESS_DATA: return 16;
  case EW_BLOCK_PROCESS_TURNS: return 40;
  default: return 0;
  }
}

/* Whether each record is followed by as many bytes as its last field says. */
static inline int ew_record_has_tail(uint32_t type) {
  return type == EW_BLOCK_STRINGS || type == EW_BLOCK_INPUT || type == EW_BLOCK_METADATA || type == EW_BLOCK_THREAD_MODULES || type == EW_BLOCK_THREAD_NAMES || type == EW_BLOCK_THREAD_STALE || type == EW_BLOCK_THREAD_REGISTERS || type == EW_BLOCK_PROCESS_TEXTS || type == EW_BLOCK_PROCESS_DATA;
}

/* The name of a block type in the manifest. */
static inline const char *ew_block_name(uint32_t type) {
  switch (type) {
  case EW_BLOCK_STRINGS: return "strings";
  case EW_BLOCK_ACTORS: return "actors";
  case EW_BLOCK_OBJECTS: return "objects";
  case EW_BLOCK_RANGES: return "ranges";
  case EW_BLOCK_PLACES: return "places";
  case EW_BLOCK_STACKS: return "stacks";
  case EW_BLOCK_OPERATIONS: return "operations";
  case EW_BLOCK_VALUES: return "values";
  case EW_BLOCK_EDGES: return "edges";
  case EW_BLOCK_CHOICES: return "choices";
  case EW_BLOCK_INPUT: return "input";
  case EW_BLOCK_METADATA: return "metadata";
  case EW_BLOCK_THREAD_EVENTS: return "thread_events";
  case EW_BLOCK_THREAD_FRAMES: return "thread_frames";
  case EW_BLOCK_THREAD_MODULES: return "thread_modules";
  case EW_BLOCK_THREAD_VALUES: return "thread_values";
  case EW_BLOCK_THREAD_REGIONS: return "thread_regions";
  case EW_BLOCK_THREAD_CORRECTIONS: return "thread_corrections";
  case EW_BLOCK_THREAD_MEMORY: return "thread_memory";
  case EW_BLOCK_THREAD_LOCALS: return "thread_locals";
  case EW_BLOCK_THREAD_NAMES: return "thread_names";
  case EW_BLOCK_THREAD_CHANGES: return "thread_changes";
  case EW_BLOCK_THREAD_STALE: return "thread_stale";
  case EW_BLOCK_THREAD_REGISTERS: return "thread_registers";
  case EW_BLOCK_THREAD_ASKED: return "thread_asked";
  case EW_BLOCK_PROCESS_CALLS: return "process_calls";
  case EW_BLOCK_PROCESS_OBJECTS: return "process_objects";
  case EW_BLOCK_PROCESS_LOOKUPS: return "process_lookups";
  case EW_BLOCK_PROCESS_TEXTS: return "process_texts";
  case EW_BLOCK_PROCESS_EVENTS: return "process_events";
  case EW_BLOCK_PROCESS_DATA: return "process_data";
  case EW_BLOCK_PROCESS_TURNS: return "process_turns";
  default: return "";
  }
}

#endif
