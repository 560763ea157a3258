#include "threads/backends/glt/plugin.hpp"

namespace trencadis {

extern const ThreadsEntry threads_argobots;
const ThreadsEntry threads_argobots{
    {"argobots", "ULTs of Argobots on its execution streams", "Seo et al. 2018"},
    [] { return make_glt_threads(load_glt_plugin("argobots")); },
    [] { return why_no_glt_plugin("argobots"); },
};

} // namespace trencadis
