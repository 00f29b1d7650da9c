#include "runtime.h"
bool ew_tracing;
void ew_trace_ordered(enum ew_op op, unsigned flags, const void *object, size_t size, const void *pc,
                      int order){}
void ew_trace(enum ew_op op, unsigned flags, const void *object, size_t size, const void *pc){}
void ew_trace_start(const char *path){}
void ew_trace_finish(void){}
