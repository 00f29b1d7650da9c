// SPDX-License-Identifier: Apache-2.0
// One thread calls functions of libc, each on a buffer of its own; another writes to a byte of each
// buffer. `racy`: to one that the function touches; `locked`: the same under a lock; `apart`: to
// one that the function does not touch. Says first where the buffers are.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

enum { SIZE = 512, APART = 400 };

static int ends[2], sockets[2];
static FILE *text;
static volatile long sink;

static int compare(const void *one, const void *other) {
    return *(const char *)one - *(const char *)other;
}

static int instance;
static sem_t semaphore;

static pid_t a_child(void) {
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    return child;
}

static void *no_thread(void *unused) {
    return unused;
}

static pthread_t a_thread(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, no_thread, NULL);
    return thread;
}

#define KEEP(expression) sink = (long)(expression)

// b: the buffer, which holds a text of 36 characters; m: the thread's own
#define FUNCTIONS                                                                                  \
    F(memcpy, memcpy(b, m, 64))                                                                    \
    F(memcpy_from, memcpy(m, b, 64))                                                               \
    F(memmove, memmove(b + 2, b, 64))                                                              \
    F(mempcpy, mempcpy(b, m, 64))                                                                  \
    F(memset, memset(b, 'x', 64))                                                                  \
    F(bzero, bzero(b, 64))                                                                         \
    F(bcopy, bcopy(b, m, 64))                                                                      \
    F(memcmp, KEEP(memcmp(b, m, 64)))                                                              \
    F(bcmp, KEEP(bcmp(b, m, 64)))                                                                  \
    F(memchr, KEEP(memchr(b, 'q', 64)))                                                            \
    F(memrchr, KEEP(memrchr(b, 'q', 64)))                                                          \
    F(memmem, KEEP(memmem(b, 64, "qqq", 3)))                                                       \
    F(strlen, KEEP(strlen(b)))                                                                     \
    F(strnlen, KEEP(strnlen(b, 100)))                                                              \
    F(strcpy, strcpy(b, "something else"))                                                         \
    F(strcpy_from, strcpy(m, b))                                                                   \
    F(stpcpy, stpcpy(b, "something else"))                                                         \
    F(strncpy, strncpy(b, "else", 64))                                                             \
    F(strcat, strcat(b, " and more"))                                                              \
    F(strncat, strncat(b, " and more", 4))                                                         \
    F(strcmp, KEEP(strcmp(b, m)))                                                                  \
    F(strncmp, KEEP(strncmp(b, m, 20)))                                                            \
    F(strcasecmp, KEEP(strcasecmp(b, m)))                                                          \
    F(strncasecmp, KEEP(strncasecmp(b, m, 20)))                                                    \
    F(strchr, KEEP(strchr(b, 'q')))                                                                \
    F(strchrnul, KEEP(strchrnul(b, 'q')))                                                          \
    F(strrchr, KEEP(strrchr(b, 'q')))                                                              \
    F(strstr, KEEP(strstr(b, "qqq")))                                                              \
    F(strcasestr, KEEP(strcasestr(b, "qqq")))                                                      \
    F(strspn, KEEP(strspn(b, "aeiou abcdefghijklmnopqrstuvwxyz")))                                 \
    F(strcspn, KEEP(strcspn(b, "QX")))                                                             \
    F(strpbrk, KEEP(strpbrk(b, "QX")))                                                             \
    F(strdup, free(strdup(b)))                                                                     \
    F(strndup, free(strndup(b, 50)))                                                               \
    F(strtok_r, KEEP(strtok_r(b, "X", &rest)))                                                     \
    F(strsep, KEEP(strsep(&rest_of, "X")))                                                         \
    F(atoi, KEEP(atoi(b + 40)))                                                                    \
    F(strtol, KEEP(strtol(b + 40, &rest, 10)))                                                     \
    F(rawmemchr, KEEP(rawmemchr(b, 'y')))                                                          \
    F(memfrob, memfrob(b, 64))                                                                     \
    F(strverscmp, KEEP(strverscmp(b, m)))                                                          \
    F(strtoimax, KEEP(strtoimax(b + 40, &rest, 10)))                                               \
    F(strtod, KEEP(strtod(b + 40, &rest)))                                                         \
    F(atof, KEEP(atof(b + 40)))                                                                    \
    F(frexp, KEEP(frexp((double)moment, (int *)b)))                                                \
    F(modf, KEEP(modf((double)moment, (double *)b)))                                               \
    F(rand_r, KEEP(rand_r((unsigned *)b)))                                                         \
    F(erand48, KEEP(erand48((unsigned short *)b)))                                                 \
    F(qsort, qsort(b, 64, 1, compare))                                                             \
    F(gmtime_r, gmtime_r(&moment, (struct tm *)b))                                                 \
    F(localtime_r, localtime_r(&moment, (struct tm *)b))                                           \
    F(asctime_r, asctime_r(&day, b))                                                               \
    F(mktime, KEEP(mktime((struct tm *)memset(b, 0, 8))))                                          \
    F(strftime, KEEP(strftime(b, 64, "%Y-%m-%d", &day)))                                           \
    F(clock_gettime, clock_gettime(CLOCK_MONOTONIC, (struct timespec *)b))                         \
    F(gettimeofday, gettimeofday((struct timeval *)b, NULL))                                       \
    F(time, KEEP(time((time_t *)b)))                                                               \
    F(getrusage, getrusage(RUSAGE_SELF, (struct rusage *)b))                                       \
    F(getrandom, KEEP(getrandom(b, 64, 0)))                                                        \
    F(uname, uname((struct utsname *)b))                                                           \
    F(getcwd, KEEP(getcwd(b, 300)))                                                                \
    F(inet_ntop, KEEP(inet_ntop(AF_INET, "\177\0\0\1", b, 64)))                                    \
    F(wmemcpy, KEEP(wmemcpy((wchar_t *)b, L"abcdefgh", 8)))                                        \
    F(wmemset, KEEP(wmemset((wchar_t *)b, L'x', 8)))                                               \
    F(wcslen, KEEP(wcslen((wchar_t *)b)))                                                          \
    F(wcscpy, KEEP(wcscpy((wchar_t *)b, L"abcdefgh")))                                             \
    F(wcsncpy, KEEP(wcsncpy((wchar_t *)b, L"a", 8)))                                               \
    F(wcstol, KEEP(wcstol((wchar_t *)b, NULL, 10)))                                                \
    F(sscanf_from, KEEP(sscanf(b, "%63s", m)))                                                     \
    F(sscanf, KEEP(sscanf("text 7", "%63s %d", b, (int *)m)))                                      \
    F(sscanf_number, KEEP(sscanf("4.5", "%lf", (double *)b)))                                      \
    F(fscanf, KEEP(fscanf(text, "%63s", b)))                                                       \
    F(read, KEEP(read(ends[0], b, 64)))                                                            \
    F(write, KEEP(write(ends[1], b, 64)))                                                          \
    F(readv, KEEP(readv(ends[0], &(struct iovec){b, 64}, 1)))                                      \
    F(writev, KEEP(writev(ends[1], &(struct iovec){b, 64}, 1)))                                    \
    F(pread, KEEP(pread(fileno(text), b, 64, 0)))                                                  \
    F(send, KEEP(send(sockets[0], b, 64, 0)))                                                      \
    F(recv, KEEP(recv(sockets[1], b, 64, 0)))                                                      \
    F(readv_parts, KEEP(readv(ends[0], (struct iovec *)b, 2)))                                     \
    F(writev_parts, KEEP(writev(ends[1], (struct iovec *)b, 2)))                                   \
    F(sendmsg_header, KEEP(sendmsg(sockets[0], (struct msghdr *)b, 0)))                            \
    F(fstat, fstat(0, (struct stat *)b))                                                           \
    F(poll, KEEP(poll((struct pollfd *)b, 1, 0)))                                                  \
    F(select, KEEP(select(4, (fd_set *)b, NULL, NULL, &(struct timeval){0})))                      \
    F(epoll_ctl, KEEP(epoll_ctl(instance, EPOLL_CTL_MOD, ends[1], (struct epoll_event *)b)))       \
    F(epoll_wait, KEEP(epoll_wait(instance, (struct epoll_event *)b, 1, 0)))                       \
    F(waitpid, KEEP(waitpid(a_child(), (int *)b, 0)))                                              \
    F(sem_getvalue, KEEP(sem_getvalue(&semaphore, (int *)b)))                                      \
    F(pthread_create, KEEP(pthread_create((pthread_t *)b, NULL, no_thread, NULL)))                 \
    F(pthread_join, KEEP(pthread_join(a_thread(), (void **)b)))                                    \
    F(fread, KEEP(fread(b, 1, 64, text)))                                                          \
    F(fwrite, KEEP(fwrite(b, 1, 64, text)))                                                        \
    F(fgets, KEEP(fgets(b, 64, text)))                                                             \
    F(fputs, fputs(b, text))                                                                       \
    F(snprintf, snprintf(b, 64, "a longer text: %d", 5))                                           \
    F(snprintf_from, snprintf(m, 64, "%d %s", 5, b))                                               \
    F(fprintf_from, fprintf(text, "%d %s", 5, b))                                                  \
    F(asprintf, KEEP(asprintf((char **)b, "%d", 5)))                                               \
    F(asprintf_from, KEEP(asprintf(&rest, "%d %s", 5, b)))                                         \
    F(fread_unlocked, KEEP(fread_unlocked(b, 1, 64, text)))                                        \
    F(fwrite_unlocked, KEEP(fwrite_unlocked(b, 1, 64, text)))                                      \
    F(fgets_unlocked, KEEP(fgets_unlocked(b, 64, text)))                                           \
    F(fputs_unlocked, fputs_unlocked(b, text))

