#include "algorithms/packed_product.hpp"

#include "algorithms/cutting.hpp"
#include "base/same_sums.hpp"
#include "blas/level3/block_sizes.hpp"
#include "kernels/tiles/tile_operations.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace trencadis {
namespace {

constexpr Index block_extent = 4096; ///< rows or columns of C whose images are kept at a time,
constexpr Index lone_block = 4608;   ///< or all: else a thin second block would have everything packed again
constexpr Index steps_kept = 2;      ///< so that packing for one step overlaps with the products of the one before

/// Is the block of `rows` x `cols` at (i, j) of the operand wholly in its zero triangle?
template <Scalar T> bool is_zero(const blas::Operand<T>& A, Index i, Index rows, Index j, Index cols)
{
    if (A.structure != blas::Structure::triangular) return false;
    const Index below = A.below + i - j;
    return A.uplo == Uplo::lower ? below + rows - 1 < 0 : below - (cols - 1) > 0;
}

/// Which part of the block of `rows` x `cols` at (i, j) of the operand is not zero, where its diagonal crosses it.
template <Scalar T> void mark_triangle(task::Image<T>& image, const blas::Operand<T>& A, Index i, Index rows, Index j, Index cols)
{
    const Index below = A.below + i - j;
    if (A.structure != blas::Structure::triangular || below - (cols - 1) > 0 || below + rows - 1 < 0) return;
    image.form.part = A.uplo == Uplo::lower ? blas::Part::lower : blas::Part::upper;
    image.form.below = below;
}

/// The tiles of one dimension.
struct Grid {
    Index size, tile;

