#include "scheduling/parts/stealing.hpp"

namespace trencadis {
namespace {
/// 256 tasks in a deque and 997 lists in the table of dependences, as in the library's source at the time.
constexpr auto parameters = with_standards(ws_parameters, {{"deque", "locked"}, {"bound", "256"}, {"join", "no"}});
} // namespace

extern const SchedulerEntry scheduler_libomp;
const SchedulerEntry scheduler_libomp{
    {"libomp", "preset of LLVM: locked bounded deques, a full one makes creation execute inline",
     "libomp; Lima, Rais, Lefevre, Gautier 2019"},
    true,
    make_ws,
    parameters,
    {.buckets = 997},
};

} // namespace trencadis