#define F(name, call) AT_##name,
enum { FUNCTIONS COUNT };
#undef F

static char buffers[COUNT][SIZE] __attribute__((aligned(64)));
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int locked, at = 3;

static void begin(void) {
    if (locked)
        pthread_mutex_lock(&lock);
}

static void end(void) {
    if (locked)
        pthread_mutex_unlock(&lock);
}

#define F(name, call)                                                                              \
    static void call_##name(char *b) {                                                             \
        static time_t moment = 86400;                                                              \
        static struct tm day = {.tm_mday = 1, .tm_wday = 1};                                       \
        char m[SIZE] = "a text that has thirty-six letters..", *rest = NULL, *rest_of = b;         \
        (void)moment, (void)day, (void)m, (void)rest, (void)rest_of;                               \
        rewind(text);                                                                              \
        begin();                                                                                   \
        call;                                                                                      \
        end();                                                                                     \
    }
FUNCTIONS
#undef F

static void *call_all(void *unused) {
#define F(name, call) call_##name(buffers[AT_##name]);
    FUNCTIONS
#undef F
    return unused;
}

static int with_numbers[] = {AT_atoi, AT_strtol, AT_strtoimax, AT_strtod, AT_atof};

static int place_in(int buffer) {
    for (size_t i = 0; i < sizeof with_numbers / sizeof *with_numbers; i++)
        if (with_numbers[i] == buffer)
            return at + 38;
    return at;
}

