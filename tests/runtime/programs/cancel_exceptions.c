// SPDX-License-Identifier: Apache-2.0
// flags: -fexceptions
// Cancellation where the compiler makes cleanup handlers landing pads of the unwinding.
#include "cancel.c"
