// What all back ends share (errors, options, the clock), bridged into the native library. The variables behind it are this
// library's own: hidden, or a program with several back ends in it would have one error handler for all.
#define GLT_STATIC native
#define GLT_STATIC_HIDDEN
#define TRENCADIS_GLT_NATIVE_FUNCTIONS_H // this file defines what that header would forward to
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include "trencadis/glt.h"
#pragma GCC diagnostic pop
#include "trencadis/glt/native/library.h"

GLT_API int glt_can(int capability) { return glt_native_can(capability); }
GLT_API int glt_initialized(void) { return glt_native_initialized(); }
GLT_API int glt_init_with(const GLT_options* options) { return glt_native_init_with(options); }

// The system's names stay as they are.
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <sys/syscall.h>
#include <sys/uio.h>

#pragma GCC visibility push(hidden)
#include "trencadis/glt/shared/environment.h"
#include "trencadis/glt/shared/plain.h"
#include "trencadis/glt/shared/status.h"
#pragma GCC visibility pop

#include "glt/native/report.hpp"

#include <algorithm>
#include <memory>

namespace trencadis::ult {

int report(int status, const char* format, ...)
{
    char text[sizeof glt_shared_last.message];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    return glt_shared_report(status, "%s", text);
}

int resolve(const GLT_options* options, Settings& settings)
{
    const auto found = std::make_unique<glt_shared_environment>();
    const int status = glt_shared_resolve("glt_init", "native", options, found.get());
    if (status != GLT_SUCCESS) return status;
    settings.threads = found->num_threads;
    settings.stack_size = found->stack_size;
    settings.idle = found->idle;
    settings.bind = found->bind != 0;
    settings.cpus = found->num_cpus;
    std::copy_n(found->cpu, found->num_cpus, settings.cpu);
    return GLT_SUCCESS;
}

} // namespace trencadis::ult

extern "C" {
int glt_native_last_status(void) { return glt_last_status(); }
const char* glt_native_last_message(void) { return glt_last_message(); }
const char* glt_native_status_text(int status) { return glt_status_text(status); }
void glt_native_set_error_handler(void (*handler)(int, const char*)) { glt_set_error_handler(handler); }
GLT_ult* glt_native_ult_malloc(int number) { return glt_ult_malloc(number); }
GLT_tasklet* glt_native_tasklet_malloc(int number) { return glt_tasklet_malloc(number); }
void glt_native_init(int argc, char* argv[]) { glt_init(argc, argv); }
double glt_native_get_wtime(void) { return glt_shared_now(); }
int glt_native_can_event_functions(void) { return glt_can_event_functions(); }
int glt_native_can_future_functions(void) { return glt_can_future_functions(); }
int glt_native_can_manage_scheduler(void) { return glt_can_manage_scheduler(); }
int glt_native_can_scheduler(void) { return glt_can_scheduler(); }
int glt_native_can_malleability(void) { return glt_can_malleability(); }
}
