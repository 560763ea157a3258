#include "passes.hpp"

#include "call.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>

namespace trencadis::python {
namespace {

constexpr Index task_elements = Index{1} << 17; // about 1 MB of doubles: tens of microseconds, far above a task's cost
constexpr Index block = 32;                     // 32 x 32 complex doubles, twice, fit the first-level cache

template <class T> bool finite(T value)
{
    // The exponent's bits, because integer tests vectorise where isfinite does not.
    if constexpr (is_complex<T>) return finite(value.real()) && finite(value.imag());
    else if constexpr (sizeof(T) == 8) return (std::bit_cast<std::uint64_t>(value) << 1) < 0xffe0000000000000u;
    else return (std::bit_cast<std::uint32_t>(value) << 1) < 0xff000000u;
}

template <class T> T conjugated(T value)
{
    if constexpr (is_complex<T>) return std::conj(value);
    else return value;
}

template <Scalar T> const T* element(const Strided& m, Index i, Index j)
{
    return static_cast<const T*>(m.data) + i * m.row_stride + j * m.col_stride;
}

template <Scalar T> bool copy_column(const T* from, Index stride, Index rows, T* to, bool check)
{
    bool good = true;
    if (stride == 1) {
        if (!check) {
            std::copy_n(from, rows, to);
            return true;
        }
        for (Index i = 0; i < rows; ++i) {
            to[i] = from[i];
            good &= finite(from[i]);
        }
        return good;
    }
    for (Index i = 0; i < rows; ++i) {
        to[i] = from[i * stride];
        good &= !check || finite(to[i]);
    }
    return good;
}

template <Scalar T> bool copy_columns(const Strided& from, Index first, Index last, T* to, Index ld, bool check)
{
    bool good = true;
    if (std::abs(from.row_stride) <= std::abs(from.col_stride) || last - first == 1) {
        for (Index j = first; j < last; ++j)
            good &= copy_column(element<T>(from, 0, j), from.row_stride, from.rows, to + j * ld, check);
        return good;
    }
    // Neighbours lie along the rows: by blocks, so that both sides stay in cache.
    for (Index j = first; j < last; j += block)
        for (Index i = 0; i < from.rows; i += block) {
            const Index height = std::min(block, from.rows - i);
            for (Index column = j; column < std::min(last, j + block); ++column)
                good &= copy_column(element<T>(from, i, column), from.row_stride, height, to + column * ld + i, check);
        }
    return good;
}

template <Scalar T> bool finite_column(const T* data, Index stride, Index rows)
{
    bool good = true;
    if (stride == 1)
        for (Index i = 0; i < rows; ++i) good &= finite(data[i]);
    else
        for (Index i = 0; i < rows; ++i) good &= finite(data[i * stride]);
    return good;
}

/// Compares the columns [first, last) below the diagonal with the rows they mirror, block by block.
template <Scalar T> bool hermitian_columns(const Strided& A, Index first, Index last)
{
    for (Index j = first; j < last; j += block)
        for (Index i = j; i < A.rows; i += block) {
            bool same = true;
            for (Index column = j; column < std::min(last, j + block); ++column)
                for (Index row = std::max(i, column); row < std::min(A.rows, i + block); ++row)
                    same &= *element<T>(A, row, column) == conjugated(*element<T>(A, column, row));
            if (!same) return false;
        }
    return true;
}

/// Writes the columns [first, last) above the diagonal, or below it, from the rows that mirror them, block by block.
template <Scalar T> void mirror_columns(bool above, Index first, Index last, Index n, T* A, Index ld, bool conjugated)
{
    for (Index i = above ? 0 : first; i < (above ? last : n); i += block)
        for (Index j = first; j < last; ++j)
            for (Index row = std::max(i, above ? 0 : j + 1); row < std::min(i + block, above ? j : n); ++row)
                A[row + j * ld] = conjugated ? trencadis::python::conjugated(A[j + row * ld]) : A[j + row * ld];
}

template <Scalar T> int reach_in(const Strided& A, Index j, Index from, Index to, Index beside)
{
    for (Index i = from; i < to; ++i)
        if (*element<T>(A, i, j) != T(0)) return 2;
    return beside >= 0 && beside < A.rows && *element<T>(A, beside, j) != T(0);
}

void raise(std::atomic<int>& most, int value)
{
    int seen = most.load(std::memory_order_relaxed);
    while (seen < value && !most.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {}
}

/// Of a matrix whose columns lie together. Two full corners, as nearly all matrices have, tell it at once.
template <Scalar T> Reach reach_by_columns(Session& session, const Strided& A)
{
    const Index n = A.rows;
    if (n > 2 && *element<T>(A, n - 1, 0) != T(0) && *element<T>(A, 0, n - 1) != T(0)) return {2, 2};
    std::atomic<int> below{0}, above{0};
    over_columns(session, "find structure", n, n, [&](Index first, Index last) {
        for (Index j = first; j < last; ++j) {
            const bool search_below = below.load(std::memory_order_relaxed) < 2,
                       search_above = above.load(std::memory_order_relaxed) < 2;
            if (!search_below && !search_above) return;
            if (search_below) raise(below, reach_in<T>(A, j, j + 2, n, j + 1));
            if (search_above) raise(above, reach_in<T>(A, j, 0, j - 1, j - 1));
        }
    });
    return {below.load(), above.load()};
}

} // namespace

void over_columns(Session& session, const char* name, Index rows, Index cols, const std::function<void(Index, Index)>& part)
{
    if (rows * cols < shared_pass_from || cols < 2) return part(Index{0}, cols);
    const Index width = std::clamp<Index>(task_elements / std::max<Index>(rows, 1), 1, cols);
    session.run(
        [&](Flow& flow) {
            for (Index first = 0; first < cols; first += width) {
                const Index last = std::min(cols, first + width);
                flow.submit(
                    name, [&part, first, last] { part(first, last); }, std::span<const Access>{});
            }
        },
        signalled);
}

/// What is written here is written at home, and by no task that says so: copies of it that outlast calls go.
template <Scalar T> void tell_written(Session& session, Index rows, Index cols, const T* A, Index ld)
{
    Crew& crew = session;
    if (crew.keeps_copies() && rows > 0 && cols > 0) crew.will_write(A, double((cols - 1) * ld + rows) * double(sizeof(T)));
}

template <Scalar T> bool copy(Session& session, const Strided& from, T* to, Index ld, bool check)
{
    tell_written(session, from.rows, from.cols, to, ld);
    std::atomic<bool> good{true};
    over_columns(session, "copy", from.rows, from.cols, [&](Index first, Index last) {
        if (!copy_columns(from, first, last, to, ld, check)) good.store(false, std::memory_order_relaxed);
    });
    return good.load();
}

template <Scalar T> bool all_finite(Session& session, const Strided& matrix)
{
    const bool by_rows = std::abs(matrix.col_stride) < std::abs(matrix.row_stride) && matrix.cols > 1;
    const Strided m = by_rows ? matrix.transposed() : matrix;
    std::atomic<bool> good{true};
    over_columns(session, "check finite", m.rows, m.cols, [&](Index first, Index last) {
        for (Index j = first; j < last; ++j)
            if (!finite_column(element<T>(m, 0, j), m.row_stride, m.rows)) return good.store(false, std::memory_order_relaxed);
    });
    return good.load();
}

template <Scalar T> bool hermitian(Session& session, const Strided& matrix)
{
    const Index n = matrix.rows;
    if (n != matrix.cols) return false;
    if (n > 1 && *element<T>(matrix, n - 1, 0) != conjugated(*element<T>(matrix, 0, n - 1))) return false; // as most that are not
    std::atomic<bool> same{true};
    over_columns(session, "check Hermitian", matrix.rows, matrix.cols, [&](Index first, Index last) {
        if (same.load(std::memory_order_relaxed) && !hermitian_columns<T>(matrix, first, last))
            same.store(false, std::memory_order_relaxed);
    });
    return same.load();
}

template <Scalar T> void clear_opposite(Session& session, Uplo uplo, Index n, T* A, Index ld)
{
    tell_written(session, n, n, A, ld);
    over_columns(session, "clear", n, n, [&](Index first, Index last) {
        for (Index j = first; j < last; ++j) {
            T* column = A + j * ld;
            if (uplo == Uplo::lower) std::fill_n(column, j, T{});
            else std::fill(column + j + 1, column + n, T{});
        }
    });
}

template <Scalar T> void mirror(Session& session, Uplo uplo, Index n, T* A, Index ld, bool conjugated)
{
    tell_written(session, n, n, A, ld);
    over_columns(session, "mirror", n, n, [&](Index first, Index last) {
        mirror_columns(uplo == Uplo::lower, first, last, n, A, ld, conjugated);
        if (conjugated)
            for (Index j = first; j < last; ++j) A[j + j * ld] = std::real(A[j + j * ld]);
    });
}

template <Scalar T> Reach reach(Session& session, const Strided& matrix)
{
    if (std::abs(matrix.row_stride) <= std::abs(matrix.col_stride)) return reach_by_columns<T>(session, matrix);
    const Reach other = reach_by_columns<T>(session, matrix.transposed());
    return {other.above, other.below};
}

template <Scalar T> void conjugate(Session& session, Index rows, Index cols, T* B, Index ld)
{
    tell_written(session, rows, cols, B, ld);
    if constexpr (is_complex<T>)
        for (Index j = 0; j < cols; ++j)
            for (Index i = 0; i < rows; ++i) B[i + j * ld] = std::conj(B[i + j * ld]);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template bool copy<T>(Session&, const Strided&, T*, Index, bool);                                                            \
    template bool all_finite<T>(Session&, const Strided&);                                                                       \
    template bool hermitian<T>(Session&, const Strided&);                                                                        \
    template void clear_opposite<T>(Session&, Uplo, Index, T*, Index);                                                           \
    template void mirror<T>(Session&, Uplo, Index, T*, Index, bool);                                                             \
    template Reach reach<T>(Session&, const Strided&);                                                                           \
    template void conjugate<T>(Session&, Index, Index, T*, Index);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::python
