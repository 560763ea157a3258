#include "drivers/laid_out.hpp"

#include "algorithms/graphs.hpp"

#include <algorithm>
#include <string>

namespace trencadis {
namespace {

/// Images are for our own kernels on cores; wherever they are, there is a form without.
bool leaves_devices_out(const Crew& crew, const Form& form)
{
    return form.packs_images && !form.own.empty() && crew.has_devices();
}

void require_kernels(const Crew& crew, const Form& form)
{
    if (can_run(crew, form)) return;
    if (leaves_devices_out(crew, form))
        throw Error(ErrorCode::bad_argument, "variant '" + std::string(form.name) +
                                                 "' packs images for the kernels of cores, and devices take part in this "
                                                 "session; leave out the one or the other");
    std::string needed;
    for (const KernelRoutine k : form.own) needed.append(needed.empty() ? "" : ", ").append(kernel_routine_names[std::size_t(k)]);
    throw Error(ErrorCode::bad_argument, "variant '" + std::string(form.name) + "' needs the kernels 'native' for " + needed +
                                             "; this session's are '" + crew.kernels().name() + "'");
}

void fill_in(Problem& problem, const Form& form, const Crew& crew, const RoutineOptions& options, std::size_t element_bytes)
{
    problem.workers = crew.workers();
    problem.nb = options.nb;
    if (form.cuts) return;
    const Index nb = options.nb ? options.nb : form.tile(problem.m, problem.n, element_bytes, crew.workers());
    problem.nb = std::clamp<Index>(nb, 1, std::max<Index>({problem.m, problem.n, 1}));
    problem.inner = default_inner(form, problem.nb);
    if (problem.rhs_nb == 0) problem.rhs_nb = rhs_tile(crew, problem.nb, problem.nrhs, options);
}

} // namespace

bool can_run(const Crew& crew, const Form& form)
{
    if (leaves_devices_out(crew, form)) return false;
    return std::all_of(form.own.begin(), form.own.end(), [&](KernelRoutine k) { return crew.kernels().native(k); });
}

const Form& form_for(const Crew& crew, forms::Forms all, const RoutineOptions& options)
{
    const bool asked = !options.variant.empty();
    const auto form = std::find_if(all.begin(), all.end(), [&](const Form& one) {
        return one.called && (asked ? one.name == options.variant : can_run(crew, one));
    });
    require_kernels(crew, *form);
    return *form;
}

const Form& plain_form(forms::Forms all)
{
    return *std::find_if(all.begin(), all.end(), [](const Form& form) { return form.called && form.own.empty(); });
}

void LaidOut::lay(const Crew& crew, const Form& form, const RoutineOptions& options, Problem problem, Scalars of,
                  Operands operands)
{
    fill_in(problem, form, crew, options, of.bytes);
    Place memory(operands);
    form.lay[of.precision](layout_, memory, problem);
}

LaidOut::LaidOut(const Crew& crew, const Form& form, const RoutineOptions& options, Problem problem, Scalars of,
                 Operands operands)
{
    lay(crew, form, options, problem, of, operands);
}

LaidOut::LaidOut(const Crew& crew, forms::Forms all, const RoutineOptions& options, Problem problem, Scalars of,
                 Operands operands)
{
    for (const Form* form = &form_for(crew, all, options);; form = &plain_form(all)) try {
            lay(crew, *form, options, problem, of, operands);
            return;
        } catch (const Error& failure) {
            const bool may_be_another = options.variant.empty() && !form->own.empty();
            if (failure.code() != ErrorCode::out_of_memory || !may_be_another) throw;
        }
}

} // namespace trencadis
