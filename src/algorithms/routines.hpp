#pragma once
#include "algorithms/forms/form.hpp"
#include "base/types.hpp"
#include "matrix/operations.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

/// The table of routines: what each is called, costs and can be carried out as. Sessions, simulations, the lists and the
/// benchmarks read it.
namespace trencadis {

/// How large a problem is. Extents that are 0 are n. Where a matrix stands on one side of another, k is its order; where none is
/// said, m.
struct Extents {
    double n = 0, m = 0, k = 0;
    double nrhs = 1; ///< right-hand sides of potrs and posv
};

struct RoutineEntry {
    std::string_view name, summary, source;
    Operations (*operations)(const Extents& extents);
    /// The preferred one first. "packed" packs every tile once for all operations that read it, on our own kernels; "nodes" does
    /// so for each memory node apart; "in-place" works on the caller's matrix, "tile-layout" copies it into contiguous tiles and
    /// back, "two-level" works in place with diagonal tiles that are cut up once more. Those of LU: docs/decisions/0055; of QR:
    /// 0057.
    forms::Forms (*forms)();
    /// A structured matrix and vectors beside it, which are so few in some calls that memory is what these wait for.
    struct Beside {
        double order, vectors;
    };
    Beside (*beside)(const Extents& extents) = nullptr;

    /// Flops that take about as long as a call.
    Flops weight(const Extents& extents, bool complex) const
    {
        constexpr double few = 2;                   // vectors that read the matrix where it lies
        constexpr Flops shared = 2.5e6;             // what is over sooner is the caller's alone
        const double of_a_read = complex ? 20 : 10; // for each element of the square
        const Flops flops = operations(extents).flops(complex);
        const Beside at = beside ? beside(extents) : Beside{};
        const Flops reading = at.vectors > 0 && at.vectors <= few ? of_a_read * at.order * at.order : 0;
        return reading > shared ? std::max(flops, reading) : flops;
    }
};
std::span<const RoutineEntry> routine_entries();

// These throw Error{bad_argument} for names that are not in the table, with what is near.
const RoutineEntry& find_routine(std::string_view name);
/// Among the forms that the routine can be called with.
const Form& find_form(const RoutineEntry& routine, std::string_view name);

/// The names of the forms that a routine can be called with.
std::vector<std::string_view> called_forms(const RoutineEntry& routine);
/// The names of those that have a graph for simulations; none: the routine has none.
std::vector<std::string_view> simulated_forms(const RoutineEntry& routine);

} // namespace trencadis
