#include "scheduling/parts/stealing.hpp"

namespace trencadis {
namespace {
constexpr auto parameters = with_standards(stealing_parameters, {{"victims", "near"}, {"affinity", "data"}, {"join", "no"}});
}

extern const SchedulerEntry scheduler_xkaapi;
const SchedulerEntry scheduler_xkaapi{
    {"xkaapi", "preset of XKaapi: dependences found at steal, T.H.E. deques, combined requests, memory nodes",
     "Gautier et al. 2013; Lima, Rais, Lefevre, Gautier 2019"},
    true,
    make_the,
    parameters,
    {.discovery = Discovery::at_steal},
};

} // namespace trencadis
