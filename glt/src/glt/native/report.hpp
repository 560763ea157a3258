#pragma once
#ifndef GLT_STATIC
#define GLT_STATIC native
#endif
#include "trencadis/glt.h"

#include <cstddef>

namespace trencadis::ult {

/// The one place errors go through: keeps the text for glt_last_message, hands it to the handler, answers with `status`.
[[gnu::cold, gnu::format(printf, 2, 3)]] int report(int status, const char* format, ...);

/// What glt_init_with was given, completed by the environment and the processors of this process.
struct Settings {
    int threads;
    std::size_t stack_size;
    int idle;
    bool bind;
    int cpus;
    int cpu[GLT_MAX_THREADS];
};
/// GLT_SUCCESS, or the status of what was reported.
int resolve(const GLT_options* options, Settings& settings);

} // namespace trencadis::ult
