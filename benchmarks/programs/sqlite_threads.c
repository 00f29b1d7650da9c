// SPDX-License-Identifier: Apache-2.0
// SQLite with four threads: FILE ROUNDS. Each thread has a connection of its own, first to a file
// in WAL mode, then to one cache in memory that all share. A round is a transaction that inserts a
// row and adds one to a counter, and a read that must see both or neither. What is printed does not
// depend on the order of the threads.
#include "sqlite3.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, PATIENCE_MS = 600000 };
static const char *name;
static int rounds;

static void fail(sqlite3 *base, const char *what) {
    fprintf(stderr, "sqlite_threads: %s: %s\n", what, sqlite3_errmsg(base));
    exit(1);
}

static sqlite3 *opened(void) {
    sqlite3 *base;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI;
    if (sqlite3_open_v2(name, &base, flags, NULL))
        fail(base, name);
    sqlite3_busy_timeout(base, PATIENCE_MS);
    return base;
}

// A shared cache does not wait: whoever finds a table locked tries again.
static void execute(sqlite3 *base, const char *sql) {
    int result;
    while ((result = sqlite3_exec(base, sql, NULL, NULL, NULL)) == SQLITE_LOCKED)
        sched_yield();
    if (result)
        fail(base, sql);
}

static int ask(sqlite3 *base, const char *sql, char *answer, int room) {
    sqlite3_stmt *statement = NULL;
    int result;
    while ((result = sqlite3_prepare_v2(base, sql, -1, &statement, NULL)) == SQLITE_LOCKED)
        sched_yield();
    while (!result && (result = sqlite3_step(statement)) == SQLITE_LOCKED) {
        sqlite3_reset(statement);
        sched_yield();
        result = SQLITE_OK;
    }
    if (result != SQLITE_ROW)
        fail(base, sql);
    snprintf(answer, (size_t)room, "%s", (const char *)sqlite3_column_text(statement, 0));
    return sqlite3_finalize(statement);
}

static void one_round(sqlite3 *base, long me, int round) {
    char sql[128], same[8];
    execute(base, "BEGIN IMMEDIATE");
    snprintf(sql, sizeof sql, "INSERT INTO rows(writer, round) VALUES (%ld, %d)", me, round);
    execute(base, sql);
    execute(base, "UPDATE total SET count = count + 1");
    execute(base, "COMMIT");
    ask(base, "SELECT (SELECT max(id) FROM rows) = (SELECT count FROM total)", same, sizeof same);
    if (same[0] != '1')
        fail(base, "half of a transaction was seen");
}

static void *work(void *argument) {
    sqlite3 *base = opened();
    for (int round = 0; round < rounds; round++)
        one_round(base, (long)argument, round);
    sqlite3_close(base);
    return NULL;
}

static void tell(sqlite3 *base, const char *kind) {
    char rows[32], count[32], whole[64];
    ask(base, "SELECT count(*) FROM rows", rows, sizeof rows);
    ask(base, "SELECT count FROM total", count, sizeof count);
    ask(base, "PRAGMA integrity_check", whole, sizeof whole);
    printf("%s %s %s %s\n", kind, rows, count, whole);
}

static void all_threads(const char *kind, const char *setting) {
    pthread_t threads[THREADS];
    sqlite3 *base = opened();
    execute(base, setting);
    execute(base, "CREATE TABLE rows(id INTEGER PRIMARY KEY, writer, round)");
    execute(base, "CREATE TABLE total(count)");
    execute(base, "INSERT INTO total VALUES (0)");
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    tell(base, kind);
    sqlite3_close(base);
}

int main(int count, char **arguments) {
    if (count != 3)
        return 2;
    rounds = atoi(arguments[2]);
    name = arguments[1];
    all_threads("file", "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF");
    name = "file:shared?mode=memory&cache=shared";
    all_threads("memory", "PRAGMA synchronous = OFF");
    return 0;
}
