#include "blas/factorizations/qr.hpp"
#include "blas/level3/scratch.hpp"
#include "kernels/tiles/factor_flops.hpp"
#include "kernels/tiles/operands.hpp"
#include "kernels/tiles/tall_qr_operations.hpp"
#include "kernels/tiles/tile_access.hpp"
#include "matrix/conjugate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace trencadis::task {
namespace {

using kernel_flops::weight_of;
template <Scalar T> using State = typename TallBlock<T>::State;

/// As many rows as stay in a core's second cache.
template <Scalar T> Index rows_at_once(Index n, Index bytes, Index most)
{
    return std::clamp<Index>(bytes / (n * Index(sizeof(T))) / 32 * 32, 32, most);
}

/// The upper triangle of A^H A, by pieces of rows.
template <Scalar T> void gram(const KernelProvider& kernels, Index m, Index n, const T* A, Index lda, T* G, Index ldg)
{
    const Index step = rows_at_once<T>(n, Index(256) << 10, 256);
    for (Index i = 0; i < m; i += step) {
        const Index rows = std::min(step, m - i);
        const Real<T> beta = i ? 1 : 0;
        if (n < 64) // with few columns all of it costs less than a triangle
            kernels.gemm(herm_op<T>, Op::none, n, n, rows, T(1), A + i, lda, A + i, lda, T(beta), G, ldg);
        else kernels.herk(Uplo::upper, herm_op<T>, n, rows, Real<T>(1), A + i, lda, beta, G, ldg);
    }
}

/// Are the squares of columns far from where they lose digits?
template <Scalar T> bool is_tame(Real<T> square)
{
    using Limits = std::numeric_limits<Real<T>>;
    return square > Limits::min() / (Limits::epsilon() * Limits::epsilon()) && square < Limits::max() * Limits::epsilon();
}

template <Scalar T> void copy_upper(Index n, const T* from, Index ld_from, T* to, Index ld_to)
{
    for (Index j = 0; j < n; ++j) std::fill(std::copy_n(from + j * ld_from, j + 1, to + j * ld_to), to + j * ld_to + n, T(0));
}
template <Scalar T> void copy_all(Index m, Index n, const T* from, Index ld_from, T* to, Index ld_to)
{
    for (Index j = 0; j < n; ++j) std::copy_n(from + j * ld_from, m, to + j * ld_to);
}
template <Scalar T> void set_diagonal(Index n, T value, T* A, Index lda)
{
    for (Index j = 0; j < n; ++j) {
        std::fill_n(A + j * lda, n, T(0));
        A[j * (lda + 1)] = value;
    }
}

/// A bound of the squared norm of an upper triangle: the largest sum of moduli of a row times that of a column, or the sum of all
/// squares; of a Hermitian matrix, of its norm: the largest sum of a row. NaN is carried on.
template <Scalar T> Real<T> squared_norm_bound(Index n, const T* A, Index lda, bool hermitian)
{
    std::vector<Real<T>> rows(static_cast<std::size_t>(n));
    Real<T> columns_most = 0, rows_most = 0, squares = 0;
    for (Index j = 0; j < n; ++j) {
        Real<T> sum = 0;
        for (Index i = 0; i <= j; ++i) {
            const Real<T> size = std::abs(A[i + j * lda]);
            sum += size;
            squares += size * size;
            rows[std::size_t(i)] += size;
            if (hermitian && i < j) rows[std::size_t(j)] += size;
        }
        columns_most = columns_most < sum || sum != sum ? sum : columns_most;
    }
    for (const Real<T> sum : rows) rows_most = rows_most < sum || sum != sum ? sum : rows_most;
    if (hermitian) return rows_most;
    return squares < rows_most * columns_most ? squares : rows_most * columns_most;
}

/// R and K = R^-1 from the Gram matrix in R. Its columns are first made of length 1; a bound of the square of A's condition then,
/// which is several times too large, is returned: infinity where there is no R.
template <Scalar T> Real<T> from_gram(const KernelProvider& kernels, Index n, Stored<T> R, Stored<T> K)
{
    constexpr Real<T> none = std::numeric_limits<Real<T>>::infinity();
    std::vector<Real<T>> length(static_cast<std::size_t>(n));
    for (Index j = 0; j < n; ++j) {
        const Real<T> square = std::real(R.data[j * (R.ld + 1)]);
        if (!is_tame<T>(square)) return none;
        length[std::size_t(j)] = std::sqrt(square);
    }
    for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < j; ++i) R.data[i + j * R.ld] /= length[std::size_t(i)] * length[std::size_t(j)];
        R.data[j * (R.ld + 1)] = T(1);
    }
    const Real<T> size = squared_norm_bound(n, R.data, R.ld, true);
    if (kernels.potrf(Uplo::upper, n, R.data, R.ld) != 0) return none;
    set_diagonal(n, T(1), K.data, K.ld);
    kernels.trsm(Side::left, Uplo::upper, Op::none, Diag::non_unit, n, n, T(1), R.data, R.ld, K.data, K.ld);
    const Real<T> bound = size * squared_norm_bound(n, K.data, K.ld, false);
    for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i <= j; ++i) {
            R.data[i + j * R.ld] *= length[std::size_t(j)];
            K.data[i + j * K.ld] /= length[std::size_t(i)];
        }
        std::fill(R.data + j * R.ld + j + 1, R.data + j * R.ld + n, T(0));
    }
    return bound == bound ? bound : none;
}