// Each at a place of its own in the code: a race is told once for two places.
static void *write_all(void *unused) {
#define F(name, call)                                                                              \
    begin();                                                                                       \
    buffers[AT_##name][place_in(AT_##name)] = 'x';                                                 \
    end();
    FUNCTIONS
#undef F
    return unused;
}

int main(int count, char **arguments) {
    pthread_t threads[2];
    locked = count > 1 && strcmp(arguments[1], "locked") == 0;
    if (count > 1 && strcmp(arguments[1], "apart") == 0)
        at = APART;
    text = tmpfile();
    for (int i = 0; i < 9; i++)
        fputs("0123456789 of some text\n", text);
    fflush(text);
    if (pipe(ends) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) || !text)
        return 1;
    for (int i = 0; i < COUNT; i++)
        strcpy(buffers[i], "a text that has thirty-six letters..");
    for (int i = 0; i < 4; i++)
        if (write(ends[1], buffers[0], 64) != 64)
            return 1;
    for (size_t i = 0; i < sizeof with_numbers / sizeof *with_numbers; i++)
        strcpy(buffers[with_numbers[i]] + 40, "12345 ");
    for (int i = AT_readv_parts; i <= AT_sendmsg_header; i++)
        memset(buffers[i], 0, 64); // nothing to read, write or send
    instance = epoll_create1(0);
    if (epoll_ctl(instance, EPOLL_CTL_ADD, ends[1], &(struct epoll_event){.events = EPOLLOUT}))
        return 1;
    *(struct epoll_event *)buffers[AT_epoll_ctl] = (struct epoll_event){.events = EPOLLOUT};
    sem_init(&semaphore, 0, 1);
#define F(name, call) printf("%s %p\n", #name, (void *)buffers[AT_##name]);
    FUNCTIONS
#undef F
    fflush(stdout);
    pthread_create(&threads[0], NULL, call_all, NULL);
    pthread_create(&threads[1], NULL, write_all, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
