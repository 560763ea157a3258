#include "scheduling/parts/stealing.hpp"

namespace trencadis {
namespace {
constexpr auto parameters = with_standards(stealing_parameters, {{"victims", "near"}, {"affinity", "data"}, {"join", "no"}});
}

extern const SchedulerEntry scheduler_libkomp;
const SchedulerEntry scheduler_libkomp{
    {"libkomp", "preset of libKOMP: growing table of dependences, unbounded T.H.E. deques, combined requests, memory nodes",
     "Lima, Rais, Lefevre, Gautier 2019"},
    true,
    make_the,
    parameters,
};

} // namespace trencadis
