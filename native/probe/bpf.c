// SPDX-License-Identifier: Apache-2.0
// BPF by its raw system call: maps, and programs at typed tracepoints and function entries.
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint64_t as_u64(const void *pointer) {
    return (uint64_t)(uintptr_t)pointer;
}

static int bpf(enum bpf_cmd command, union bpf_attr *attr) {
    return (int)syscall(SYS_bpf, command, attr, sizeof *attr);
}

// Before Linux 5.11 maps count against this limit, whose default is 64 KiB.
static void lift_memory_limit(void) {
    struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_MEMLOCK, &none);
}

static int create_map(enum bpf_map_type type, uint32_t key, uint32_t value, uint32_t entries) {
    union bpf_attr attr = {0};
    lift_memory_limit();
    attr.map_type = type;
    attr.key_size = key;
    attr.value_size = value;
    attr.max_entries = entries;
    return bpf(BPF_MAP_CREATE, &attr);
}

static int map_element(enum bpf_cmd command, int map, const void *key, const void *value) {
    union bpf_attr attr = {0};
    attr.map_fd = (uint32_t)map;
    attr.key = as_u64(key);
    attr.value = as_u64(value);
    return bpf(command, &attr);
}

struct answer probe_bpf_map(void) {
    uint32_t key = 0;
    uint64_t put = 42, got = 0;
    int map = create_map(BPF_MAP_TYPE_ARRAY, sizeof key, sizeof put, 1);
    if (map < 0)
        return no("bpf(BPF_MAP_CREATE)");
    if (map_element(BPF_MAP_UPDATE_ELEM, map, &key, &put) < 0 ||
        map_element(BPF_MAP_LOOKUP_ELEM, map, &key, &got) < 0)
        return no("bpf map update and lookup");
    return got == put ? yes("a map was made, written and read")
                      : wrong("a bpf map forgot its value");
}

struct answer probe_bpf_ringbuf(void) {
    long page = sysconf(_SC_PAGESIZE);
    int map = create_map(BPF_MAP_TYPE_RINGBUF, 0, 0, (uint32_t)page);
    if (map < 0)
        return no("bpf ring buffer");
    void *consumer = mmap(NULL, (size_t)page, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
    if (consumer == MAP_FAILED)
        return no("mmap of a bpf ring buffer");
    munmap(consumer, (size_t)page);
    return yes("a ring buffer was made and mapped");
}

// Task storage must say the types of key and value; `int` is both.
static int load_int_btf(void) {
    struct {
        struct btf_header header;
        struct btf_type type;
        uint32_t integer;
        char strings[8];
    } blob = {
        .header = {.magic = BTF_MAGIC,
                   .version = BTF_VERSION,
                   .hdr_len = sizeof(struct btf_header),
                   .type_len = sizeof(struct btf_type) + sizeof(uint32_t),
                   .str_off = sizeof(struct btf_type) + sizeof(uint32_t),
                   .str_len = 5},
        .type = {.name_off = 1, .info = BTF_KIND_INT << 24, .size = 4},
        .integer = BTF_INT_SIGNED << 24 | 32,
        .strings = "\0int",
    };
    union bpf_attr attr = {0};
    attr.btf = as_u64(&blob);
    attr.btf_size = offsetof(__typeof__(blob), strings) + 5;
    return bpf(BPF_BTF_LOAD, &attr);
}

struct answer probe_bpf_task_storage(void) {
    lift_memory_limit();
    int btf = load_int_btf();
    if (btf < 0)
        return no("bpf(BPF_BTF_LOAD)");
    union bpf_attr attr = {0};
    attr.map_type = BPF_MAP_TYPE_TASK_STORAGE;
    attr.map_flags = BPF_F_NO_PREALLOC;
    attr.key_size = attr.value_size = 4;
    attr.btf_fd = (uint32_t)btf;
    attr.btf_key_type_id = attr.btf_value_type_id = 1;
    int map = bpf(BPF_MAP_CREATE, &attr);
    if (map < 0)
        return no("bpf task storage");
    int self = (int)syscall(SYS_pidfd_open, getpid(), 0), put = 42, got = 0;
    if (self < 0)
        return no("pidfd_open");
    if (map_element(BPF_MAP_UPDATE_ELEM, map, &self, &put) < 0 ||
        map_element(BPF_MAP_LOOKUP_ELEM, map, &self, &got) < 0)
        return no("bpf task storage update and lookup");
    return got == put ? yes("a value was kept for a task") : wrong("task storage forgot its value");
}

struct blob {
    char *data;
    size_t size;
};

// sysfs gives the size of this file, but no mmap of it on older kernels.
static int read_kernel_btf(struct blob *blob) {
    int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC);
    struct stat info;
    if (fd < 0)
        return -1;
    if (fstat(fd, &info) < 0 || !(blob->data = malloc((size_t)info.st_size + 1))) {
        close(fd);
        return -1;
    }
    ssize_t got;
    while (blob->size < (size_t)info.st_size &&
           (got = read(fd, blob->data + blob->size, (size_t)info.st_size - blob->size)) > 0)
        blob->size += (size_t)got;
    blob->data[blob->size] = '\0'; // ends the last name
    close(fd);
    return 0;
}

