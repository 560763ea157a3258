#include "kernels/tile_access.hpp"
#include "kernels/tile_operations.hpp"
#include "matrix/conjugate.hpp"

#include <cassert>

namespace trencadis::task {
namespace {

/// Rows of column j that belong to the part, in memory.
struct Rows {
    Index begin, end;
};
inline Rows rows_of(Part part, Op op, Index j, Index rows)
{
    if (part == Part::all) return {0, rows};
    return op == Op::none ? Rows{std::min(j, rows), rows} : Rows{0, std::min(j + 1, rows)};
}

template <Scalar T> struct CopyArgs {
    const T* from;
    T* to;
    Index ld_from, ld_to, rows, cols;
    Part part;
    Op op;

    void run(TaskContext&)
    {
        for (Index j = 0; j < cols; ++j) {
            const Rows r = rows_of(part, op, j, rows);
            std::copy(from + r.begin + j * ld_from, from + r.end + j * ld_from, to + r.begin + j * ld_to);
        }
    }
};

template <Scalar T> struct ScaleArgs {
    T* A;
    Index ld, rows, cols;
    Part part;
    Op op;
    bool hermitian;
    T alpha;

    void run(TaskContext&)
    {
        for (Index j = 0; j < cols; ++j) {
            T* const column = A + j * ld;
            const Rows r = rows_of(part, op, j, rows);
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

template <Scalar T> void submit_scale(TaskFlow& flow, T alpha, Tile<T> A, Part part, bool hermitian)
{
    static constexpr Codelet codelet = codelet_of<ScaleArgs<T>>("scale");
    const ScaleArgs<T> args{A.data, A.ld, A.stored_rows(), A.stored_cols(), part, A.op, hermitian, seen_through(A.op, alpha)};
    flow.submit(codelet, args, {readwrite(A)});
}

struct AfterArgs {
    void run(TaskContext&) {}
};

} // namespace

template <Scalar T> void scale(TaskFlow& flow, T alpha, Tile<T> A) { submit_scale(flow, alpha, A, Part::all, false); }

template <Scalar T> void scale_lower(TaskFlow& flow, T alpha, Tile<T> A, bool hermitian)
{
    submit_scale(flow, alpha, A, Part::lower, hermitian);
}

template <Scalar T> void copy(TaskFlow& flow, Part part, Tile<T> A, Tile<T> B)
{
    static constexpr Codelet codelet = codelet_of<CopyArgs<T>>("copy");
    assert(A.op == B.op);
    const CopyArgs<T> args{A.data, B.data, A.ld, B.ld, A.stored_rows(), A.stored_cols(), part, A.op};
    // Only a whole tile replaces the previous contents.
    flow.submit(codelet, args, {read(A), part == Part::all ? write(B) : readwrite(B)});
}

template <Scalar T> void after(TaskFlow& flow, Tile<T> A, Tile<T> B)
{
    static constexpr Codelet codelet = [] {
        Codelet bookkeeping = codelet_of<AfterArgs>("after");
        bookkeeping.counted = false;
        return bookkeeping;
    }();
    flow.submit(codelet, AfterArgs{}, {read(A), readwrite(B)});
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void scale(TaskFlow&, T, Tile<T>);                                                                                  \
    template void after(TaskFlow&, Tile<T>, Tile<T>);                                                                            \
    template void scale_lower(TaskFlow&, T, Tile<T>, bool);                                                                      \
    template void copy(TaskFlow&, Part, Tile<T>, Tile<T>);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::task
