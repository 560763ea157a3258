/* How many instructions a call takes: build/bin/glt_calls... runs each call of its list many times, and tells callgrind when.
 * Two lengths per call, whose difference knows nothing of what is before and after the loop. callgrind.py starts it and reads
 * the counts.
 *
 * A list holds CALL(name, before, call, after) with the same names for all contestants; what a library lacks is not in its
 * list. */
#include "face.h"
#include "program.h"

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_ZERO_STATS
#define CALLGRIND_DUMP_STATS_AT(name) (void)(name)
#endif

static LWT_RESULT nothing(void* argument)
{
    (void)argument;
    LWT_RETURN;
}

__attribute__((unused)) static void no_destructor(void* value) { (void)value; }

/* Nothing that a call has stored or returned is known to the compiler at the next one. */
#define CALL(name, before, call, after)                                                                                          \
    static void call_##name(long times)                                                                                          \
    {                                                                                                                            \
        before;                                                                                                                  \
        for (long i = 0; i < times; ++i) {                                                                                       \
            call;                                                                                                                \
            __asm__ volatile("" ::: "memory");                                                                                   \
        }                                                                                                                        \
        after;                                                                                                                   \
    }
#ifdef LWT_DIRECT
/* clang-format off */
#define LWT_LIST(library) LWT_TEXT(calls/library.def)
/* clang-format on */
#include LWT_LIST(LWT_DIRECT)
#else
#include "calls/glt.def"
#endif
#undef CALL

static const struct Call {
    const char* name;
    void (*function)(long times);
} calls[] = {
#define CALL(name, before, call, after) {#name, call_##name},
#ifdef LWT_DIRECT
#include LWT_LIST(LWT_DIRECT)
#else
#include "calls/glt.def"
#endif
#undef CALL
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

int main(int argc, char** argv)
{
    long times = 1000;
    const ProgramOption options[] = {{"--times", &times, 1, 1000000000}, {NULL, NULL, 0, 0}};
    const char* word = NULL;
    program_begin(argv);
    program_arguments(argc, argv, "all|CALL [--times N]", options, 1, &word);
    if (lwt_begin(1) != 0) program_fail(EXIT_WRONG, "%s does not start with one thread", LWT_FORM);
    int found = 0;
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