// Bytes that follow a struct btf_type; what a newer kernel adds is not known here: -1.
static long extra_bytes(uint32_t info) {
    uint32_t kind = info >> 24 & 0x1f, count = info & 0xffff;
    switch (kind) {
    case 1:  // integer
    case 14: // variable
    case 17: // declaration tag
        return 4;
    case 3: // array
        return 12;
    case 4:  // struct
    case 5:  // union
    case 15: // data section
    case 19: // 64-bit enumeration
        return 12L * count;
    case 6:  // enumeration
    case 13: // function prototype
        return 8L * count;
    case 2: // pointer, forward, typedef, volatile, const, restrict, function, float, type tag
    case 7:
    case 8:
    case 9:
    case 10:
    case 11:
    case 12:
    case 16:
    case 18:
        return 0;
    default:
        return -1;
    }
}

// The id of the type of this kind and name, counted from 1; 0 when there is none.
static uint32_t find_type(const struct blob *blob, uint32_t kind, const char *name) {
    struct btf_header header;
    if (blob->size < sizeof header)
        return 0;
    memcpy(&header, blob->data, sizeof header);
    size_t at = (size_t)header.hdr_len + header.type_off, end = at + header.type_len;
    size_t strings = (size_t)header.hdr_len + header.str_off;
    if (header.magic != BTF_MAGIC || end > blob->size || strings > blob->size)
        return 0;
    for (uint32_t id = 1; at + sizeof(struct btf_type) <= end; id++) {
        struct btf_type type;
        memcpy(&type, blob->data + at, sizeof type);
        long extra = extra_bytes(type.info);
        if (extra < 0 || type.name_off >= blob->size - strings)
            return 0;
        if ((type.info >> 24 & 0x1f) == kind &&
            strcmp(blob->data + strings + type.name_off, name) == 0)
            return id;
        at += sizeof type + (size_t)extra;
    }
    return 0;
}

static uint32_t kernel_type(uint32_t kind, const char *name) {
    struct blob blob = {0};
    if (read_kernel_btf(&blob) < 0)
        return 0;
    uint32_t id = find_type(&blob, kind, name);
    free(blob.data);
    errno = ENOENT;
    return id;
}

static int load_program(uint32_t attach_type, uint32_t btf_id, const struct bpf_insn *code,
                        uint32_t length) {
    union bpf_attr attr = {0};
    lift_memory_limit();
    attr.prog_type = BPF_PROG_TYPE_TRACING;
    attr.expected_attach_type = attach_type;
    attr.attach_btf_id = btf_id;
    attr.insns = as_u64(code);
    attr.insn_cnt = length;
    attr.license = as_u64("Apache-2.0");
    return bpf(BPF_PROG_LOAD, &attr);
}

static int attach(int program) {
    union bpf_attr attr = {0};
    attr.raw_tracepoint.prog_fd = (uint32_t)program;
    return bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
}

// Counts into the map's only value: r1 = &value; r2 = 1; lock *r1 += r2; r0 = 0; exit.
static int load_counter(int map, uint32_t tracepoint) {
    const struct bpf_insn code[] = {
        {.code = BPF_LD | BPF_DW | BPF_IMM,
         .dst_reg = 1,
         .src_reg = BPF_PSEUDO_MAP_VALUE,
         .imm = map},
        {0},
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2, .imm = 1},
        {.code = BPF_STX | BPF_ATOMIC | BPF_DW, .dst_reg = 1, .src_reg = 2, .imm = BPF_ADD},
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0},
        {.code = BPF_JMP | BPF_EXIT},
    };
    return load_program(BPF_TRACE_RAW_TP, tracepoint, code, sizeof code / sizeof code[0]);
}

struct answer probe_bpf_tp_btf(void) {
    uint32_t key = 0, tracepoint;
    uint64_t calls = 0;
    int map = create_map(BPF_MAP_TYPE_ARRAY, sizeof key, sizeof calls, 1);
    if (map < 0)
        return no("bpf(BPF_MAP_CREATE)");
    if (!(tracepoint = kernel_type(BTF_KIND_TYPEDEF, "btf_trace_sys_enter")))
        return no("sys_enter in /sys/kernel/btf/vmlinux");
    int program = load_counter(map, tracepoint);
    if (program < 0)
        return no("loading a tp_btf program for sys_enter");
    int link = attach(program);
    if (link < 0)
        return no("attaching a tp_btf program to sys_enter");
    syscall(SYS_getppid);
    close(link);
    if (map_element(BPF_MAP_LOOKUP_ELEM, map, &key, &calls) < 0)
        return no("bpf map lookup");
    return calls ? yes("a program at sys_enter ran") : wrong("a program at sys_enter did not run");
}

struct answer probe_bpf_fentry(void) {
    const struct bpf_insn code[] = {
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0},
        {.code = BPF_JMP | BPF_EXIT},
    };
    uint32_t function = kernel_type(BTF_KIND_FUNC, "vfs_read");
    if (!function)
        return no("vfs_read in /sys/kernel/btf/vmlinux");
    int program = load_program(BPF_TRACE_FENTRY, function, code, sizeof code / sizeof code[0]);
    return program < 0 ? no("loading a fentry program for vfs_read")
                       : yes("a fentry program loads");
}
