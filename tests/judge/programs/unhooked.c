// SPDX-License-Identifier: Apache-2.0
// Built as any library is: nothing that happens here is told to anybody.
#include <stdlib.h>
#include <string.h>

struct {
    int calls, last;
} noted;
static struct node {
    struct node *next;
    long value;
} *list;

void note_call(int value) {
    noted.calls++;
    noted.last = value;
}

void note_only_that(void) {
    noted.calls++;
}

void note_in_list(int value) {
    struct node *node = malloc(sizeof *node);
    *node = (struct node){list, value};
    list = node;
}

void fill(char *block, int value, unsigned long size) {
    memset(block, value, size);
}
