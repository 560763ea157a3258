#pragma once
#include "blas/batches/side_by_side.hpp"
#include "blas/testing/factors.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

/// Batches of small matrices for tests, and what is told of each.
namespace trencadis::blas::testing {

/// Matrices of one shape in one array, signalling NaN between them and where nothing is set.
template <Scalar T> struct Stack {
    Index count, rows, cols, ld, stride;
    std::vector<T> data;

    Stack(Index count, Index rows, Index cols, Index padding = 1, Index gap = 3)
        : count(count), rows(rows), cols(cols), ld(std::max<Index>(rows + padding, 1)), stride(ld * cols + gap),
          data(std::size_t(stride * count + 1))
    {
        static const Real<T> poison = std::numeric_limits<Real<T>>::signaling_NaN();
        auto* const numbers = reinterpret_cast<char*>(data.data());
        for (std::size_t at = 0; at < data.size() * sizeof(T); at += sizeof poison)
            std::memcpy(numbers + at, &poison, sizeof poison);
    }
    T* at(Index k) { return data.data() + k * stride; }
    const T* at(Index k) const { return data.data() + k * stride; }
    /// Matrix k with what lies between its columns.
    Stored<T> get(Index k) const
    {
        Stored<T> A(rows, cols, ld - rows);
        std::memcpy(static_cast<void*>(A.data.data()), at(k), std::size_t(ld * cols) * sizeof(T));
        return A;
    }
    void set(Index k, const std::function<T(Index, Index)>& entry, const std::function<bool(Index, Index)>& inside = {})
    {
        for (Index j = 0; j < cols; ++j)
            for (Index i = 0; i < rows; ++i)
                if (!inside || inside(i, j)) at(k)[i + j * ld] = entry(i, j);
    }
    bool same_gaps(const Stack& other) const
    {
        for (Index k = 0; k < count; ++k)
            for (Index at = 0; at < stride; ++at)
                if ((at >= ld * cols || at % ld >= rows) && std::memcmp(this->at(k) + at, other.at(k) + at, sizeof(T)) != 0)
                    return false;
        return true;
    }
};
template <Scalar T> Stack<T> random_stack(Random& random, Index count, Index rows, Index cols)
{
    Stack<T> A(count, rows, cols, random.below(3), random.below(4));
    for (Index k = 0; k < count; ++k) A.set(k, [&](Index, Index) { return random.number<T>(); });
    return A;
}
/// The diagonal with an imaginary part that counts as zero.
template <Scalar T> Stack<T> positive_stack(Random& random, Index count, Index n, Uplo uplo)
{
    Stack<T> A(count, n, n, random.below(3), random.below(4));
    for (Index k = 0; k < count; ++k)
        A.set(
            k, [&](Index i, Index j) { return random.number<T>() + (i == j ? T(Real<T>(2 * n + 1)) : T(0)); },
            [&](Index i, Index j) { return in_part(uplo, i, j); });
    return A;
}

/// The results of a batch.
struct Told {
    std::vector<Index> pivots, info;
};
template <Scalar T> Batch<T> batch_of(Stack<T>& A, Told& told, Uplo uplo = Uplo::lower)
{
    told.pivots.assign(std::size_t(A.count * std::min(A.rows, A.cols)), -1);
    told.info.assign(std::size_t(A.count), -1);
    return {A.count, A.rows, A.cols, A.data.data(), A.ld, A.stride, uplo, told.pivots.data(), told.info.data(), 0, nullptr, 0, 0};
}
template <Scalar T> Batch<T> with_right_sides(Batch<T> batch, Stack<T>& B)
{
    batch.nrhs = B.cols, batch.B = B.data.data(), batch.ldb = B.ld, batch.stride_b = B.stride;
    return batch;
}
inline std::vector<Index> pivots_of(const Told& told, Index k, Index steps)
{
    return {told.pivots.begin() + k * steps, told.pivots.begin() + (k + 1) * steps};
}

} // namespace trencadis::blas::testing
