// SPDX-License-Identifier: Apache-2.0
// For the kernel world: a virtual machine that runs one instruction, and leave to load modules.
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct answer probe_module(void) {
    // Permission is checked before the file is looked at; -1 can never be a module.
    long done = syscall(SYS_finit_module, -1, "", 0);
    if (done < 0 && errno == EBADF)
        return yes("finit_module is permitted");
    return no("finit_module");
}

#if defined(__x86_64__)
enum { CODE_AT = 0x1000, HLT = 0xf4 };

static int open_vm(struct answer *a) {
    int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
    int vm = kvm < 0 ? -1 : ioctl(kvm, KVM_CREATE_VM, 0);
    if (kvm < 0)
        *a = no("open /dev/kvm");
    else if (vm < 0)
        *a = no("KVM_CREATE_VM");
    return vm;
}

static int give_memory(int vm) {
    unsigned char *page =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return -1;
    page[0] = HLT;
    struct kvm_userspace_memory_region region = {.guest_phys_addr = CODE_AT,
                                                 .memory_size = 4096,
                                                 .userspace_addr = (uint64_t)(uintptr_t)page};
    return ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region);
}

static int point_at_code(int cpu) {
    struct kvm_sregs special;
    struct kvm_regs regs = {.rip = CODE_AT, .rflags = 2};
    if (ioctl(cpu, KVM_GET_SREGS, &special) < 0)
        return -1;
    special.cs.base = 0;
    special.cs.selector = 0;
    if (ioctl(cpu, KVM_SET_SREGS, &special) < 0)
        return -1;
    return ioctl(cpu, KVM_SET_REGS, &regs);
}

static struct answer run_to_halt(int cpu) {
    // The first page is all we read; the kernel has it for every vCPU.
    struct kvm_run *run = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, cpu, 0);
    if (run == MAP_FAILED)
        return no("mmap of a vCPU");
    if (ioctl(cpu, KVM_RUN, 0) < 0)
        return no("KVM_RUN");
    if (run->exit_reason != KVM_EXIT_HLT)
        return wrong("a guest's hlt ended with exit reason %u", run->exit_reason);
    return yes("a guest ran one instruction");
}

struct answer probe_kvm(void) {
    struct answer a;
    int vm = open_vm(&a);
    if (vm < 0)
        return a;
    if (give_memory(vm) < 0)
        return no("KVM_SET_USER_MEMORY_REGION");
    int cpu = ioctl(vm, KVM_CREATE_VCPU, 0);
    if (cpu < 0)
        return no("KVM_CREATE_VCPU");
    if (point_at_code(cpu) < 0)
        return no("KVM_SET_REGS");
    return run_to_halt(cpu);
}
#else
struct answer probe_kvm(void) {
    return wrong("x86-64 only");
}
#endif
