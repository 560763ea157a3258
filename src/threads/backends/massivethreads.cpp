#include "threads/backends/glt/plugin.hpp"

namespace trencadis {

extern const ThreadsEntry threads_massivethreads;
const ThreadsEntry threads_massivethreads{
    {"massivethreads", "threads of MassiveThreads on its workers", "Nakashima, Taura 2014"},
    [] { return make_glt_threads(load_glt_plugin("massivethreads")); },
    [] { return why_no_glt_plugin("massivethreads"); },
};

} // namespace trencadis