    Index count() const { return pieces(size, tile); }
    Index begin(Index i) const { return i * tile; }
    Index extent(Index i) const { return std::min(tile, size - i * tile); }
    Index per_block() const { return std::max<Index>(1, count() * tile <= lone_block ? count() : block_extent / tile); }
};

template <Scalar T> PackedSlots<T> left_slots(const PackedProduct<T>& p, const ProductTiling& tiling, const ImagePlace& place)
{
    using InPlace = typename PackedProduct<T>::InPlace;
    const Grid rows{p.m, tiling.rows}, steps{p.k, tiling.depth};
    const Index kept = p.in_place == InPlace::B ? rows.count() : std::min(rows.count(), rows.per_block());
    const Index depth = !tiling.packs_left ? 0 : p.in_place == InPlace::A ? steps.count() : steps_kept;
    return PackedSlots<T>::left(kept, depth, tiling.rows, tiling.depth, place);
}
template <Scalar T>
PackedSlots<T> right_slots(const PackedProduct<T>& p, const ProductTiling& tiling, bool one_image, const ImagePlace& place)
{
    using InPlace = typename PackedProduct<T>::InPlace;
    const Grid cols{p.n, tiling.cols}, steps{p.k, tiling.depth};
    const Index kept = p.in_place == InPlace::A ? cols.count() : std::min(cols.count(), cols.per_block());
    const Index blocks = pieces(cols.count(), cols.per_block()); // those on the diagonal need no right images of their own
    const Index depth = !tiling.packs_right || (one_image && blocks == 1) ? 0
                        : p.in_place == InPlace::B                        ? steps.count()
                                                                          : steps_kept;
    return PackedSlots<T>::right(kept, depth, tiling.cols, tiling.depth, place);
}

/// One call of packed_product: the loops over blocks of C, steps along k and tiles.
template <Scalar T> class Submission {
public:
    Submission(Flow& flow, const PackedProduct<T>& product, const ProductTiling& tiling, const ProductImages<T>& images)
        : flow_(flow), p_(product),
          images_(images), rows_{p_.m, tiling.rows}, cols_{p_.n, tiling.cols}, steps_{p_.alpha == T(0) ? 0 : p_.k, tiling.depth},
          packs_left_(tiling.packs_left), packs_right_(tiling.packs_right)
    {
    }

    void run()
    {
        using InPlace = typename PackedProduct<T>::InPlace;
        const Index row_block = p_.in_place == InPlace::B ? rows_.count() : rows_.per_block();
        const Index col_block = p_.in_place == InPlace::A ? cols_.count() : cols_.per_block();
        for (Index j = 0; j < cols_.count(); j += col_block)
            for (Index i = 0; i < rows_.count(); i += row_block)
                block(i, std::min(i + row_block, rows_.count()), j, std::min(j + col_block, cols_.count()));
    }

private:
    void block(Index i0, Index i1, Index j0, Index j1)
    {
        using InPlace = typename PackedProduct<T>::InPlace;
        for (Index l = 0; l < steps_.count(); ++l) { // what C overwrites is read first
            if (p_.in_place == InPlace::A) pack_rows(i0, i1, l);
            if (p_.in_place == InPlace::B) pack_columns(j0, j1, l);
        }
        const bool one_image = images_.serve_both() && i0 == j0;
        std::vector<bool> written((i1 - i0) * (j1 - j0));
        for (Index l = 0; l < steps_.count(); ++l) {
            if (p_.in_place != InPlace::A && packs_left_) pack_rows(i0, i1, l);
            if (p_.in_place != InPlace::B && !one_image && packs_right_) pack_columns(j0, j1, l);
            for (Index i = i0; i < i1; ++i)
                for (Index j = j0; j < j1; ++j) {
                    if (!wanted(i, j) || zero_left(i, l) || zero_right(j, l)) continue;
                    auto&& seen = written[(i - i0) * (j1 - j0) + j - j0];
                    const task::Image<T> B = one_image ? right_of_left(j, j - j0, l) : right(j, j - j0, l);
                    const auto x = product(i, j, p_.alpha, left(i, i - i0, l), B, seen ? T(1) : p_.beta);
                    multiply(x, p_.A.block(rows_.begin(i), steps_.begin(l)), p_.B.block(steps_.begin(l), cols_.begin(j)));
                    seen = true;
                }
        }
        for (Index i = i0; i < i1; ++i) // tiles without any product
            for (Index j = j0; j < j1; ++j)
                if (wanted(i, j) && !written[(i - i0) * (j1 - j0) + j - j0]) scale(i, j);
    }

    void multiply(const task::Product<T>& x, const blas::Operand<T>& A, const blas::Operand<T>& B)
    {
        if (packs_left_) task::multiply(flow_, x);
        else if (packs_right_) task::multiply(flow_, x, A);
        else task::multiply(flow_, x, A, B);
    }
    void pack_rows(Index i0, Index i1, Index l)
    {
        for (Index i = i0; i < i1; ++i)
            if (!zero_left(i, l)) task::pack_left(flow_, p_.A.block(rows_.begin(i), steps_.begin(l)), left(i, i - i0, l));
    }
    void pack_columns(Index j0, Index j1, Index l)
    {
        for (Index j = j0; j < j1; ++j)
            if (!zero_right(j, l)) task::pack_right(flow_, p_.B.block(steps_.begin(l), cols_.begin(j)), right(j, j - j0, l));
    }

    task::Product<T> product(Index i, Index j, T alpha, task::Image<T> A, task::Image<T> B, T beta) const
    {
        task::Product<T> product{alpha, A, B, beta, {tile(i, j), rows_.extent(i), cols_.extent(j), p_.C.ld}};
        product.part = part(i, j);
        product.below = cols_.begin(j) - rows_.begin(i);
        product.real_diagonal = p_.real_diagonal && product.part != blas::Part::all;
        return product;
    }
    /// A product of depth zero.
    void scale(Index i, Index j)
    {
        const task::Image<T> A{nullptr, {rows_.extent(i), 0}}, B{nullptr, {cols_.extent(j), 0}};
        task::multiply(flow_, product(i, j, T(0), A, B, p_.beta));
    }

    T* tile(Index i, Index j) const { return p_.C.data + rows_.begin(i) + cols_.begin(j) * p_.C.ld; }
    task::Image<T> left(Index i, Index slot, Index l) const
    {
        task::Image<T> image{nullptr, {rows_.extent(i), steps_.extent(l)}};
        if (packs_left_) image = images_.left(slot, l, rows_.extent(i), steps_.extent(l));
        mark_triangle(image, p_.A, rows_.begin(i), rows_.extent(i), steps_.begin(l), steps_.extent(l));
        return image;
    }
    task::Image<T> right(Index j, Index slot, Index l) const
    {
        task::Image<T> image{nullptr, {cols_.extent(j), steps_.extent(l)}};
        if (packs_right_) image = images_.right(slot, l, cols_.extent(j), steps_.extent(l));
        mark_triangle(image, p_.B, steps_.begin(l), steps_.extent(l), cols_.begin(j), cols_.extent(j));
        return image;
    }
    task::Image<T> right_of_left(Index j, Index slot, Index l) const
    {
        task::Image<T> image = left(j, slot, l);
        image.form.as_left = true;
        return image;
    }
    bool zero_left(Index i, Index l) const
    {
        return is_zero(p_.A, rows_.begin(i), rows_.extent(i), steps_.begin(l), steps_.extent(l));
    }
    bool zero_right(Index j, Index l) const
    {
        return is_zero(p_.B, steps_.begin(l), steps_.extent(l), cols_.begin(j), cols_.extent(j));
    }
    /// Which part of tile (i, j) is written: none of those beyond the diagonal, all of those off it.
    bool wanted(Index i, Index j) const
    {
        const Index first = rows_.begin(i) - cols_.begin(j), most = first + rows_.extent(i) - 1,
                    least = first - cols_.extent(j) + 1;
        return p_.part == blas::Part::all || (p_.part == blas::Part::lower ? most >= 0 : least <= 0);
    }
    blas::Part part(Index i, Index j) const
    {
        const Index first = rows_.begin(i) - cols_.begin(j), most = first + rows_.extent(i) - 1,
                    least = first - cols_.extent(j) + 1;
        // A tile that only touches the diagonal counts as crossing it, so that its diagonal is made real.
        if (p_.part == blas::Part::lower && least <= 0) return p_.part;
        if (p_.part == blas::Part::upper && most >= 0) return p_.part;
        return blas::Part::all;
    }

    Flow& flow_;
    const PackedProduct<T>& p_;
    const ProductImages<T>& images_;
    Grid rows_, cols_, steps_;
    bool packs_left_, packs_right_;
};

/// Tiles as wide as a block, where the rows are enough for three of each worker: every tile reads all of the block's image of B
/// out of the last-level cache, so that few high ones are better than many low ones. Who runs out of them helps with the columns
/// of another's. What comes of B is used with some rows of A at least.
template <Scalar T>
std::optional<ProductTiling> wide_tiling(const PackedProduct<T>& product, int workers, const blas::MicroKernel<T>& kernel,
                                         const blas::BlockSizes& blocks)
{
    if (product.in_place != PackedProduct<T>::InPlace::none || product.part != blas::Part::all) return std::nullopt;
    constexpr Index least = 96; // rows
    const Index share = product.m / (3 * workers) / kernel.mr * kernel.mr;
    if (share < least) return std::nullopt;
    return ProductTiling{balanced(product.m, std::min(share, blocks.mc), kernel.mr), balanced(product.n, block_extent, kernel.nr),
                         balanced(product.k, blocks.kc, 8), false,
                         !blas::stays_in_place(product.B, product.m, product.k, blocks.kc, blocks.mc)};
}

/// One image for both sides of a triangle: square tiles, enough for four of each worker.
ProductTiling square_of(ProductTiling tiling, Index n, int workers, Index panel)
{
    constexpr Index least = 64;
    Index count = pieces(n, tiling.rows);
    while (count * (count + 1) / 2 < 4 * workers && n / (count + 1) >= least) ++count;
    tiling.rows = tiling.cols = round_up(pieces(n, count), panel);
    return tiling;
}

} // namespace

