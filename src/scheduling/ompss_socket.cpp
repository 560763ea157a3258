#include "scheduling/parts/node_deques.hpp"

namespace trencadis {
namespace {
constexpr auto parameters = with_standards(node_deque_parameters, {{"place", "releaser"}, {"join", "no"}});
}

extern const SchedulerEntry scheduler_ompss_socket;
const SchedulerEntry scheduler_ompss_socket{
    {"ompss-socket", "preset of OmpSs: a deque per socket, own socket first", "Nanos++; Lima, Rais, Lefevre, Gautier 2019"},
    false,
    make_node_deques,
    parameters,
};

} // namespace trencadis
