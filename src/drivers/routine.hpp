#pragma once
#include "algorithms/arguments.hpp"
#include "algorithms/routines.hpp"
#include "algorithms/tile_size.hpp"
#include "base/error.hpp"
#include "base/same_sums.hpp"
#include "blas/level3/by_halves.hpp"
#include "drivers/crew.hpp"
#include "drivers/linear_algebra.hpp"
#include "kernels/providers/provider.hpp"
#include "matrix/tile_matrix.hpp"

#include <new>
#include <type_traits>

namespace trencadis {

/// direct_limits for this crew: a long call is for its devices, if it has some, even where it has one worker beside them.
DirectLimits limits_of(const Crew& crew, Work work = Work::product);

/// Should this call run on the calling thread, without tasks? But for products a matter of its size alone. Never when the caller
/// asked for a tile size or a variant; always where the address space is so full that a worker might not find its work areas in
/// the middle of the call.
bool runs_directly(Crew& crew, Flops flops, const RoutineOptions& options, Work work = Work::product);

/// Is a call of so many flops, whose caller leaves tile size and form open, to be computed by its caller alone, because other
/// calls keep the cores busy? The same tasks, and so the same bits.
inline bool is_crowded(Crew& crew, Flops flops, const RoutineOptions& options)
{
    return options.nb == 0 && options.variant.empty() && crew.is_crowded(flops);
}

/// Either, of what has the same bits without tasks.
inline bool is_for_one_core(Crew& crew, Flops flops, const RoutineOptions& options, Work work = Work::product)
{
    return runs_directly(crew, flops, options, work) || is_crowded(crew, flops, options);
}

/// Is this a call for a right side or two, each of which reads the triangle where it lies? Tasks would pack what is used once.
bool solves_vectors(const KernelProvider& kernels, Index nrhs, const RoutineOptions& options = {});
/// Or a product of a structured matrix with a vector or two?
bool multiplies_vectors(const KernelProvider& kernels, KernelRoutine routine, Index order, Index others,
                        const RoutineOptions& options = {});
/// Or for few beside a large triangle, which trsm reads where it lies?
template <Scalar T> bool solves_few(Crew& crew, Index n, Index nrhs, const RoutineOptions& options)
{
    return blas::goes_by_halves<T>(Side::left, n, nrhs) && options.nb == 0 && options.variant.empty() && !crew.has_devices() &&
           crew.kernels().native(KernelRoutine::trsm);
}

/// The form that the options ask for, null where they leave it open. Throws Error{bad_argument} for one that the routine has not.
const Form* check_options(std::string_view routine, const RoutineOptions& options);
/// Throws Error{bad_argument} for a form whose factors are not LAPACK's.
void require_lapack_layout(const Form* asked);

/// Columns of the blocks of right-hand sides: those of right_sides_tile, or as wide as the caller's tiles.
Index rhs_tile(const Crew& crew, Index nb, Index nrhs, const RoutineOptions& options);

/// Copies that outlast calls of what a call writes go: where it begins, since it may be computed without tasks, and where it
/// ends, if it has written after its tasks.
template <class... Arguments> void tell_written(Crew& crew, const Arguments&... arguments)
{
    if (!crew.keeps_copies()) return;
    const auto tell = [&](const auto& argument) {
        if constexpr (std::is_same_v<std::decay_t<decltype(argument)>, argument::Matrix>) {
            const Region& region = argument.region;
            const double last = double(region.cols - 1) * double(region.ld) + double(region.rows);
            if (argument.written && region.rows > 0 && region.cols > 0)
                crew.will_write(region.data, last * double(region.element));
        }
    };
    (tell(arguments), ...);
}

/// Tells at the end of a scope, also where the call was stopped in the middle of writing.
template <class Tell> struct ToldAtTheEnd {
    Tell tell;
    ~ToldAtTheEnd() { tell(); }
};
template <class Tell> ToldAtTheEnd(Tell) -> ToldAtTheEnd<Tell>;

[[noreturn]] void refuse_array(int number, const char* name);

/// Does a matrix lie on a device? `refused`: then the routine does not take it.
template <class... Arguments> bool lie_on_device(const Crew& crew, bool refused, const Arguments&... arguments)
{
    if (!crew.has_arrays()) return false;
    bool any = false;
    int number = 2; // behind the crew
    const auto ask = [&](const auto& argument) {
        using Argument = std::decay_t<decltype(argument)>;
        if constexpr (std::is_same_v<Argument, argument::Matrix>) {
            const Region& region = argument.region;
            const bool there = region.rows > 0 && region.cols > 0 && crew.lies_on_device(region.data);
            if (there && refused) refuse_array(number, argument.name);
            any |= there;
        }
        number += Argument::width;
    };
    (ask(arguments), ...);
    return any;
}
/// Both of a call, where anybody minds; apart from the calls, which are as short as they were.
template <class... Arguments> [[gnu::noinline]] bool mind_memory(Crew& crew, bool refused, const Arguments&... arguments)
{
    const bool any = lie_on_device(crew, refused, arguments...);
    tell_written(crew, arguments...);
    return any;
}

/// A call, while it lives on the calling thread, which sums as the crew does.
class InCall {
public:
    explicit InCall(Crew& crew) : crew_(crew), sums_(crew.same_sums()) {}
    ~InCall() { crew_.call_is_over(); }
    InCall(const InCall&) = delete;
    InCall& operator=(const InCall&) = delete;
    Crew& crew() const { return crew_; }

private:
    Crew& crew_;
    const SameSums sums_;
};

/// Checks the arguments of a call (argument::require), and tells what it writes. Matrices that lie on a device are refused.
template <class... Arguments> void require(const InCall& call, const Arguments&... arguments)
{
    argument::require(arguments...);
    if (call.crew().minds_memory()) mind_memory(call.crew(), true, arguments...);
}
/// Likewise, of a routine that takes them: is there any?
template <class... Arguments> [[nodiscard]] bool require_anywhere(const InCall& call, const Arguments&... arguments)
{
    argument::require(arguments...);
    return call.crew().minds_memory() && mind_memory(call.crew(), false, arguments...);
}

/// A failed allocation becomes Error{out_of_memory}.
template <class Run> Index with_memory_for_tasks(Run&& run)
{
    try {
        return run();
    } catch (const std::bad_alloc&) {
        throw Error(ErrorCode::out_of_memory, "no memory left for the tasks of this call");
    }
}

/// The crew runs `body`, or the calling thread alone does (`here`); the outcome of its flow.
template <class Body> Index run_routine(Crew& crew, const RoutineOptions& options, Body&& body, bool here = false)
{
    return with_memory_for_tasks([&] { return here ? crew.run_here(body) : crew.run(body, options.interrupted); });
}
/// Likewise, with the devices that it is worth for; `body` only submits, and may be asked twice.
template <class Body> Index run_where_best(Crew& crew, const RoutineOptions& options, Body&& body)
{
    return with_memory_for_tasks([&] {
        if (!crew.has_devices()) return crew.run(body, options.interrupted);
        return crew.run_with(crew.devices_for(body, Crew::not_foreseen).devices, body, options.interrupted);
    });
}

/// A matrix that the tasks only read. Tiles carry no constness: the tile operations say what they write.
template <Scalar T> TileMatrix<T> readable(const T* A, Index rows, Index cols, Index ld, Index mb, Index nb)
{
    return {{const_cast<T*>(A), rows, cols, ld}, mb, nb};
}

} // namespace trencadis