template <Scalar T> ProductTiling product_tiling(const PackedProduct<T>& product, int workers)
{
    using InPlace = typename PackedProduct<T>::InPlace;
    const blas::MicroKernel<T>& kernel = blas::instruction_set().micro_kernel<T>();
    const blas::BlockSizes& blocks = blas::block_sizes<T>();
    if (const auto wide = wide_tiling(product, workers, kernel, blocks)) return *wide;
    ProductTiling tiling{balanced(product.m, blocks.mc, kernel.mr), balanced(product.n, 512, kernel.nr),
                         balanced(product.k, blocks.kc, 8)};
    if (product.of_transpose && images_serve_both<T>(tiling.depth)) return square_of(tiling, product.n, workers, kernel.mr);
    // What is overwritten is read in C's tiles, so one of their sides is the depth: a square block of A in the second-level
    // cache, of the same machine everywhere where sums are to be.
    const Index mc = SameSums::here() ? blas::derive_block_sizes(kernel.mr, kernel.nr, sizeof(T), {}).mc : blocks.mc;
    const Index side = balanced(product.k, Index(std::sqrt(double(mc) * double(blocks.kc))), 8);
    if (product.in_place == InPlace::B) tiling.rows = tiling.depth = side;
    if (product.in_place == InPlace::A) tiling.cols = tiling.depth = side;
    // Where there are enough of them, as wide as a block: each block of A is of one task, which packs it into its core's cache.
    // (Of complex numbers packing is less of it than what balance is lost.)
    if (!is_complex<T> && product.in_place == InPlace::B && pieces(product.m, side) > workers) {
        tiling.cols = balanced(product.n, block_extent, kernel.nr);
        tiling.packs_left = false;
        return tiling;
    }
    const auto tiles = [&] { return pieces(product.m, tiling.rows) * pieces(product.n, tiling.cols); };
    // Of a deep product each tile is a long chain of tasks; what is packed for a narrow one is used for little.
    const bool deep = product.part == blas::Part::all && product.in_place == InPlace::none && product.k >= 4 * blocks.kc;
    const Index least = 64, narrow = deep ? 192 : least;
    while (tiles() < 4 * workers && std::max(tiling.rows, tiling.cols) > (tiles() < workers ? least : narrow)) {
        const bool may_narrow = product.in_place != InPlace::A, may_flatten = product.in_place != InPlace::B;
        if (may_narrow && (tiling.cols >= tiling.rows || !may_flatten) && tiling.cols > 64)
            tiling.cols = balanced(product.n, tiling.cols - kernel.nr, kernel.nr);
        else if (may_flatten && tiling.rows > 64) tiling.rows = balanced(product.m, tiling.rows - kernel.mr, kernel.mr);
        else break;
    }
    return tiling;
}

