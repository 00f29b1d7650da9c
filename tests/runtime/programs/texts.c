// SPDX-License-Identifier: Apache-2.0
// Functions on memory and text do what C and POSIX say, whoever watches them.
// flags: -fno-builtin -Wno-format-truncation -Wno-stringop-truncation
#include "check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

static void memory(void) {
    char a[32] = "0123456789abcdef", b[32];
    CHECK(memcpy(b, a, 17) == b && strcmp(b, a) == 0);
    CHECK(memmove(b + 2, b, 10) == b + 2 && memcmp(b, "010123456789cdef", 16) == 0);
    CHECK(mempcpy(b, "xy", 2) == b + 2 && memcmp(b, "xy", 2) == 0);
    CHECK(memset(b, 'q', 5) == b && memcmp(b, "qqqqq", 5) == 0);
    CHECK(memcmp("ab", "ac", 2) < 0 && memcmp("ac", "ab", 2) > 0 && memcmp("a", "b", 0) == 0);
    CHECK(memchr(a, '5', 10) == a + 5 && memchr(a, '5', 5) == NULL);
    CHECK(memrchr("5a5", '5', 3) != NULL && memmem(a, 16, "cd", 2) == a + 12);
    CHECK(memccpy(b, a, '3', 16) == b + 4 && memcmp(b, "0123", 4) == 0);
    bcopy(a, b, 4);
    bzero(b, 2);
    CHECK(b[0] == 0 && b[1] == 0 && b[2] == '2' && bcmp(a + 2, b + 2, 2) == 0);
}

static void text(void) {
    char b[64];
    CHECK(strlen("") == 0 && strlen("abc") == 3 && strnlen("abc", 2) == 2);
    CHECK(strcpy(b, "abc") == b && stpcpy(b, "de") == b + 2 && strcmp(b, "de") == 0);
    CHECK(strncpy(b, "x", 4) == b && memcmp(b, "x\0\0", 4) == 0);
    CHECK(strcat(strcpy(b, "a"), "b") == b && strncat(b, "cdef", 2) == b);
    CHECK(strcmp(b, "abcd") == 0 && strcmp("a", "b") < 0 && strcmp("b", "a") > 0);
    CHECK(strncmp("abx", "aby", 2) == 0 && strncmp("abx", "aby", 3) < 0);
    CHECK(strcasecmp("AbC", "aBc") == 0 && strncasecmp("ABx", "aby", 2) == 0);
    CHECK(strchr(b, 'c') == b + 2 && strchr(b, 0) == b + 4 && strchr(b, 'z') == NULL);
    CHECK(*strchrnul(b, 'z') == 0 && strrchr("aXbX", 'X')[1] == 0);
    CHECK(strstr(b, "cd") == b + 2 && strstr(b, "dc") == NULL && strcasestr(b, "CD") == b + 2);
    CHECK(strspn("aab", "a") == 2 && strcspn("aab", "b") == 2 && strpbrk("xyz", "zy")[0] == 'y');
    CHECK(atoi(" -12x") == -12 && atol("7") == 7 && strtoul("ff", NULL, 16) == 255);
    char *end;
    CHECK(strtol("12ab", &end, 10) == 12 && strcmp(end, "ab") == 0);
    errno = 0;
    CHECK(strtoll("99999999999999999999", &end, 10) > 0 && errno == ERANGE);
}

static void tokens(void) {
    char b[32] = ",a,,bc,", *rest = NULL, *at = b;
    CHECK(strcmp(strtok_r(b, ",", &rest), "a") == 0 &&
          strcmp(strtok_r(NULL, ",", &rest), "bc") == 0);
    CHECK(strtok_r(NULL, ",", &rest) == NULL);
    strcpy(b, "x y");
    CHECK(strcmp(strtok(b, " "), "x") == 0 && strcmp(strtok(NULL, " "), "y") == 0);
    CHECK(strtok(NULL, " ") == NULL);
    strcpy(b, "p:q");
    CHECK(strcmp(strsep(&at, ":"), "p") == 0 && strcmp(strsep(&at, ":"), "q") == 0);
    CHECK(at == NULL && strsep(&at, ":") == NULL);
}

