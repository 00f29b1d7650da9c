// SPDX-License-Identifier: Apache-2.0
// POSIX message queues: a name of theirs is there for everybody, so what comes is from outside.
#include "channels.h"
#include "sync.h"
#include "transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>

struct call {
    long number;
    const char *data;
    size_t size;
    unsigned *priority, sent_priority;
    const void *pc;
};

static const struct timespec long_ago = {0, 0}; // so the kernel does not wait

static long attempt(struct ew_transfer *transfer, void *argument) {
    struct call *call = argument;
    bool receives = call->number == SYS_mq_timedreceive;
    unsigned priority = 0;
    long done = ew_transfer_call(transfer, call->number, (long)call->data, (long)call->size,
                                 receives ? (long)&priority : (long)call->sent_priority,
                                 (long)&long_ago, 0);
    if (done == -ETIMEDOUT)
        return -EAGAIN;
    if (receives && done >= 0) {
        ew_received(transfer, &(struct iovec){(void *)call->data, call->size}, 1, done);
        ew_received(transfer, &(struct iovec){&priority, sizeof priority}, 1, sizeof priority);
        if (call->priority)
            *call->priority = priority;
    }
    return done;
}

static void tell(const struct call *call, bool receives, long done) {
    const struct iovec whole = {(void *)call->data, call->size};
    if (receives)
        ew_common_took(EW_MESSAGE_QUEUES, call->pc);
    ew_transferred(receives ? EW_OP_STORE : EW_OP_LOAD, &whole, 1,
                   receives ? done : (long)call->size, call->pc);
    if (!receives)
        ew_common_put(EW_MESSAGE_QUEUES, call->pc);
}

static long run(mqd_t queue, struct call *call, const struct timespec *when) {
    struct ew_transfer transfer;
    bool receives = call->number == SYS_mq_timedreceive;
    if (when && !ew_is_length(when))
        return -EINVAL;
    ew_queue_used(queue);
    ew_transfer_begin(&transfer, queue, receives ? POLLIN : POLLOUT, false);
    long flags = raw3(SYS_fcntl, queue, F_GETFL, 0);
    transfer.outside = flags >= 0;
    transfer.waits = flags >= 0 && !(flags & O_NONBLOCK);
    transfer.deadline = when ? ew_deadline(CLOCK_REALTIME, when) : EW_NEVER;
    long done = attempt(&transfer, call); // which tells mistakes before it would wait
    if (done == -EAGAIN && transfer.waits)
        done = ew_transfer_attempt(&transfer, attempt, call);
    ew_transfer_end(&transfer);
    if (done >= 0)
        tell(call, receives, done);
    return done == -EAGAIN && transfer.over ? -ETIMEDOUT : done;
}

EW_EXPORT ssize_t mq_timedreceive(mqd_t queue, char *restrict data, size_t size,
                                  unsigned *restrict priority,
                                  const struct timespec *restrict when) {
    struct call call = {SYS_mq_timedreceive, data, size, priority, 0, PC};
    return ew_result(run(queue, &call, when));
}

EW_EXPORT ssize_t mq_receive(mqd_t queue, char *data, size_t size, unsigned *priority) {
    struct call call = {SYS_mq_timedreceive, data, size, priority, 0, PC};
    return ew_result(run(queue, &call, NULL));
}

EW_EXPORT int mq_timedsend(mqd_t queue, const char *data, size_t size, unsigned priority,
                           const struct timespec *when) {
    struct call call = {SYS_mq_timedsend, data, size, NULL, priority, PC};
    return (int)ew_result(run(queue, &call, when));
}

EW_EXPORT int mq_send(mqd_t queue, const char *data, size_t size, unsigned priority) {
    struct call call = {SYS_mq_timedsend, data, size, NULL, priority, PC};
    return (int)ew_result(run(queue, &call, NULL));
}

// --- how many there are

static long ask(mqd_t queue, const struct mq_attr *new, struct mq_attr *old) {
    struct ew_transfer transfer = {.fd = queue, .outside = true};
    long error = ew_transfer_call(&transfer, SYS_mq_getsetattr, (long)new, (long)old, 0, 0, 0);
    if (error == 0 && old)
        ew_received(&transfer, &(struct iovec){old, sizeof *old}, 1, sizeof *old);
    return error;
}

EW_EXPORT int mq_getattr(mqd_t queue, struct mq_attr *result) {
    return (int)ew_result(ask(queue, NULL, result));
}

// Whether it waits is asked of the queue, in a replay too.
EW_EXPORT int mq_setattr(mqd_t queue, const struct mq_attr *restrict new,
                         struct mq_attr *restrict old) {
    if (new)
        raw3(SYS_mq_getsetattr, queue, (long)new, 0);
    return (int)ew_result(ask(queue, NULL, old ? old : &(struct mq_attr){0}));
}
