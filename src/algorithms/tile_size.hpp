#pragma once
#include "algorithms/recursive_panel.hpp"
#include "base/types.hpp"

#include <cstddef>

namespace trencadis {

/// Tile sizes chosen when a routine is called. All of them balance two losses: small tiles make vendor kernels slow
/// (they pack both operands of every call) and large ones leave workers idle at the ends of the graph. `element` is the
/// size of one matrix element in bytes.

/// For Cholesky of order n.
Index cholesky_tile(Index n, std::size_t element, int workers);

/// Tiles as large as this are packed by each kernel that reads them: one image for all of them would gain little, and take much
/// memory.
inline constexpr Index largest_packed_tile = 448;

/// For Cholesky of order n on packed tiles.
Index packed_cholesky_tile(Index n, std::size_t element, int workers);

/// Has an m x n matrix, much higher than wide or wider than high, a few panels only, so that images of tiles are used too seldom
/// to pay?
bool has_few_panels(Index m, Index n);
/// For LU of an m x n matrix.
Index lu_tile(Index m, Index n, std::size_t element, int workers);
/// The same in forms that share panels as `lu_panel_cut` says: in tiles, and on packed ones.
Index panel_lu_tile(Index m, Index n, std::size_t element, int workers);
Index packed_lu_tile(Index m, Index n, std::size_t element, int workers);

/// How the panels of LU are cut up, tiles nb x nb.
PanelCut lu_panel_cut(Index nb, int workers);

/// Reflectors in a block of QR and LQ, of k.
Index qr_tile(Index k, std::size_t element, int workers);

/// Columns of the blocks of right-hand sides: one block where there are few, else enough for the workers; at most nb.
Index right_sides_tile(Index nb, Index nrhs, int workers);

/// Of the tile Cholesky inside a diagonal tile nb x nb, when that is worth cutting up.
Index nested_cholesky_tile(Index nb);

/// For tiles of a matrix product's result, m x n; and for triangular solves with that many unknowns and right-hand sides.
Index product_tile(Index m, Index n, std::size_t element, int workers);

/// For the inner dimension of a product: long, because a call's packing is the same per column.
Index depth_tile(Index k, std::size_t element);

/// Up to so many flops a call is over before other cores could help, and runs on the calling thread without tasks: where
/// others are awake,
/// where they sleep, and where they are all busy with other calls. The three differ only for products, whose bits are the
/// same either way:
/// the result of a call must not depend on what others do.
struct DirectLimits {
    Flops ready, asleep, busy;
};
enum class Work { product, solve, factorization, cholesky, lu, complex_lu, qr, complex_qr };
/// Of LU and QR of m x n: those of matrices that are not tall are mostly updates, which others share while the next panel is
/// factored.
constexpr Work work_of_lu(Index m, Index n, bool complex)
{
    if (m > 2 * n) return Work::factorization;
    return complex ? Work::complex_lu : Work::lu;
}
constexpr Work work_of_qr(Index m, Index n, bool complex)
{
    if (m > 2 * n) return Work::factorization;
    return complex ? Work::complex_qr : Work::qr;
}
DirectLimits direct_limits(int workers, bool own_kernels, Work work = Work::product);

} // namespace trencadis
