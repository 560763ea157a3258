#include "scheduling/parts/central.hpp"

namespace trencadis {
namespace {
constexpr auto parameters = with_standards(central_parameters, {{"order", "oldest"}, {"join", "no"}});
}

extern const SchedulerEntry scheduler_ompss_bf;
const SchedulerEntry scheduler_ompss_bf{
    {"ompss-bf", "preset of OmpSs: one breadth-first queue", "Nanos++; Lima, Rais, Lefevre, Gautier 2019"},
    false,
    make_central,
    parameters,
};

} // namespace trencadis
