#pragma once
#include "algorithms/forms/form.hpp"
#include "algorithms/forms/residence.hpp"
#include "base/error.hpp"
#include "drivers/distributed.hpp"
#include "graph/processes.hpp"

#include <new>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace trencadis {

/// Where names of all processes begin. Nothing of theirs lies there.
inline void* const names_of_processes = reinterpret_cast<void*>(std::uintptr_t{1} << 46);

/// An operand of any precision.
struct SharedOperand {
    Index rows, cols, mb, nb;
    TileOwners owners;
    std::function<LocalPlace(Index i, Index j)> at;
};
template <Scalar T> SharedOperand shared(const HeldTiles<T>& A)
{
    const auto at = [&A](Index i, Index j) {
        const LocalTile<T> tile = A.at(i, j);
        return LocalPlace{tile.data, tile.ld};
    };
    return {A.rows, A.cols, A.mb, A.nb, A.owners, at};
}

/// Throws Error{bad_argument} with the argument's number for extents or tiles that cannot be, and for owners that are not among
/// the processes; `all`: also where a process has no tile.
void require_owners(Crew& crew, const SharedOperand& A, int argument, bool all);
template <Scalar T> void require_owners(Crew& crew, const HeldTiles<T>& A, int argument, bool all = false)
{
    require_owners(crew, SharedOperand{A.rows, A.cols, A.mb, A.nb, A.owners, {}}, argument, all);
}

void say_refused(Crew& crew, std::string_view routine, const Error& error);
/// What `check` answers. What it refuses on one process it says to the others, which have come to where they compare their calls,
/// so that they do not wait for it.
template <class Check> decltype(auto) checked(Crew& crew, std::string_view routine, Check&& check)
{
    try {
        return check();
    } catch (const Error& error) {
        say_refused(crew, routine, error);
        throw;
    } catch (const std::bad_alloc&) {
        say_refused(crew, routine, Error(ErrorCode::out_of_memory, "no memory to lay the call out"));
        throw;
    }
}

struct ResidentCall {
    std::string_view routine, form; ///< for messages
    std::string_view compared;      ///< what must be the same on all processes
};
/// Runs what `submit` submits, twice: first for nobody, to know the last reads. The data have owners, and names that
/// `residence` knows. In between the processes compare their calls: what fails before, for want of memory, all of them hear of,
/// and nothing is touched.
Index run_resident(Crew& crew, const ResidentCall& call, const Residence& residence, const std::function<void(Flow&)>& submit,
                   const RoutineOptions& options);

std::string text(const SharedOperand& A);
/// In words that processes compare.
std::string compared(const SharedOperand& A);
template <Scalar T> constexpr char precision_letter = "sdcz"[layout_of_precision<T>];

/// A form on matrices that several processes hold: laid out as names that are the same for all, which each has its own part of.
class SharedCall {
public:
    /// `problem` has the extents and tiles. The operands in the form's order. `routine` outlives it.
    SharedCall(Crew& crew, std::string_view routine, const Form& form, const Problem& problem, int precision,
               std::span<const SharedOperand> operands);
    /// The form's vector is read, or written; what each process gets is the whole.
    void reads_vector(const void* values);
    void writes_vector(void* values);

    /// The outcome, for all.
    Index run(const RoutineOptions& options);

private:
    std::string description() const;
    void check_layout() const;
    void submit(Flow& flow);
    void collect(const std::map<const void*, Datum>& beside, Flow& flow) const;

    Crew& crew_;
    Processes& processes_;
    const std::string_view routine_;
    const Form& form_;
    const Problem problem_;
    const int precision_;
    std::string call_;
    Place place_;
    LayoutRoom layout_;
    Residence residence_;
    bool writes_vector_ = false;
};

} // namespace trencadis
