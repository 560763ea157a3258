#include "base/error.hpp"
#include "base/registry.hpp"
#include "machine/machine.hpp"

#include <fmt/format.h>

#include <numeric>

namespace trencadis {

std::vector<int> cores_of_model(const Machine& machine, std::string_view model)
{
    if (model.empty()) {
        std::vector<int> all(machine.cores.size());
        std::iota(all.begin(), all.end(), 0);
        return all;
    }
    std::vector<std::string_view> names;
    for (const ExecutionModel& known : machine.models) {
        if (known.name == model) return known.cores;
        names.push_back(known.name);
    }
    if (names.empty())
        throw Error(
            ErrorCode::bad_argument,
            fmt::format("{} has no execution model '{}': it has none, all its cores are always awake", machine.name, model));
    throw Error(ErrorCode::bad_argument, unknown_name("execution model", model, names));
}

} // namespace trencadis