static int listed(char *to, size_t size, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(to, size, format, arguments);
    va_end(arguments);
    return length;
}

static void formats(void) {
    char b[128];
    int count = 0;
    CHECK(snprintf(b, sizeof b, "%d %s %.2f %c%%", 5, "text", 1.5, 'x') == 14);
    CHECK(strcmp(b, "5 text 1.50 x%") == 0);
    CHECK(snprintf(b, 3, "%s", "longer") == 6 && strcmp(b, "lo") == 0);
    CHECK(snprintf(NULL, 0, "%s", "longer") == 6);
    CHECK(sprintf(b, "%2$s %1$s", "one", "two") == 7 && strcmp(b, "two one") == 0);
    CHECK(listed(b, sizeof b, "%*.*s|%Lf|%hhd|%lld%n", 5, 2, "abc", 2.5L, 3, 4ll, &count) == 18);
    CHECK(strcmp(b, "   ab|2.500000|3|4") == 0 && count == 18);
}

static int compare(const void *one, const void *other) {
    return *(const int *)one - *(const int *)other;
}

static void others(void) {
    int numbers[] = {3, 1, 2}, wanted = 2;
    qsort(numbers, 3, sizeof *numbers, compare);
    CHECK(numbers[0] == 1 && numbers[2] == 3);
    CHECK(bsearch(&wanted, numbers, 3, sizeof *numbers, compare) == numbers + 1);
    CHECK(setenv("EW_TEST", "a", 1) == 0 && strcmp(getenv("EW_TEST"), "a") == 0);
    CHECK(unsetenv("EW_TEST") == 0 && getenv("EW_TEST") == NULL);
    struct tm day;
    time_t moment = 86400;
    char b[32];
    CHECK(gmtime_r(&moment, &day) == &day && day.tm_mday == 2 && timegm(&day) == moment);
    CHECK(strcmp(asctime_r(&day, b), "Fri Jan  2 00:00:00 1970\n") == 0);
    CHECK(strftime(b, sizeof b, "%Y", &day) == 4 && strcmp(b, "1970") == 0);
    CHECK(gmtime(&moment)->tm_mday == 2);
}

static void streams(void) {
    char b[32], *line = NULL;
    size_t room = 0;
    FILE *file = tmpfile();
    CHECK(fprintf(file, "%s %d\n", "line", 1) == 7 && fputs("two\n", file) >= 0);
    CHECK(fwrite("three", 1, 5, file) == 5);
    rewind(file);
    CHECK(fgets(b, sizeof b, file) == b && strcmp(b, "line 1\n") == 0);
    CHECK(getline(&line, &room, file) == 4 && strcmp(line, "two\n") == 0 && room >= 5);
    CHECK(fread(b, 1, sizeof b, file) == 5 && memcmp(b, "three", 5) == 0);
    CHECK(fgets(b, sizeof b, file) == NULL && getline(&line, &room, file) == -1 && feof(file));
    free(line);
    fclose(file);
}

// Longer than any stack.
static void long_text(void) {
    const size_t length = 20 << 20;
    char *one = malloc(length + 1), *other = malloc(length + 1);
    memset(one, 'x', length);
    one[length] = 0;
    CHECK(strlen(one) == length && strnlen(one, length) == length);
    CHECK(strcpy(other, one) == other && strcmp(one, other) == 0);
    CHECK(strncmp(one, other, length) == 0 && strchr(other, 'y') == NULL);
    FILE *null = fopen("/dev/null", "w");
    CHECK(fputs(one, null) >= 0 && fprintf(null, "%s", other) == (int)length);
    CHECK(fclose(null) == 0);
    free(one);
    free(other);
}

int main(void) {
    memory();
    long_text();
    text();
    tokens();
    formats();
    others();
    streams();
    return 0;
}
