#pragma once
#include "drivers/laid_out.hpp"

#include <initializer_list>

namespace trencadis {

/// Runs a product of general operands by memory nodes, if the caller asks for the variant 'nodes', or leaves the choice, there
/// are several and the size is above the threshold of nodes_pay, and there is memory for the images. Returns whether it has been
/// done; otherwise nothing has been touched. Counts what each node reads and writes where the crew does. Throws
/// Error{bad_argument} where tasks of several nodes cannot be kept to them, and as form_for.
template <Scalar T>
bool runs_by_nodes(Crew& crew, const RoutineOptions& options, Problem problem, std::initializer_list<Place::Operand> operands);

} // namespace trencadis
