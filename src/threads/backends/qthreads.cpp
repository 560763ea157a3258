#include "threads/backends/glt/plugin.hpp"

namespace trencadis {

extern const ThreadsEntry threads_qthreads;
const ThreadsEntry threads_qthreads{
    {"qthreads", "qthreads on shepherds", "Wheeler, Murphy, Thain 2008"},
    [] { return make_glt_threads(load_glt_plugin("qthreads")); },
    [] { return why_no_glt_plugin("qthreads"); },
};

} // namespace trencadis