/// The error of A R^-1 is that of the Gram matrix, some eps, times the square of A's condition; up to this bound of it that is a
/// few n eps, or m eps of a block of fewer than ten times as many rows. Once refined, it grows with the condition itself, which
/// may be some m, and the first Gram matrix must only have an R (measured in docs/decisions/0057).
template <Scalar T> bool is_good(Real<T> bound, Index m, Index n) { return bound <= Real<T>(std::min(100 * n, 10 * m)); }
template <Scalar T> bool is_refinable(Real<T> bound, Index m)
{
    const Real<T> condition = Real<T>(20 * m);
    return bound <= std::min({Real<T>(1e9), Real<T>(0.01) / std::numeric_limits<Real<T>>::epsilon(), condition * condition});
}

/// The same once more for A K, which is nearly orthonormal: R <- R_2 R, K <- K K_2 (CholeskyQR2: Yamamoto and others 2015).
/// Returns the bound for A K.
template <Scalar T> Real<T> refine(const KernelProvider& kernels, Index m, Index n, Stored<const T> A, Stored<T> R, Stored<T> K)
{
    const Index step = rows_at_once<T>(n, Index(256) << 10, 256);
    std::vector<T> factors(std::size_t(2 * n * n)), piece(std::size_t(step * n));
    const Stored<T> R2{factors.data(), n}, K2{factors.data() + n * n, n};
    for (Index i = 0; i < m; i += step) {
        const Index rows = std::min(step, m - i);
        kernels.gemm(Op::none, Op::none, rows, n, n, T(1), A.data + i, A.ld, K.data, K.ld, T(0), piece.data(), rows);
        kernels.herk(Uplo::upper, herm_op<T>, n, rows, Real<T>(1), piece.data(), rows, Real<T>(i ? 1 : 0), R2.data, n);
    }
    const Real<T> bound = from_gram(kernels, n, R2, K2);
    kernels.trmm(Side::left, Uplo::upper, Op::none, Diag::non_unit, n, n, T(1), R2.data, n, R.data, R.ld);
    kernels.trmm(Side::right, Uplo::upper, Op::none, Diag::non_unit, n, n, T(1), K2.data, n, K.data, K.ld);
    return bound;
}

template <Scalar T> bool is_finite(Index m, Index n, const T* A, Index lda)
{
    bool finite = true;
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < m; ++i) {
            const T x = A[i + j * lda];
            finite = finite & (std::isfinite(std::real(x)) && std::isfinite(std::imag(x)));
        }
    return finite;
}

/// A block's matrices in memory that the core can use.
template <Scalar T> struct Parts {
    Stored<T> A, R, K, C;
};

