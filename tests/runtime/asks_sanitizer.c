// SPDX-License-Identifier: Apache-2.0
// Calls what any sanitizer offers, and is called back; the argument says how it wants to end.
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/tsan_interface.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t __sanitizer_get_current_allocated_bytes(void);
size_t __sanitizer_get_allocated_size(const volatile void *block);

static int initialized, fails;

void __tsan_on_initialize() {
    initialized = 1;
}

int __tsan_on_finalize(int failed) {
    return failed || fails;
}

const char *__tsan_default_options(void) {
    return "history_size=7";
}

__attribute__((noinline)) void innermost(void) {
    __sanitizer_print_stack_trace();
}

static void memory(void) {
    size_t before = __sanitizer_get_current_allocated_bytes();
    char *block = malloc(100000);
    int grown = __sanitizer_get_current_allocated_bytes() >= before + 100000;
    printf("allocated %d %d\n", grown, __sanitizer_get_allocated_size(block) >= 100000);
    memset(block, 0, 8);
    __sanitizer_unaligned_store32(block + 1, 0x01020304);
    printf("unaligned %x %x\n", __sanitizer_unaligned_load32(block + 1), block[1]);
    free(block);
}

static void places(void) {
    char text[256], path[256];
    void *offset;
    int found =
        __sanitizer_get_module_and_offset_for_pc((void *)innermost, path, sizeof path, &offset);
    printf("module %d %s\n", found, strrchr(path, '/') + 1);
    __sanitizer_symbolize_pc((void *)puts, "%p %f", text, sizeof text);
    printf("symbol %d\n", strstr(text, "puts") != NULL);
}

int main(int count, char **arguments) {
    fails = count > 1 && strcmp(arguments[1], "fails") == 0;
    printf("initialized %d\n", initialized);
    innermost();
    memory();
    places();
    fflush(stdout);
    return 0;
}
