#include "scheduling/parts/locality.hpp"

namespace trencadis {

extern const SchedulerEntry scheduler_h1;
const SchedulerEntry scheduler_h1{
    {"h1", "mailboxes: a task goes where most valid bytes of its operands are; real and simulated machines with several memories",
     "Lima, Gautier et al. 2013, H1"},
    false,
    make_most_bytes,
    locality_parameters,
    {},
    "locality-default",
};

} // namespace trencadis
