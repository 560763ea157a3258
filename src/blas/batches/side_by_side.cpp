#include "blas/batches/side_by_side.hpp"

#include "blas/factorizations/inverse_pivot.hpp"
#include "blas/level3/control_tree.hpp"
#include "blas/level3/scratch.hpp"

#include <algorithm>
#include <complex>
#include <limits>

namespace trencadis::blas {
namespace {

/// Elements of a matrix: twice as many gain little more, and a batch with fewer matrices than lanes loses by what it computes in
/// vain.
constexpr Index largest = 64 * 64;

template <Scalar T> const LaneKernels<T>& kernels() { return setup<T>().kernel.side_by_side; }

/// Group by group, as many as there are lanes.
template <Scalar T> void run(const LaneKernels<T>& with, void (*kernel)(const LaneProblems<T>&), const Batch<T>& batch)
{
    LaneProblems<T> group{};
    group.least = planes<T> * std::numeric_limits<Real<T>>::min(); // |re| + |im| is up to sqrt 2 times the modulus
    group.invert = inverse_pivot<T>;
    group.divide = divide_by_pivot<T>;
    const Index numbers = with.work_size(batch.m, batch.n, batch.nrhs), bytes = numbers * Index(sizeof(Real<T>));
    const Index exchanges = with.lanes * batch.steps() * Index(sizeof(Index));
    auto* const room = static_cast<unsigned char*>(scratch_bytes(Buffer::factor, bytes + exchanges));
    group.work = reinterpret_cast<Real<T>*>(room);
    group.exchanges = reinterpret_cast<Index*>(room + bytes);
    for (Index first = 0; first < batch.count; first += with.lanes) {
        group.batch = batch.part(first, std::min(with.lanes, batch.count - first));
        kernel(group);
    }
}

} // namespace

template <Scalar T> Index lanes() { return kernels<T>().lanes; }

bool side_by_side(Index m, Index n) { return m > 0 && n > 0 && m <= largest / n; }

template <Scalar T> void cholesky_batch(const Batch<T>& batch)
{
    const LaneKernels<T>& with = kernels<T>();
    run(with, with.cholesky, batch);
}

template <Scalar T> void lu_batch(const Batch<T>& batch)
{
    const LaneKernels<T>& with = kernels<T>();
    run(with, with.lu, batch);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template Index lanes<T>();                                                                                                   \
    template void cholesky_batch(const Batch<T>&);                                                                               \
    template void lu_batch(const Batch<T>&);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
