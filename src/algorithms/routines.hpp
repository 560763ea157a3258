#pragma once
#include "base/types.hpp"
#include "matrix/operations.hpp"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

/// The table of routines: what each is called, costs and can be carried out as. Sessions, simulations, the lists and the benchmarks read it.
namespace trencadis {

/// How large a problem is. Extents that are 0 are n. Where a matrix stands on one side of another, k is its order; where none is said, m.
struct Extents {
    double n = 0, m = 0, k = 0;
    double nrhs = 1; ///< right-hand sides of potrs and posv
};

/// A way to carry a routine out. "packed" packs every tile once for all operations that read it, on our own kernels; "nodes" does so for
/// each memory node apart; "in-place" works on the caller's matrix, "tile-layout" copies it into contiguous tiles and back, "two-level" works in
/// place with diagonal tiles that are cut up once more. Those of LU: docs/decisions/0055; of QR: 0057.
struct RoutineVariant {
    std::string_view name;
    /// Tile size of a square problem of order n where the caller asks for none. For a packed product the number of columns of a tile of the
    /// result; those have another number of rows.
    Index (*tile)(Index n, std::size_t element_bytes, int workers);
    bool packs = false; ///< only on our own kernels
};

struct RoutineEntry {
    std::string_view name, summary, source;
    Operations (*operations)(const Extents& extents);
    std::span<const RoutineVariant> variants = {}; ///< the preferred one first; none: its kernels are not there, only its graph
    std::span<const std::string_view> kernels =
        {}; ///< codelets of its tasks, where it is one builder (algorithms/tile_routines.hpp)
};
std::span<const RoutineEntry> routine_entries();

// These throw Error{bad_argument} for names that are not in the table, with what is near.
const RoutineEntry& find_routine(std::string_view name);
const RoutineVariant& find_variant(const RoutineEntry& routine, std::string_view name);

std::vector<std::string_view> names_of(std::span<const RoutineVariant> variants);

} // namespace trencadis
