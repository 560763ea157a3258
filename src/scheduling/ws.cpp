#include "scheduling/parts/stealing.hpp"

namespace trencadis {

extern const SchedulerEntry scheduler_ws;
const SchedulerEntry scheduler_ws{
    {"ws", "work stealing, a deque per worker: lock-free, or locked and bounded as options",
     "Blumofe, Leiserson 1999; Chase, Lev 2005"},
    true,
    make_ws,
    ws_parameters,
};

} // namespace trencadis
