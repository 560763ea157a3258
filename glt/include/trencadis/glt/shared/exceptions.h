/* The exceptions that a unit is handling. The C++ runtime keeps them per operating system thread; a unit that leaves its thread
 * takes its own along and leaves none, so that whoever runs next, a new unit too, begins without any. A program without the C++
 * runtime has none to keep. */
#ifndef TRENCADIS_GLT_SHARED_EXCEPTIONS_H
#define TRENCADIS_GLT_SHARED_EXCEPTIONS_H

#include "system.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As the C++ ABI for Itanium has it: the innermost one caught, and how many are on their way. */
struct glt_shared_exceptions {
    void* caught;
    unsigned uncaught;
};

/* __cxa_get_globals, under a name of ours: <cxxabi.h> promises that it always answers the same, which is not so over a switch. A
 * plug-in brings the C++ runtime along; a weak name would not find one that only a library of the program's loads. */
#ifdef TRENCADIS_GLT_TABLE_H
extern struct glt_shared_exceptions* glt_shared_exceptions_here(void) __asm__("__cxa_get_globals");
#define GLT_SHARED_HAS_EXCEPTIONS 1
#else
extern struct glt_shared_exceptions* glt_shared_exceptions_here(void) __asm__("__cxa_get_globals") __attribute__((weak));
#define GLT_SHARED_HAS_EXCEPTIONS (glt_shared_exceptions_here != NULL)
#endif

/* Before the calling unit may leave its thread. */
static inline struct glt_shared_exceptions glt_shared_exceptions_take(void)
{
    struct glt_shared_exceptions none = {0, 0}, mine = none;
    if (GLT_SHARED_HAS_EXCEPTIONS) {
        struct glt_shared_exceptions* here = glt_shared_exceptions_here();
        mine = *here;
        if (__builtin_expect(mine.caught || mine.uncaught, 0)) *here = none;
    }
    return mine;
}

/* After it came back, on whichever thread. */
static inline void glt_shared_exceptions_put(struct glt_shared_exceptions mine)
{
    if (__builtin_expect(mine.caught || mine.uncaught, 0)) *glt_shared_exceptions_here() = mine;
}

/* A statement in which the calling unit may leave its thread. */
#define GLT_SHARED_SWITCH(statement)                                                                                             \
    do {                                                                                                                         \
        struct glt_shared_exceptions glt_mine = glt_shared_exceptions_take();                                                    \
        statement;                                                                                                               \
        glt_shared_exceptions_put(glt_mine);                                                                                     \
    } while (0)

#ifdef __cplusplus
}
#endif

#endif
