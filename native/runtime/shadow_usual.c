// SPDX-License-Identifier: Apache-2.0
// What hooks do not do themselves: bytes or cells beside each other that have different pasts.
#include "usual.h"

void ew_usual_bytes(unsigned op, uintptr_t address, size_t size, uintptr_t pc) {
    uint32_t bytes = ((1u << size) - 1) << (address & 3);
    if (bytes > EW_BYTES || ew_place_may_be_shared(pc) ||
        !ew_bytes_pass(ew_cell_at(address & ~3ul), bytes, op == EW_OP_STORE))
        ew_shadow_look(op, (const void *)address, size, (const void *)pc);
}

void ew_usual_cells(unsigned op, uintptr_t address, size_t size, uintptr_t pc) {
    struct ew_cell *cell = ew_cell_at(address);
    bool writes = op == EW_OP_STORE;
    if (address & (size - 1) || ew_place_may_be_shared(pc) || !ew_cell_passes(cell, writes) ||
        (size == 8 && !ew_cell_passes(cell + 1, writes)))
        ew_shadow_look(op, (const void *)address, size, (const void *)pc);
}