template <Scalar T> ProductTraffic product_traffic(const PackedProduct<T>& p, const ProductTiling& tiling)
{
    const Grid rows{p.m, tiling.rows}, cols{p.n, tiling.cols};
    const Index steps = p.alpha == T(0) ? 0 : pieces(p.k, tiling.depth), any = steps > 0;
    return {any * pieces(cols.count(), cols.per_block()),
            any * tiling.packs_right * pieces(rows.count(), rows.per_block()),
            any * cols.count(),
            any * rows.count(),
            std::max<Index>(1, steps) - (p.beta == T(0)),
            std::max<Index>(1, steps)};
}

template <Scalar T>
ProductImages<T>::ProductImages(const PackedProduct<T>& p, const ProductTiling& tiling, const ImagePlace& place)
    : serve_both_(place.is_memory() && p.of_transpose && tiling.rows == tiling.cols && images_serve_both<T>(tiling.depth)),
      left_(left_slots(p, tiling, place)), right_(right_slots(p, tiling, serve_both_, place))
{
}
template <Scalar T> task::Image<T> ProductImages<T>::left(Index tile, Index step, Index extent, Index depth) const
{
    return {left_(tile, step), {extent, depth}};
}
template <Scalar T> task::Image<T> ProductImages<T>::right(Index tile, Index step, Index extent, Index depth) const
{
    return {right_(tile, step), {extent, depth}};
}

template <Scalar T>
void packed_product(Flow& flow, const PackedProduct<T>& product, const ProductTiling& tiling, const ProductImages<T>& images)
{
    Submission<T>(flow, product, tiling, images).run();
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template ProductTiling product_tiling(const PackedProduct<T>&, int);                                                         \
    template ProductTraffic product_traffic(const PackedProduct<T>&, const ProductTiling&);                                      \
    template class ProductImages<T>;                                                                                             \
    template void packed_product(Flow&, const PackedProduct<T>&, const ProductTiling&, const ProductImages<T>&);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
