#include "scheduling/parts/earliest_finish.hpp"

namespace trencadis {
namespace {
constexpr auto parameters = with_standards(earliest_finish_parameters, {{"order", "priority"}});
}

extern const SchedulerEntry scheduler_heft;
const SchedulerEntry scheduler_heft{
    {"heft", "each task where it ends first, longest path first", "Topcuoglu, Hariri, Wu 2002"},
    false,
    make_earliest_finish,
    parameters,
};

} // namespace trencadis
