#include "drivers/routine.hpp"

#include "algorithms/routines.hpp"
#include "algorithms/tile_size.hpp"
#include "blas/level3/by_halves.hpp"
#include "blas/level3/vector_product.hpp"
#include "blas/level3/vector_solve.hpp"
#include "drivers/device_room.hpp"
#include "drivers/laid_out.hpp"
#include "matrix/work_memory.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace trencadis {

namespace {

[[noreturn]] void refuse_tile(Index nb, const char* right)
{
    throw Error(ErrorCode::bad_argument, 0, "nb is " + std::to_string(nb) + ", must be " + right);
}

/// Work areas shrink to less than this where they must, and no further.
bool has_room_for(int workers)
{
    constexpr std::size_t each = std::size_t(4) << 20;
    return WorkMemory::leaves_room(std::size_t(workers) * each);
}

} // namespace

std::vector<std::string_view> variants_of(std::string_view routine) { return called_forms(find_routine(routine)); }

std::string_view default_variant(const Crew& crew, std::string_view routine)
{
    return form_for(crew, find_routine(routine).forms(), {}).name;
}

TakenVariant last_variant(const Crew& crew, std::string_view routine)
{
    const forms::Forms all = find_routine(routine).forms();
    TakenVariant last{form_for(crew, all, {}, false).name};
    std::int64_t latest = 0;
    for (const Form& form : all) {
        const Crew::FormTaken taken = crew.taken(form);
        if (taken.when <= latest) continue;
        latest = taken.when;
        last = {form.name, taken.nb};
    }
    return last;
}

Index default_tile(std::string_view routine, std::string_view variant, Index n, std::size_t element_bytes, int workers,
                   Bytes device_bytes)
{
    return tile_of(find_form(find_routine(routine), variant), n, element_bytes, Cutters{workers, device_bytes});
}

const Form* check_options(std::string_view routine, const RoutineOptions& options)
{
    if (options.nb < 0) refuse_tile(options.nb, "at least 1, or 0 to have it chosen");
    if (options.nb > std::numeric_limits<std::int32_t>::max()) refuse_tile(options.nb, "below 2^31: no tile is larger");
    return options.variant.empty() ? nullptr : &find_form(find_routine(routine), options.variant);
}

void require_lapack_layout(const Form* asked)
{
    if (asked && !asked->apart.empty())
        throw Error(ErrorCode::bad_argument, 0, "variant '" + std::string(asked->name) + "' " + std::string(asked->apart));
}

void refuse_array(int number, const char* name)
{
    throw Error(ErrorCode::bad_argument, number,
                std::string(name) +
                    " lies on a device, and this routine takes matrices in the host's memory; gemm, potrf, potrs, "
                    "posv, getrf, getrs and gesv take both: copy it to the host");
}

bool solves_vectors(const KernelProvider& kernels, Index nrhs, const RoutineOptions& options)
{
    return nrhs <= blas::most_vectors && options.nb == 0 && options.variant.empty() && kernels.native(KernelRoutine::trsm);
}

bool multiplies_vectors(const KernelProvider& kernels, KernelRoutine routine, Index order, Index others,
                        const RoutineOptions& options)
{
    return blas::goes_by_vectors(order, others) && options.nb == 0 && options.variant.empty() && kernels.native(routine);
}

DirectLimits limits_of(const Crew& crew, Work work)
{
    constexpr Flops half_a_millisecond = 5e7;
    DirectLimits limits = direct_limits(crew.workers(), crew.kernels().native(), work);
    if (crew.has_devices())
        for (Flops* const limit : {&limits.ready, &limits.asleep, &limits.busy}) *limit = std::min(*limit, half_a_millisecond);
    return limits;
}

bool runs_directly(Crew& crew, Flops flops, const RoutineOptions& options, Work work)
{
    if (options.nb != 0 || !options.variant.empty()) return false;
    const DirectLimits limits = limits_of(crew, work);
    if (flops <= limits.ready) return true;
    if (!has_room_for(crew.workers())) return true;
    if (flops > limits.busy) return false;
    const Crew::Outlook outlook = crew.outlook(flops);
    return outlook == Crew::Outlook::busy || (outlook == Crew::Outlook::asleep && flops <= limits.asleep);
}

Index rhs_tile(const Crew& crew, Index nb, Index nrhs, const RoutineOptions& options)
{
    return options.nb ? options.nb : right_sides_tile(nb, nrhs, crew.workers());
}

} // namespace trencadis
