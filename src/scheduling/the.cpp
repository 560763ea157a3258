#include "scheduling/parts/stealing.hpp"

namespace trencadis {

extern const SchedulerEntry scheduler_the;
const SchedulerEntry scheduler_the{
    {"the", "work stealing, T.H.E. deques, one thief serves all requests that wait at a victim",
     "Frigo, Leiserson, Randall 1998; Gautier et al. 2013"},
    true,
    make_the,
    stealing_parameters,
};

} // namespace trencadis
