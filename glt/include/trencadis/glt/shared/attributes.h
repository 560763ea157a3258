/* What can be wrong with GLT_attributes whatever the back end is: one check for the dynamic form, ours and all others. Threads
 * are checked where units without attributes find theirs. Included after the types of glt.h. */
#ifndef GLT_SHARED_ATTRIBUTES_H
#define GLT_SHARED_ATTRIBUTES_H

#include <stdint.h>
#include <stdio.h>

/* Is it wrong? Then says what, in `text`. A tasklet has no stack; `largest` is the largest one that the back end can make. */
__attribute__((cold, noinline, unused)) static int glt_shared_wrong_attributes(const GLT_attributes* attributes, int tasklet,
                                                                               size_t largest, char* text, size_t size)
{
    if (attributes->placement != GLT_PLACE_HINT && attributes->placement != GLT_PLACE_STRICT)
        return snprintf(text, size, "placement %d is neither GLT_PLACE_HINT (0) nor GLT_PLACE_STRICT (1)", attributes->placement);
    if (attributes->placement == GLT_PLACE_STRICT && attributes->thread == GLT_ANY_THREAD)
        return snprintf(text, size, "GLT_PLACE_STRICT needs a thread, not GLT_ANY_THREAD");
    if (tasklet || attributes->stack_size == 0) return 0;
    if (attributes->stack_size < GLT_STACK_MIN)
        return snprintf(text, size, "a stack of %zu bytes is too small; at least %zu, or 0 for the standard size",
                        attributes->stack_size, (size_t)GLT_STACK_MIN);
    if (attributes->stack_size > largest)
        return snprintf(text, size, "a stack of %zu bytes is too large; at most %zu, or 0 for the standard size",
                        attributes->stack_size, largest);
    return 0;
}

#endif
