#include "kernels/tiles/operands.hpp"
#include "kernels/tiles/tile_access.hpp"
#include "kernels/tiles/tile_operations.hpp"
#include "matrix/conjugate.hpp"

#include <cassert>

namespace trencadis::task {
namespace {

/// Rows of column j that belong to the part, in memory.
struct Rows {
    Index begin, end;
};
inline Rows rows_of(bool lower, Op op, Index j, Index rows)
{
    if (!lower) return {0, rows};
    return op == Op::none ? Rows{std::min(j, rows), rows} : Rows{0, std::min(j + 1, rows)};
}

template <Scalar T> struct CopyArgs {
    Index rows, cols;
    bool lower;
    Op op;

    void run(TaskContext& context)
    {
        const Stored<const T> from = stored<const T>(context, 0);
        const Stored<T> to = stored<T>(context, 1);
        for (Index j = 0; j < cols; ++j) {
            const Rows r = rows_of(lower, op, j, rows);
            const T* const column = from.data + j * from.ld;
            std::copy(column + r.begin, column + r.end, to.data + r.begin + j * to.ld);
        }
    }
};

template <Scalar T> struct ScaleArgs {
    Index rows, cols;
    bool lower;
    Op op;
    bool hermitian;
    T alpha;

    void run(TaskContext& context)
    {
        const Stored<T> A = stored<T>(context, 0);
        for (Index j = 0; j < cols; ++j) {
            T* const column = A.data + j * A.ld;
            const Rows r = rows_of(lower, op, j, rows);
            make_real(column, j); // before, as what is stored there counts as zero, and after, as rounding leaves something
            if (alpha == T(0)) std::fill(column + r.begin, column + r.end, T(0));
            else if (alpha != T(1))
                for (Index i = r.begin; i < r.end; ++i) column[i] *= alpha;
            make_real(column, j);
        }
    }
    void make_real([[maybe_unused]] T* column, [[maybe_unused]] Index j) const
    {
        if constexpr (is_complex<T>)
            if (hermitian && j < rows) column[j] = column[j].real();
    }
};

template <Scalar T> void submit_scale(Flow& flow, T alpha, Tile<T> A, bool lower, bool hermitian)
{
    static constexpr Codelet codelet = codelet_of<ScaleArgs<T>>("scale");
    const ScaleArgs<T> args{A.stored_rows(), A.stored_cols(), lower, A.op, hermitian, seen_through(A.op, alpha)};
    flow.submit(codelet, args, {readwrite(A)});
}

template <Scalar T> void submit_copy(Flow& flow, bool lower, Tile<T> A, Tile<T> B)
{
    static constexpr Codelet codelet = codelet_of<CopyArgs<T>>("copy");
    assert(A.op == B.op);
    const CopyArgs<T> args{A.stored_rows(), A.stored_cols(), lower, A.op};
    // Only a whole tile replaces the previous contents.
    flow.submit(codelet, args, {read(A), lower ? readwrite(B) : write(B)});
}

struct AfterArgs {
    void run(TaskContext&) {}
};

constexpr Codelet after_codelet = [] {
    Codelet bookkeeping = codelet_of<AfterArgs>("after");
    bookkeeping.counted = false;
    return bookkeeping;
}();

} // namespace

template <Scalar T> void scale(Flow& flow, T alpha, Tile<T> A) { submit_scale(flow, alpha, A, false, false); }

template <Scalar T> void scale_lower(Flow& flow, T alpha, Tile<T> A, bool hermitian)
{
    submit_scale(flow, alpha, A, true, hermitian);
}

template <Scalar T> void copy(Flow& flow, Tile<T> A, Tile<T> B) { submit_copy(flow, false, A, B); }
template <Scalar T> void copy_lower(Flow& flow, Tile<T> A, Tile<T> B) { submit_copy(flow, true, A, B); }

template <Scalar T> void after(Flow& flow, Tile<T> A, Tile<T> B)
{
    flow.submit(after_codelet, AfterArgs{}, {read(A), readwrite(B)});
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void scale(Flow&, T, Tile<T>);                                                                                      \
    template void after(Flow&, Tile<T>, Tile<T>);                                                                                \
    template void scale_lower(Flow&, T, Tile<T>, bool);                                                                          \
    template void copy(Flow&, Tile<T>, Tile<T>);                                                                                 \
    template void copy_lower(Flow&, Tile<T>, Tile<T>);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
