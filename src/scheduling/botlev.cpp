#include "scheduling/parts/criticality.hpp"

namespace trencadis {
namespace {
constexpr auto parameters = with_standards(criticality_parameters, {{"stealing", "fast-from-slow"}, {"join", "no"}});
}

extern const SchedulerEntry scheduler_botlev;
const SchedulerEntry scheduler_botlev{
    {"botlev", "preset of Botlev-OmpSs: critical and non-critical queues by bottom level",
     "Chronaki et al. 2015; Costero et al. 2015"},
    false,
    make_criticality,
    parameters,
};

} // namespace trencadis
