// SPDX-License-Identifier: Apache-2.0
#ifndef EITHERWAY_BINDING_H
#define EITHERWAY_BINDING_H

void ew_bind_libc(void);

#endif