/// Of an m x n block.
template <Scalar T> struct GramArgs {
    Index m, n;

    Flops flops() const { return weight_of<T> * double(m) * double(n) * double(n); }
    void run(TaskContext& context)
    {
        const Stored<const T> A = stored<const T>(context, 0);
        const Stored<T> R = stored<T>(context, 1), K = stored<T>(context, 2);
        const KernelProvider& kernels = kernels_of(context);
        gram(kernels, m, n, A.data, A.ld, R.data, R.ld);
        Real<T> bound = from_gram(kernels, n, R, K);
        if (!is_good<T>(bound, m, n) && is_refinable<T>(bound, m)) bound = refine(kernels, m, n, A, R, K);
        State<T>& state = *data_of<State<T>>(context, 3);
        if (is_good<T>(bound, m, n)) return void(state = State<T>::gram);
        set_diagonal(n, T(0), R.data, R.ld);
        state = is_finite(m, n, A.data, A.ld) ? State<T>::reflectors : State<T>::no_number;
    }
};

/// Of the blocks' states.
template <Scalar T> struct JudgeArgs {
    Index blocks, most;

    void run(TaskContext& context)
    {
        Index no_number = 0, reflected = 0;
        for (Index b = 0; b < blocks; ++b) {
            const State<T> state = *data_of<const State<T>>(context, int(1 + b));
            no_number += state == State<T>::no_number;
            reflected += state == State<T>::reflectors;
        }
        *data_of<Index>(context, 0) = no_number > 0 || reflected > most;
    }
};

template <Scalar T> struct ReflectArgs {
    Index m, n;

    Flops flops() const { return 0; } // of a block that nobody expects
    void run(TaskContext& context)
    {
        if (*data_of<const Index>(context, 4) || *data_of<const State<T>>(context, 3) != State<T>::reflectors) return;
        const Stored<T> A = stored<T>(context, 0), R = stored<T>(context, 1), K = stored<T>(context, 2);
        std::vector<T> tau(static_cast<std::size_t>(n));
        blas::geqrf(m, n, A.data, A.ld, tau.data(), K.data, K.ld);
        copy_upper(n, A.data, A.ld, R.data, R.ld);
    }
};

/// W <- K V^H W with V's unit lower triangle in A.
template <Scalar T> void inside(const KernelProvider& kernels, Index n, Stored<T> A, Stored<T> K, Stored<T> W)
{
    kernels.trmm(Side::left, Uplo::lower, herm_op<T>, Diag::unit, n, n, T(1), A.data, A.ld, W.data, W.ld);
    kernels.trmm(Side::left, Uplo::upper, Op::none, Diag::non_unit, n, n, T(1), K.data, K.ld, W.data, W.ld);
}

/// Q - S = L U without interchanges in place, Q n x n; the signs. By blocks of columns.
template <Scalar T> std::vector<T> signed_lu(const KernelProvider& kernels, Index n, T* Q, Index ldq)
{
    constexpr Index block = 32;
    std::vector<T> signs(static_cast<std::size_t>(n));
    for (Index begin = 0; begin < n; begin += block) {
        const Index end = std::min(begin + block, n), rest = n - end;
        for (Index j = begin; j < end; ++j) {
            T* const column = Q + j * ldq;
            signs[std::size_t(j)] = std::real(column[j]) < 0 ? T(1) : T(-1);
            column[j] -= signs[std::size_t(j)];
            const T inverse = T(1) / column[j];
            for (Index i = j + 1; i < n; ++i) column[i] *= inverse;
            for (Index c = j + 1; c < end; ++c)
                for (Index i = j + 1; i < n; ++i) Q[i + c * ldq] -= column[i] * Q[j + c * ldq];
        }
        if (rest == 0) break;
        T* const right = Q + begin + end * ldq;
        kernels.trsm(Side::left, Uplo::lower, Op::none, Diag::unit, end - begin, rest, T(1), Q + begin * (ldq + 1), ldq, right,
                     ldq);
        kernels.gemm(Op::none, Op::none, rest, rest, end - begin, T(-1), Q + end + begin * ldq, ldq, right, ldq, T(1),
                     Q + end * (ldq + 1), ldq);
    }
    return signs;
}

