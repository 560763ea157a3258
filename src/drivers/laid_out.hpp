#pragma once
#include "algorithms/forms/form.hpp"
#include "drivers/routine.hpp"

#include <initializer_list>
#include <memory>

namespace trencadis {

/// The form that a call takes: the one that it asks for, which check_options has found, or the first whose kernels the crew has.
/// Throws Error{bad_argument} when the caller asked for one that stands for our own kernels and the crew's are somebody else's.
const Form& form_for(const Crew& crew, forms::Forms all, const RoutineOptions& options);
/// Are the kernels our own that a form stands for? The diagonal tiles of a factorization are anybody's.
bool can_run(const Crew& crew, const Form& form);

/// A call whose operands are the caller's, and the tile size that it has got.
struct LaidOut {
    std::unique_ptr<Layout> layout;
    Index nb;

    /// The outcome.
    Index run(Crew& crew, const RoutineOptions& options) const
    {
        return run_routine(crew, options, [&](Flow& flow) { layout->submit(flow); });
    }
};
LaidOut lay_out(const Crew& crew, forms::Forms all, const RoutineOptions& options, Problem problem, int precision,
                std::size_t element_bytes, std::span<const Place::Operand> operands);

/// Lays a call out: `problem` has the extents, the rest follows from the options and the crew. Where there is no memory for the
/// form's images and the caller left the choice, the first form is taken that needs none.
template <Scalar T>
LaidOut lay_out(const Crew& crew, forms::Forms all, const RoutineOptions& options, const Problem& problem,
                std::initializer_list<Place::Operand> operands)
{
    return lay_out(crew, all, options, problem, layout_of_precision<T>, sizeof(T), std::span(operands.begin(), operands.size()));
}

} // namespace trencadis
