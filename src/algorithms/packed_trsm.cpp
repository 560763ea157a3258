#include "algorithms/packed_trsm.hpp"

#include "algorithms/cutting.hpp"
#include "blas/level3/block_sizes.hpp"

#include <algorithm>

namespace trencadis {
namespace {

constexpr Index steps_kept = 2;

/// X U = alpha B as the algorithm sees every system: on the left side that is the transposed one. U may be a lower triangle; then
/// the columns of X are solved for from the last to the first, and inside a diagonal tile everything along them is reversed.
template <Scalar T> class Submission {
public:
    Submission(Flow& flow, const PackedSystem<T>& system, const SystemTiling& tiling, const SystemImages<T>& images)
        : flow_(flow), s_(system), tiling_(tiling), images_(images), turned_(s_.side == Side::left),
          B_(turned_ ? blas::general<T>(s_.B.data, s_.B.ld).transposed() : blas::general<T>(s_.B.data, s_.B.ld)),
          U_(factor_of(s_))
    {
    }

    void run()
    {
        const Index steps = pieces(s_.order(), tiling_.depth);
        for (Index step = 0; step < steps; ++step) {
            const Index j = block_of(step, steps);
            task::pack_triangle(flow_, diagonal(j), width(j), images_.triangle(step));
            for (Index i = 0; i < row_tiles(); ++i) solve(i, j, step);
            for (Index later = step + 1; later < steps; ++later) {
                const Index c = block_of(later, steps);
                pack_factor(j, c, step);
                for (Index i = 0; i < row_tiles(); ++i) update(i, j, c, step);
            }
        }
    }

private:
    static blas::Operand<T> factor_of(const PackedSystem<T>& s)
    {
        blas::Operand<T> A{s.A, 1, s.lda};
        A.structure = blas::Structure::triangular;
        A.uplo = s.uplo;
        A.diag = s.diag;
        A = A.op(s.op);
        return s.side == Side::left ? A.transposed() : A;
    }
    bool reversed() const { return U_.uplo == Uplo::lower; }
    Index block_of(Index step, Index steps) const { return reversed() ? steps - 1 - step : step; }
    Index row_tiles() const { return pieces(s_.others(), tiling_.rows); }
    Index first_row(Index i) const { return i * tiling_.rows; }
    Index height(Index i) const { return std::min(tiling_.rows, s_.others() - first_row(i)); }
    Index first_col(Index j) const { return j * tiling_.depth; }
    Index width(Index j) const { return std::min(tiling_.depth, s_.order() - first_col(j)); }
    T* first(Index i, Index j) const { return const_cast<T*>(B_.block(first_row(i), first_col(j)).data); }

    /// The block with its `width` columns in the order in which they are solved for.
    blas::Operand<T> along_columns(blas::Operand<T> A, Index width) const
    {
        if (!reversed()) return A;
        A.data += (width - 1) * A.cs;
        A.cs = -A.cs;
        return A;
    }
    blas::Operand<T> along_rows(const blas::Operand<T>& A, Index height) const
    {
        return along_columns(A.transposed(), height).transposed();
    }
    blas::Operand<T> diagonal(Index j) const
    {
        blas::Operand<T> U = U_.block(first_col(j), first_col(j));
        if (!reversed()) return U;
        U = along_rows(along_columns(U, width(j)), width(j));
        U.uplo = Uplo::upper;
        return U;
    }

    void solve(Index i, Index j, Index step)
    {
        const auto B = along_columns(B_.block(first_row(i), first_col(j)), width(j));
        const T alpha = step == 0 ? s_.alpha : T(1); // the others had it as the factor of their first update
        const task::Image<T> left{images_.solved_left(i, step), {height(i), width(j)}};
        const task::ImageMemory<T> right =
            turned_ && !images_.serve_both() ? images_.solved_right(i, step) : task::ImageMemory<T>();
        task::solve_packed(flow_, task::TriangularSolve<T>{images_.triangle(step), B, alpha, left, right});
    }

    /// The block of U that block c of X is updated with: the right operand, or turned the left one.
    void pack_factor(Index j, Index c, Index step)
    {
        blas::Operand<T> U = along_rows(U_.block(first_col(j), first_col(c)), width(j));
        U.structure = blas::Structure::general;
        if (turned_) task::pack_left(flow_, U.transposed(), factor(j, c, step));
        else task::pack_right(flow_, U, factor(j, c, step));
    }
    task::Image<T> factor(Index j, Index c, Index step) const { return {images_.factor(c, step), {width(c), width(j)}}; }

    void update(Index i, Index j, Index c, Index step)
    {
        const bool as_left = turned_ && images_.serve_both();
        const task::ImageMemory<T> solved = turned_ && !as_left ? images_.solved_right(i, step) : images_.solved_left(i, step);
        task::Image<T> X{solved, {height(i), width(j)}};
        const task::Image<T> U = factor(j, c, step);
        X.form.as_left = as_left;
        const task::Image<T>&A = turned_ ? U : X, &B = turned_ ? X : U;
        const Tile<T> C{first(i, c), A.form.extent, B.form.extent, s_.B.ld};
        task::multiply(flow_, task::Product<T>{T(-1), A, B, step == 0 ? s_.alpha : T(1), C});
    }

    Flow& flow_;
    const PackedSystem<T>& s_;
    const SystemTiling& tiling_;
    const SystemImages<T>& images_;
    const bool turned_;
    const blas::Operand<T> B_, U_;
};

} // namespace

template <Scalar T> SystemTiling system_tiling(const PackedSystem<T>& system, int workers)
{
    const blas::MicroKernel<T>& kernel = blas::instruction_set().micro_kernel<T>();
    const Index deepest = blas::block_sizes<T>().kc;
    const Index n = std::max<Index>(system.order(), 1), m = std::max<Index>(system.others(), 1);
    SystemTiling tiling{};
    tiling.depth = round_up(pieces(n, pieces(n, deepest)), kernel.nr);
    // Rows of X are independent: a few tiles for each worker, so that the last ones leave little idle time.
    const Index wanted = std::clamp<Index>(pieces(m, 4 * workers), 2 * kernel.mr, blas::block_sizes<T>().mc);
    tiling.rows = round_up(pieces(m, pieces(m, wanted)), kernel.mr);
    return tiling;
}

template <Scalar T>
SystemImages<T>::SystemImages(const PackedSystem<T>& system, const SystemTiling& tiling, const ImagePlace& place)
    : serve_both_(place.is_memory() && images_serve_both<T>(tiling.depth)),
      solved_left_(PackedSlots<T>::left(pieces(system.others(), tiling.rows), steps_kept, tiling.rows, tiling.depth, place)),
      solved_right_(PackedSlots<T>::right(system.side == Side::left && !serve_both_ ? pieces(system.others(), tiling.rows) : 0,
                                          steps_kept, tiling.rows, tiling.depth, place)),
      factor_(system.side == Side::left
                  ? PackedSlots<T>::left(pieces(system.order(), tiling.depth), steps_kept, tiling.depth, tiling.depth, place)
                  : PackedSlots<T>::right(pieces(system.order(), tiling.depth), steps_kept, tiling.depth, tiling.depth, place)),
      triangle_(PackedSlots<T>::triangle(steps_kept, tiling.depth, place))
{
}

template <Scalar T>
void packed_trsm(Flow& flow, const PackedSystem<T>& system, const SystemTiling& tiling, const SystemImages<T>& images)
{
    Submission<T>(flow, system, tiling, images).run();
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template SystemTiling system_tiling(const PackedSystem<T>&, int);                                                            \
    template class SystemImages<T>;                                                                                              \
    template void packed_trsm(Flow&, const PackedSystem<T>&, const SystemTiling&, const SystemImages<T>&);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