template <Scalar T> struct HeadArgs {
    Index n;

    Flops flops() const { return weight_of<T> * 8.0 / 3 * double(n) * double(n) * double(n); }
    void run(TaskContext& context)
    {
        if (*data_of<const Index>(context, 8)) return;
        const KernelProvider& kernels = kernels_of(context);
        const Parts<T> block{stored<T>(context, 0), stored<T>(context, 1), stored<T>(context, 2), stored<T>(context, 3)};
        const Stored<T> U = stored<T>(context, 4), head = stored<T>(context, 5);
        T* const tau = data_of<T>(context, 6);
        first_rows(kernels, *data_of<const State<T>>(context, 7), block, U, head);
        const std::vector<T> signs = signed_lu(kernels, n, head.data, head.ld);
        copy_upper(n, head.data, head.ld, U.data, U.ld);
        for (Index j = 0; j < n; ++j) {
            tau[j] = -signs[std::size_t(j)] * U.data[j * (U.ld + 1)];
            for (Index i = 0; i <= j; ++i) head.data[i + j * head.ld] = signs[std::size_t(i)] * block.R.data[i + j * block.R.ld];
        }
    }

private:
    /// of Q; W is overwritten.
    void first_rows(const KernelProvider& kernels, State<T> state, const Parts<T>& block, Stored<T> W, Stored<T> Q) const
    {
        copy_all(n, n, block.C.data, block.C.ld, W.data, W.ld);
        if (state == State<T>::gram) {
            kernels.trmm(Side::left, Uplo::upper, Op::none, Diag::non_unit, n, n, T(1), block.K.data, block.K.ld, W.data, W.ld);
            kernels.gemm(Op::none, Op::none, n, n, n, T(1), block.A.data, block.A.ld, W.data, W.ld, T(0), Q.data, Q.ld);
            return;
        }
        inside(kernels, n, block.A, block.K, W);
        kernels.trmm(Side::left, Uplo::lower, Op::none, Diag::unit, n, n, T(1), block.A.data, block.A.ld, W.data, W.ld);
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < n; ++i) Q.data[i + j * Q.ld] = block.C.data[i + j * block.C.ld] - W.data[i + j * W.ld];
    }
};

template <Scalar T> struct BlockArgs {
    Index m, n;
    bool is_first;

    Flops flops() const { return weight_of<T> * 2 * double(m) * double(n) * double(n); }
    void run(TaskContext& context)
    {
        if (*data_of<const Index>(context, 7)) return;
        const KernelProvider& kernels = kernels_of(context);
        const Parts<T> block{stored<T>(context, 0), stored<T>(context, 1), stored<T>(context, 2), stored<T>(context, 3)};
        const Stored<T> U = stored<T>(context, 4), head = stored<T>(context, 5), C = block.C;
        if (*data_of<const State<T>>(context, 6) == State<T>::gram) {
            kernels.trmm(Side::left, Uplo::upper, Op::none, Diag::non_unit, n, n, T(1), block.K.data, block.K.ld, C.data, C.ld);
            kernels.trsm(Side::right, Uplo::upper, Op::none, Diag::non_unit, n, n, T(1), U.data, U.ld, C.data, C.ld);
            multiply(kernels, is_first ? n : 0, T(1), block.A, C);
        } else {
            kernels.trsm(Side::right, Uplo::upper, Op::none, Diag::non_unit, n, n, T(1), U.data, U.ld, C.data, C.ld);
            undo_reflectors(kernels, block);
        }
        if (is_first) copy_all(n, n, head.data, head.ld, block.A.data, block.A.ld);
    }

private:
    /// Rows of A from `first` on <- alpha A M, those of a piece after the other.
    void multiply(const KernelProvider& kernels, Index first, T alpha, Stored<T> A, Stored<T> M) const
    {
        const Index step = rows_at_once<T>(n, Index(512) << 10, 2048);
        T* const copy = blas::scratch<T>(blas::Buffer::factor, step * n);
        for (Index i = first; i < m; i += step) {
            const Index rows = std::min(step, m - i);
            copy_all(rows, n, A.data + i, A.ld, copy, rows);
            kernels.gemm(Op::none, Op::none, rows, n, n, alpha, copy, rows, M.data, M.ld, T(0), A.data + i, A.ld);
        }
    }
    /// A <- (I - V K V^H) [C; 0], V in A; R becomes K V^H [C; 0].
    void undo_reflectors(const KernelProvider& kernels, const Parts<T>& block) const
    {
        const Stored<T> A = block.A, W = block.R;
        copy_all(n, n, block.C.data, block.C.ld, W.data, W.ld);
        inside(kernels, n, A, block.K, W);
        multiply(kernels, n, T(-1), A, W);
        kernels.trmm(Side::left, Uplo::lower, Op::none, Diag::unit, n, n, T(1), A.data, A.ld, W.data, W.ld);
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < n; ++i) A.data[i + j * A.ld] = block.C.data[i + j * block.C.ld] - W.data[i + j * W.ld];
    }
};

