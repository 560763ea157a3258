/* How many instructions a call takes: build/bin/glt_calls... runs each call of its lists many times, and tells callgrind when.
 * Two lengths per call, whose difference knows nothing of what is before and after the loop. callgrind.py starts it and reads
 * the counts.
 *
 * A list holds CALL(name, before, call, after) with the same names for all contestants; what a library lacks is not in its
 * list. The header-only programs also hold the list of the library under them (LWT_INSIDE): the same calls to it with no GLT
 * between, while GLT's schedulers and hooks run it. That tells a wrapper's cost from that of the runtime around it. */
#include "face.h"
#include "program.h"

/* clang-format off */
#define LWT_LIST(library) LWT_TEXT(calls/library.def)
/* clang-format on */
#ifdef LWT_DIRECT
#define LWT_OWN_LIST LWT_LIST(LWT_DIRECT)
#else
#define LWT_OWN_LIST "calls/glt.def"
#endif
#ifdef LWT_INSIDE
#include LWT_LIST(LWT_INSIDE)
#endif

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_ZERO_STATS
#define CALLGRIND_DUMP_STATS_AT(name) (void)(name)
#define CALLGRIND_TOGGLE_COLLECT
#endif

enum { BATCH = 20, STARTS = 3 };

static LWT_RESULT nothing(void* argument)
{
    (void)argument;
    LWT_RETURN;
}

static void batch_of_ults(LwtBatch* batch)
{
    lwt_batch_expect(batch, BATCH);
    for (int i = 0; i < BATCH; ++i) lwt_batch_ult(batch, i, nothing);
    lwt_batch_join_ults(batch, BATCH);
}

static void batch_of_tasklets(LwtBatch* batch)
{
    lwt_batch_expect(batch, BATCH);
    for (int i = 0; i < BATCH; ++i) lwt_batch_tasklet(batch, i, nothing);
    lwt_batch_join_tasklets(batch, BATCH);
}

/* What creating takes without joining: the units run and end while nothing is counted. */
static LwtUlt* ults_for(long times)
{
    LwtUlt* ults;
    CALLGRIND_TOGGLE_COLLECT;
    ults = (LwtUlt*)calloc((size_t)times, sizeof *ults);
    if (!ults) program_fail(EXIT_WRONG, "no memory for %ld units", times);
    CALLGRIND_TOGGLE_COLLECT;
    return ults;
}

static void join_uncounted(LwtUlt* ults, long times)
{
    CALLGRIND_TOGGLE_COLLECT;
    for (long i = 0; i < times; ++i) lwt_ult_join(&ults[i]);
    free(ults);
    CALLGRIND_TOGGLE_COLLECT;
}

__attribute__((unused)) static void no_destructor(void* value) { (void)value; }

/* Nothing that a call has stored or returned is known to the compiler at the next one. */
#define LWT_LOOP(function, before, call, after)                                                                                  \
    static void function(long times)                                                                                             \
    {                                                                                                                            \
        before;                                                                                                                  \
        for (long i = 0; i < times; ++i) {                                                                                       \
            call;                                                                                                                \
            __asm__ volatile("" ::: "memory");                                                                                   \
        }                                                                                                                        \
        after;                                                                                                                   \
    }
#define CALL(name, before, call, after) LWT_LOOP(call_##name, before, call, after)
#include LWT_OWN_LIST
#include "calls/units.def"
#undef CALL
#ifdef LWT_INSIDE
#define CALL(name, before, call, after) LWT_LOOP(inside_##name, before, call, after)
#include LWT_LIST(LWT_INSIDE)
#undef CALL
#endif

static const struct Call {
    const char* name;
    void (*function)(long times);
} calls[] = {
#define CALL(name, before, call, after) {#name, call_##name},
#include LWT_OWN_LIST
#include "calls/units.def"
#undef CALL
#ifdef LWT_INSIDE
#define CALL(name, before, call, after) {"inside_" #name, inside_##name},
#include LWT_LIST(LWT_INSIDE)
#undef CALL
#endif
};
enum { CALLS = sizeof calls / sizeof calls[0] };

static void count(const struct Call* call, long times)
{
    char name[64];
    snprintf(name, sizeof name, "%s*%ld", call->name, times);
    CALLGRIND_ZERO_STATS;
    call->function(times);
    CALLGRIND_DUMP_STATS_AT(name);
}

static void start_and_end(long times)
{
    for (long i = 0; i < times; ++i) {
        if (lwt_begin(1) != 0) program_fail(EXIT_WRONG, "%s does not start with one thread", LWT_FORM);
        lwt_end();
    }
}
static const struct Call init = {"init_finalize", start_and_end};

int main(int argc, char** argv)
{
    long times = 1000;
    const ProgramOption options[] = {{"--times", &times, 1, 1000000000}, {NULL, NULL, 0, 0}};
    const char* word = NULL;
    program_begin(argv);
    program_arguments(argc, argv, "all|CALL [--times N]", options, 1, &word);
    int found = 0;
    if (strcmp(word, "all") == 0 || strcmp(word, init.name) == 0) {
        start_and_end(1);
        count(&init, STARTS);
        count(&init, 3 * STARTS);
        ++found;
    }
    if (lwt_begin(1) != 0) program_fail(EXIT_WRONG, "%s does not start with one thread", LWT_FORM);
    for (int i = 0; i < CALLS; ++i)
        if (strcmp(word, "all") == 0 || strcmp(word, calls[i].name) == 0) {
            calls[i].function(times); /* first use of pools and of the dynamic linker */
            count(&calls[i], times);
            count(&calls[i], 3 * times);
            ++found;
        }
    if (found == 0) program_fail(EXIT_USAGE, "there is no call '%s'", word);
    printf("library=%s form=%s calls=%d\n", LWT_LIBRARY, LWT_FORM, found);
    lwt_end();
    return 0;
}
