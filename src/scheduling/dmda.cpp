#include "scheduling/parts/earliest_finish.hpp"

namespace trencadis {

extern const SchedulerEntry scheduler_dmda;
const SchedulerEntry scheduler_dmda{
    {"dmda", "each task where it ends first, transfers counted", "StarPU's dmda; Augonnet et al. 2011"},
    false,
    make_earliest_finish,
    earliest_finish_parameters,
};

} // namespace trencadis