Datum word(const Index* number) { return {number, 1, 1, 1, sizeof(Index)}; }
template <Scalar T> Datum state_of(const TallBlock<T>& block) { return {block.state, 1, 1, 1, sizeof(State<T>)}; }

template <Scalar T> struct BeginArgs {
    Index n;
    bool identity;

    Flops flops() const { return 0; }
    void run(TaskContext& context)
    {
        const Stored<T> C = stored<T>(context, 0);
        set_diagonal(n, T(identity ? 1 : 0), C.data, C.ld);
    }
};

} // namespace

template <Scalar T> void gram_qr(Flow& flow, TallBlock<T> block)
{
    static constexpr Codelet codelet = codelet_of<GramArgs<T>>("gram_qr");
    const GramArgs<T> args{block.A.rows, block.A.cols};
    flow.submit(codelet, args, {read(block.A), write(block.R), write(block.K), write(state_of(block))});
}

template <Scalar T> void judge_blocks(Flow& flow, std::span<const TallBlock<T>> blocks, Index most, Index* unfit)
{
    std::vector<Access> accesses{write(word(unfit))};
    for (const TallBlock<T>& block : blocks) accesses.push_back(read(state_of(block)));
    static constexpr Codelet codelet = codelet_of<JudgeArgs<T>>("judge_blocks");
    flow.submit(codelet, JudgeArgs<T>{Index(blocks.size()), most}, accesses);
}

template <Scalar T> void reflect_block(Flow& flow, TallBlock<T> block, const Index* unfit)
{
    static constexpr Codelet codelet = codelet_of<ReflectArgs<T>>("reflect_block");
    const ReflectArgs<T> args{block.A.rows, block.A.cols};
    flow.submit(codelet, args,
                {readwrite(block.A), readwrite(block.R), readwrite(block.K), read(state_of(block)), read(word(unfit))});
}

template <Scalar T> void begin_q(Flow& flow, Tile<T> C, bool identity)
{
    static constexpr Codelet codelet = codelet_of<BeginArgs<T>>("begin_q");
    flow.submit(codelet, BeginArgs<T>{C.rows, identity}, {write(C)});
}

template <Scalar T> void reconstruct_head(Flow& flow, TallBlock<T> first, TallHead<T> to, const Index* unfit)
{
    static constexpr Codelet codelet = codelet_of<HeadArgs<T>>("reconstruct_head");
    const Index n = first.A.cols;
    flow.submit(codelet, HeadArgs<T>{n},
                {read(first.A), read(first.R), read(first.K), read(first.C), write(to.U), write(to.head),
                 write(Tile<T>{to.tau, n, 1, n}), read(state_of(first)), read(word(unfit))});
}

template <Scalar T> void reconstruct_block(Flow& flow, TallBlock<T> block, TallHead<T> from, bool is_first, const Index* unfit)
{
    static constexpr Codelet codelet = codelet_of<BlockArgs<T>>("reconstruct_block");
    const BlockArgs<T> args{block.A.rows, block.A.cols, is_first};
    flow.submit(codelet, args,
                {readwrite(block.A), readwrite(block.R), read(block.K), readwrite(block.C), read(from.U), read(from.head),
                 read(state_of(block)), read(word(unfit))});
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void gram_qr(Flow&, TallBlock<T>);                                                                                  \
    template void judge_blocks(Flow&, std::span<const TallBlock<T>>, Index, Index*);                                             \
    template void reflect_block(Flow&, TallBlock<T>, const Index*);                                                              \
    template void begin_q(Flow&, Tile<T>, bool);                                                                                 \
    template void reconstruct_head(Flow&, TallBlock<T>, TallHead<T>, const Index*);                                              \
    template void reconstruct_block(Flow&, TallBlock<T>, TallHead<T>, bool, const Index*);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
