#pragma once
#include "machine/machine.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trencadis {

/// Which of a machine's cores and devices are workers.
struct ChosenUnits {
    std::vector<int> cores;   ///< indices into Machine::cores, in the order of the workers
    std::vector<int> devices; ///< indices into Machine::devices
};

/// Reads words as SimulationRequest::workers has them. Throws Error{bad_argument} with what would be right.
ChosenUnits choose_units(const Machine& machine, std::span<const std::string> words);

/// The machine with only the cores that are awake in an execution model.
Machine awake_part(Machine machine, std::string_view model);

} // namespace trencadis
