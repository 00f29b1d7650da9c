// SPDX-License-Identifier: Apache-2.0
// std::promise::set_value_at_thread_exit and its kin, of libstdc++: at the end of the thread the
// library says that the result is ready, and lets go of what it shares with the future. Nobody
// would tell that: who gets the result would not come behind the thread, nor who destroys it behind
// those who let go of it before. So both are done here, and the library finds nothing left to do.
//
// The layout of what is shared is that of the library's headers, which programs are compiled with.
#include "libc.h"

#include <limits.h>

#define WAITS (1u << 31) // in a state: somebody waits for it
enum { READY = 1 };

struct shared { // std::__future_base::_State_baseV2
    const void *functions;
    void *result;
    uint32_t state;
};

struct owners { // std::_Sp_counted_base
    const struct {
        void (*destructors[2])(struct owners *);
        void (*dispose)(struct owners *), (*destroy)(struct owners *);
    } *functions;
    uint32_t strong, weak; // all strong owners together are a weak one
};

struct at_exit { // std::__future_base::_State_baseV2::_Make_ready
    struct at_exit *next;
    void (*run)(void *);
    struct shared *shared;
    struct owners *owners; // a weak one; NULL: nobody's
};

static void (*run_of_library)(void *);

// An atomic operation at a decision point; who made that before tells it only.
static void tell(unsigned op, const uint32_t *at, int order, const void *pc) {
    if (UNLIKELY(ew_watched))
        ew_tell_atomic(op, at, sizeof *at, pc, order);
}

static void begin(const uint32_t *at) {
    ew_point_at(EW_WHY_ATOMIC, EW_OP_UPDATE, at, sizeof *at);
}

static bool own(uint32_t *count, const void *pc) {
    begin(count);
    tell(*count ? EW_OP_UPDATE : EW_OP_LOAD, count, __ATOMIC_ACQ_REL, pc);
    *count += *count != 0;
    return *count != 0;
}

static bool let_go(uint32_t *count, const void *pc) {
    begin(count);
    tell(EW_OP_UPDATE, count, __ATOMIC_ACQ_REL, pc);
    return --*count == 0;
}

static void make_ready(uint32_t *state, const void *pc) {
    static struct ew_real wake = {"_ZNSt28__atomic_futex_unsigned_base19_M_futex_notify_allEPj",
                                  NULL};
    begin(state);
    tell(EW_OP_UPDATE, state, __ATOMIC_RELEASE, pc);
    bool waits = *state & WAITS;
    *state = READY;
    if (waits)
        ((void (*)(uint32_t *))ew_real_of(&wake))(state);
}

static void finish(struct shared *shared, struct owners *owners, const void *pc) {
    if (own(&owners->strong, pc)) {
        make_ready(&shared->state, pc);
        if (let_go(&owners->strong, pc)) {
            owners->functions->dispose(owners);
            let_go(&owners->weak, pc);
        }
    }
    if (let_go(&owners->weak, pc))
        owners->functions->destroy(owners);
}

static void run(void *argument) {
    struct at_exit *exit = argument;
    if (exit->owners)
        finish(exit->shared, exit->owners, PC);
    exit->owners = NULL;
    run_of_library(exit);
}

EW_EXPORT void _ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv(struct at_exit *exit) {
    static struct ew_real real = {"_ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv",
                                  NULL};
    ((void (*)(struct at_exit *))ew_real_of(&real))(exit);
    run_of_library = exit->run;
    exit->run = run;
}
