/* SPDX-License-Identifier: Apache-2.0 */
/* What a program may tell EitherWay of itself. `eitherway cc` finds this header; where it is not
 * there, or the program is built without EitherWay, nothing in here does anything:
 *
 *     #if __has_include(<eitherway.h>)
 *     #include <eitherway.h>
 *     #else
 *     #define EITHERWAY_INVARIANT(expression) ((void)0)
 *     #endif
 */
#ifndef EITHERWAY_H
#define EITHERWAY_H

#ifdef __cplusplus
extern "C" {
#endif

/* There when the program carries EitherWay's runtime; it does not return. */
void eitherway_invariant_broken(const char *expression, const char *file, unsigned line)
    __attribute__((weak));

#ifdef __cplusplus
}
#endif

/* This holds whenever a thread comes here, in every schedule: a run in which it does not fails. The
 * expression is evaluated only under EitherWay. It may look at shared memory; to do that without a
 * lock is an access like any other. */
#define EITHERWAY_INVARIANT(expression)                                                            \
    (!eitherway_invariant_broken || (expression)                                                   \
         ? (void)0                                                                                 \
         : eitherway_invariant_broken(#expression, __FILE__, __LINE__))

#endif
