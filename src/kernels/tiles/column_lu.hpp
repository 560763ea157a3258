#pragma once
#include "blas/factorizations/lu.hpp"
#include "kernels/providers/provider.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

/// What tasks of LU by block columns compute in this process's memory. Interchanges lie in 32 bits each, as libraries of devices
/// have them, so that a core may go on where a device was; they count from 1, from the first row that a function is given.
namespace trencadis {

/// A, m x n, <- its L U factors, and min(m, n) interchanges. The first pivot that is zero, or 0.
template <Scalar T>
Index factor_column(const KernelProvider& kernels, Index m, Index n, T* A, Index lda, std::int32_t* interchanges)
{
    std::vector<Index> rows(std::size_t(std::min(m, n)));
    const Index zero = kernels.getrf(m, n, A, lda, rows.data());
    std::ranges::transform(rows, interchanges, [](Index row) { return static_cast<std::int32_t>(row); });
    return zero;
}

template <Scalar T> void apply_interchanges(Index n, T* A, Index lda, Index count, const std::int32_t* interchanges)
{
    const std::vector<Index> rows(interchanges, interchanges + count);
    blas::laswp(n, A, lda, 0, count, rows.data());
}

} // namespace trencadis
