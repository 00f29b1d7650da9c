// SPDX-License-Identifier: Apache-2.0
// Races whose consequences are known; the first argument says which.
#include <assert.h>
#include <eitherway.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *work(void *);

static void run(work *first, work *second) {
    pthread_t one, other;
    pthread_create(&one, NULL, first, NULL);
    pthread_create(&other, NULL, second, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}

static int counter, seen;
static void *add(void *unused) {
    counter++;
    return unused;
}

static void lost_update(void) {
    run(add, add);
    printf("%d\n", counter);
}

static void asserted(void) {
    run(add, add);
    assert(counter == 2);
}

static void *hold_invariant(void *unused) {
    int before = counter;
    counter = before + 1;
    EITHERWAY_INVARIANT(counter > before);
    return unused;
}
static void *reset(void *unused) {
    counter = 0;
    return unused;
}
static void invariant(void) {
    run(hold_invariant, reset);
}

static void unused_result(void) {
    run(add, add);
}

// What both print comes in any order.
static int lines;
static void *prints_one(void *unused) {
    lines++;
    puts("one");
    return unused;
}
static void *prints_two(void *unused) {
    lines++;
    puts("two");
    return unused;
}
static void counts_and_prints(void) {
    run(prints_one, prints_two);
}

// Bits come and go together: with one of them alone the other would crash.
static int none_or_five;
static void *set_five(void *unused) {
    none_or_five = 5;
    return unused;
}
static void *look_for_both(void *unused) {
    int seen = none_or_five;
    if (seen != 0 && seen != 5)
        abort();
    return unused;
}
static void two_of_many(void) {
    run(set_five, look_for_both);
}

static int table = 42, *made;
static void *make(void *unused) {
    made = &table;
    return unused;
}
static void *use(void *unused) {
    return *made == 42 ? unused : NULL;
}
static void order_assumed(void) {
    run(make, use);
}

// What only its thread has touched is known to others before it is whole.
static struct box {
    int filled, *values, others[8];
} *shown;
static void *show(void *unused) {
    struct box *box = calloc(1, sizeof *box);
    shown = box;
    box->filled = 1;
    box->values = &table;
    return unused;
}
static void *look_into(void *unused) {
    struct box *box = shown;
    if (box && box->filled)
        seen = *box->values;
    return unused;
}
static void shown_early(void) {
    run(show, look_into);
}

// The same without an access that races before: nothing is released.
static struct box *_Atomic handed;
static void *hand_over(void *unused) {
    struct box *box = calloc(1, sizeof *box);
    atomic_store_explicit(&handed, box, memory_order_relaxed);
    box->filled = 1;
    box->values = &table;
    return unused;
}
static void *take_over(void *unused) {
    struct box *box = atomic_load_explicit(&handed, memory_order_relaxed);
    if (box && box->filled)
        seen = *box->values;
    return unused;
}
static void handed_early(void) {
    run(hand_over, take_over);
}

static int same;
static void *set(void *unused) {
    same = 1;
    return unused;
}
static void redundant(void) {
    run(set, set);
    printf("%d\n", same);
}

static int done, result;
static void *produce(void *unused) {
    result = 42;
    done = 1;
    return unused;
}
static void *spin(void *unused) {
    while (!done) {
    }
    seen = result;
    return unused;
}
static void adhoc(void) {
    run(produce, spin);
    printf("%d\n", seen);
}

static void adhoc_started_first(void) {
    run(spin, produce);
    printf("%d\n", seen);
}

static void *look_thrice(void *unused) {
    for (int i = 0; i < 3 && !done; i++)
        sched_yield();
    return unused;
}
static char word[8];
static void *write_word(void *unused) {
    strcpy(word, "hello");
    return unused;
}
static void *measure_word(void *unused) {
    seen = strlen(word) > 5;
    return unused;
}
static void word_measured(void) {
    run(write_word, measure_word);
    printf("%d\n", seen);
}

static void gives_up(void) {
    run(look_thrice, produce);
}

static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
static int *shared_table, tables_made;
static void *get_table(void *unused) {
    if (!shared_table) {
        pthread_mutex_lock(&making);
        if (!shared_table) {
            tables_made++;
            shared_table = &table;
        }
        pthread_mutex_unlock(&making);
    }
    return *shared_table == 42 ? unused : NULL;
}
static void double_checked(void) {
    run(get_table, get_table);
    printf("%d\n", tables_made);
}

static int opened, entered;
static void *open_it(void *unused) {
    opened = 1;
    return unused;
}
static void *enter_if(int wanted) {
    if (opened == wanted) {
        pthread_mutex_lock(&making);
        entered += opened == wanted;
        pthread_mutex_unlock(&making);
    }
    return NULL;
}
static void *enter_if_open(void *unused) {
    (void)unused;
    return enter_if(1);
}
static void *enter_if_closed(void *unused) {
    (void)unused;
    return enter_if(0);
}
static void makes_sure_of_new(void) {
    run(open_it, enter_if_open);
}
static void makes_sure_in_vain(void) { // who opens does not take that lock
    run(open_it, enter_if_closed);
}

static void *look_long(void *unused) {
    for (int i = 0; i < 100000 && !done; i++) {
    }
    return unused;
}
static void gives_up_late(void) {
    run(look_long, produce);
}

static void *look_long_and_rely(void *unused) {
    look_long(NULL);
    assert(done);
    return unused;
}
static void relies_on_luck(void) {
    run(produce, look_long_and_rely);
}

static int hinted, hinted_seen;
static void *hint(void *unused) {
    hinted = 1;
    return produce(unused);
}
static void *see_and_rely(void *unused) {
    hinted_seen = hinted;
    return look_long_and_rely(unused);
}
static void relies_on_another(void) { // the hint does no harm
    run(hint, see_and_rely);
}

static void *count_until(void *unused) {
    for (long looks = 0; !done; looks++)
        seen = looks > 10;
    return unused;
}
static void counts_looks(void) {
    run(count_until, produce);
}

static struct {
    unsigned left : 4, right : 4;
} halves;
static void *set_left(void *unused) {
    halves.left = 5;
    return unused;
}
static unsigned word_of_bits;
static void *set_high_bit(void *unused) {
    word_of_bits |= 0x10;
    return unused;
}
static void *compare_all(void *unused) {
    unsigned bits = word_of_bits;
    if (bits & 1)
        puts(bits == 0x11 ? "both" : "one");
    return unused;
}
static void mixed_bits(void) { // one of which is not set here; if it were, the other would count
    run(set_high_bit, compare_all);
}

static unsigned right_seen;
static void *get_right(void *unused) {
    right_seen = halves.right;
    return unused;
}
static void disjoint_bits(void) {
    halves.right = 6;
    run(set_left, get_right);
    printf("%u\n", right_seen);
}

// A store to a bit-field keeps its neighbour; gcc loads that without telling.
static void *set_right(void *unused) {
    halves.right = 6;
    return unused;
}
static void lost_bits(void) {
    run(set_left, set_right);
    printf("%u %u\n", halves.left, halves.right);
}
static void unused_bits(void) {
    run(set_left, set_right);
}

// The fifteenth of 24 values does harm, and all else is the same.
static int nth;
static void *count_up(void *unused) {
    for (int i = 1; i <= 24; i++)
        nth = i;
    return unused;
}
static void *meet_fifteenth(void *unused) {
    seen = nth == 15;
    return unused;
}
static void one_of_many(void) {
    run(count_up, meet_fifteenth);
    printf("%d\n", seen);
}

// The first value that is stored is the one that was there.
static int level;
static volatile int looked;
static void *rise(void *unused) {
    for (int i = 0; i < 4; i++)
        level = i;
    return unused;
}
static void *look_at_level(void *unused) {
    for (int i = 0; i < 4; i++)
        looked = level;
    return unused;
}
static void rises(void) {
    run(look_at_level, rise);
}
static void *rise_once(void *unused) {
    for (int i = 0; i < 100; i++)
        level = i == 57;
    return unused;
}
static void *look_often(void *unused) {
    for (int i = 0; i < 100; i++)
        looked = level > 1;
    return unused;
}
static void rises_once(void) {
    run(look_often, rise_once);
}

// The reader comes first: only when it has seen the new low does the order of the high matter.
static int low, high = 10;
static void *read_both(void *unused) {
    int from = low;
    int to = high;
    assert(from <= to);
    return unused;
}
static void *move_both(void *unused) {
    low = 20;
    high = 30;
    return unused;
}
static void seen_before(void) {
    run(read_both, move_both);
}

static struct {
    int looks;
    char *label;
} *record;
static void *label(void *unused) {
    char *made = malloc(4);
    strcpy(made, "one");
    record->label = made;
    return unused;
}
static void *label_too(void *unused) {
    char *made = malloc(4);
    strcpy(made, "two");
    record->label = made;
    return unused;
}
static void last_label(void) {
    record = malloc(sizeof *record);
    run(label, label_too);
}

static int stage;
static void *advance(void *unused) {
    for (int i = 0; i < 6; i++)
        stage = i;
    return unused;
}
static void *meet(void *unused) {
    assert(stage != 4);
    return unused;
}
static void late_instance(void) {
    run(advance, meet);
}

static void *look(void *unused) {
    if (done)
        seen = result;
    return unused;
}
static void guarded(void) {
    run(produce, look);
}

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int turned;
static void both(pthread_mutex_t *first, pthread_mutex_t *second) {
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}
static void *turn(void *unused) {
    turned = 1;
    both(&b, &a);
    return unused;
}
static void *one_way(void *unused) {
    if (turned)
        both(&b, &a);
    else
        both(&a, &b);
    return unused;
}
static void deadlocks(void) {
    run(turn, one_way);
}

static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int ready;
static void *announce(void *unused) {
    ready = 1;
    pthread_cond_signal(&cond);
    return unused;
}
static void *await(void *unused) {
    pthread_mutex_lock(&a);
    if (!ready)
        pthread_cond_wait(&cond, &a);
    pthread_mutex_unlock(&a);
    return unused;
}
static void sleeps_on(void) {
    run(announce, await);
}

// Who comes too early ends it all, and has no last words.
static void *end_early(void *unused) {
    if (!ready)
        raise(SIGKILL);
    return unused;
}
static void kills_itself(void) {
    run(announce, end_early);
}
static void *end_all_early(void *unused) {
    if (!ready)
        kill(0, SIGKILL);
    return unused;
}
static void kills_its_group(void) {
    run(announce, end_all_early);
}

static int claimed, *block;
static void *claim(void *unused) {
    if (!claimed) {
        claimed = 1;
        free(block);
    }
    return unused;
}
static void frees_twice(void) {
    block = malloc(sizeof *block);
    run(claim, claim);
}

static int cached;
static int compute(void) {
    return 7;
}
static void *look_up(void *unused) {
    if (!cached)
        cached = compute();
    return unused;
}
static void computed_twice(void) {
    run(look_up, look_up);
    printf("%d\n", cached);
}

// Who looks too early looks for what never comes; one of them counts how often.
static volatile int never, looks;
static void *wait_on(void *unused) {
    if (!ready)
        while (!never)
            ;
    return unused;
}
static void spins_on(void) {
    run(announce, wait_on);
}

static void *count_looks(void *unused) {
    if (!ready)
        while (!never)
            looks++;
    return unused;
}
static void counts_on(void) {
    run(announce, count_looks);
}

// Who looks too early has much to do.
static int numbers[1000000];
static void *work_much(void *unused) {
    if (!ready)
        for (int i = 1; i < 1000000; i++)
            numbers[i] = numbers[i - 1] + looks;
    return unused;
}
static void works_on(void) {
    run(announce, work_much);
}

// Much comes first, with output on the way.
static volatile long much;
static void much_first(long steps) {
    printf("first\n");
    fflush(stdout);
    for (long i = 0; i < steps; i++)
        much++;
}
static void late_output(void) {
    much_first(20000);
    lost_update();
}
static void late_assertion(void) {
    much_first(2200000);
    asserted();
}

// Threads that print, in any order; whether one of them is counted nobody sees.
static void *say(void *words) {
    counter++;
    puts(words);
    return NULL;
}
static void prints_anyhow(void) {
    pthread_t threads[3];
    char *words[] = {"one", "two", "three"};
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, say, words[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

// Which line comes first is decided by the race.
static void *say_in_order(void *unused) {
    int seen = ready;
    puts(seen ? "one" : "two");
    puts(seen ? "two" : "one");
    return unused;
}
static void order_of_lines(void) {
    run(announce, say_in_order);
}

// The same, while the other thread speaks when it likes.
static void *speak_and_announce(void *unused) {
    puts("three");
    return announce(unused);
}
static void own_order(void) {
    run(speak_and_announce, say_in_order);
}

// The race decides a line behind two megabytes.
static void *say_much(void *unused) {
    int seen = ready;
    for (int i = 0; i < 150000; i++)
        puts("fifteen letters");
    puts(seen ? "one" : "two");
    return unused;
}
static void much_output(void) {
    run(announce, say_much);
}

// One store makes both: who does not see the first does not come to the second.
static struct {
    int made, size;
} parcel, whole = {1, 3};
static __attribute__((noinline)) void measure(void) {
    looked = parcel.size;
}
static void *unpack(void *unused) {
    if (!parcel.made)
        exit(3);
    measure();
    return unused;
}
static void *send(void *unused) {
    *(volatile __typeof__(whole) *)&parcel = whole;
    return unused;
}
static void sent_at_once(void) {
    run(send, unpack);
}

static const struct {
    const char *name;
    void (*function)(void);
} all[] = {
    {"lost_update", lost_update},
    {"asserted", asserted},
    {"invariant", invariant},
    {"unused_result", unused_result},
    {"counts_and_prints", counts_and_prints},
    {"two_of_many", two_of_many},
    {"order_assumed", order_assumed},
    {"shown_early", shown_early},
    {"handed_early", handed_early},
    {"redundant", redundant},
    {"late_instance", late_instance},
    {"double_checked", double_checked},
    {"disjoint_bits", disjoint_bits},
    {"lost_bits", lost_bits},
    {"unused_bits", unused_bits},
    {"one_of_many", one_of_many},
    {"rises", rises},
    {"seen_before", seen_before},
    {"sent_at_once", sent_at_once},
    {"last_label", last_label},
    {"adhoc", adhoc},
    {"adhoc_started_first", adhoc_started_first},
    {"word_measured", word_measured},
    {"gives_up", gives_up},
    {"gives_up_late", gives_up_late},
    {"relies_on_luck", relies_on_luck},
    {"relies_on_another", relies_on_another},
    {"mixed_bits", mixed_bits},
    {"counts_looks", counts_looks},
    {"makes_sure_of_new", makes_sure_of_new},
    {"makes_sure_in_vain", makes_sure_in_vain},
    {"rises_once", rises_once},
    {"guarded", guarded},
    {"deadlocks", deadlocks},
    {"sleeps_on", sleeps_on},
    {"kills_itself", kills_itself},
    {"kills_its_group", kills_its_group},
    {"frees_twice", frees_twice},
    {"computed_twice", computed_twice},
    {"prints_anyhow", prints_anyhow},
    {"order_of_lines", order_of_lines},
    {"own_order", own_order},
    {"much_output", much_output},
    {"spins_on", spins_on},
    {"counts_on", counts_on},
    {"works_on", works_on},
    {"late_output", late_output},
    {"late_assertion", late_assertion},
};

int main(int count, char **arguments) {
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (count == 2 && strcmp(arguments[1], all[i].name) == 0) {
            all[i].function();
            return 0;
        }
    return 64;
}
