#include "drivers/distributed_matrix.hpp"

#include "base/error.hpp"
#include "drivers/shared_call.hpp"
#include "graph/processes.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <set>
#include <string>

namespace trencadis {
namespace {

/// Of a place, in [-1/2, 1/2): a mixture of its bits (splitmix64).
double number_at(std::uint64_t seed, std::uint64_t i, std::uint64_t j)
{
    std::uint64_t bits = seed * 0x9e3779b97f4a7c15 + i * 0xd1b54a32d192ed03 + j * 0x8cb92ba72f3d8dd7;
    for (int round = 0; round < 2; ++round) {
        bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
        bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
        bits ^= bits >> 31;
    }
    return double(bits >> 11) * 0x1p-53 - 0.5;
}
template <Scalar T> T element_at(std::uint64_t seed, Index i, Index j)
{
    const double real = number_at(2 * seed, std::uint64_t(i), std::uint64_t(j));
    if constexpr (is_complex<T>) return T(Real<T>(real), Real<T>(number_at(2 * seed + 1, std::uint64_t(i), std::uint64_t(j))));
    else return T(real);
}

} // namespace

template <Scalar T>
DistributedMatrix<T>::DistributedMatrix(Crew& crew, Index rows, Index cols, Index mb, Index nb, const TileOwners& owners,
                                        bool idle_too)
    : rank_(distributed::processes(crew).rank()), memory_(std::make_shared<Memory>()), tiles_{rows, cols, mb, nb, owners, {}}
{
    require_owners(crew, tiles_, 0, !idle_too);
    Memory& memory = *memory_;
    try {
        memory.row_tiles = tiles_.row_tiles();
        memory.places.reset(new std::int32_t[std::size_t(tiles_.row_tiles() * tiles_.col_tiles())]);
        for (Index j = 0; j < tiles_.col_tiles(); ++j)
            for (Index i = 0; i < tiles_.row_tiles(); ++i)
                memory.places[std::size_t(i + j * memory.row_tiles)] = is_here(i, j) ? std::int32_t(memory.count++) : -1;
        memory.data.reset(new T[std::size_t(memory.count * mb * nb)]());
    } catch (const std::bad_alloc&) {
        throw Error(ErrorCode::out_of_memory,
                    "no memory for this process's tiles of a matrix " + std::to_string(rows) + " x " + std::to_string(cols));
    }
    tiles_.at = [kept = memory_, mb, nb](Index i, Index j) {
        return LocalTile<T>{kept->data.get() + kept->place(i, j) * mb * nb, mb};
    };
}

template <Scalar T>
DistributedMatrix<T>::DistributedMatrix(Crew& crew, const HeldTiles<T>& tiles)
    : rank_(distributed::processes(crew).rank()), tiles_(tiles)
{
    require_owners(crew, tiles_, 0);
}

template <Scalar T> double DistributedMatrix<T>::bytes() const
{
    double elements = 0;
    for (Index j = 0; j < tiles_.col_tiles(); ++j)
        for (Index i = 0; i < tiles_.row_tiles(); ++i)
            if (is_here(i, j)) elements += double(row_count(i)) * double(col_count(j));
    return elements * sizeof(T);
}

template <Scalar T> void DistributedMatrix<T>::fill_random(std::uint64_t seed)
{
    fill([=](Index i, Index j) { return element_at<T>(seed, i, j); });
}

template <Scalar T> void DistributedMatrix<T>::fill_definite(std::uint64_t seed)
{
    fill([=, n = tiles_.rows](Index i, Index j) {
        if (i == j) return T(Real<T>(std::abs(element_at<T>(seed, i, j)) + double(n)));
        const T element = element_at<T>(seed, std::max(i, j), std::min(i, j));
        if constexpr (is_complex<T>) return i < j ? std::conj(element) : element;
        else return element;
    });
}

template <Scalar T> void DistributedMatrix<T>::copy_tiles(const DistributedMatrix& B)
{
    for (Index J = 0; J < tiles_.col_tiles(); ++J)
        for (Index I = 0; I < tiles_.row_tiles(); ++I) {
            if (!is_here(I, J)) continue;
            const LocalTile<T> to = tile(I, J), from = B.tile(I, J);
            for (Index j = 0; j < col_count(J); ++j) std::copy_n(from.data + j * from.ld, row_count(I), to.data + j * to.ld);
        }
}

template <Scalar T> void DistributedMatrix<T>::keep_triangle(Uplo uplo)
{
    each([&](Index i, Index j, T& element) {
        if (uplo == Uplo::upper ? i > j : i < j) element = T(0);
    });
}

template <Scalar T> double DistributedMatrix<T>::norm(Processes& processes) const
{
    double largest = 0, sum = 0;
    each([&](Index, Index, const T& element) { largest = std::max(largest, double(std::abs(element))); });
    each([&](Index, Index, const T& element) { sum += std::isnan(std::abs(element)) ? NAN : 0; });
    processes.largest({&largest, 1});
    if (largest > 0) each([&](Index, Index, const T& element) { sum += std::norm(std::complex<double>(element) / largest); });
    processes.sum({&sum, 1});
    return std::isnan(sum) ? NAN : largest * std::sqrt(sum);
}

template class DistributedMatrix<float>;
template class DistributedMatrix<double>;
template class DistributedMatrix<std::complex<float>>;
template class DistributedMatrix<std::complex<double>>;

} // namespace trencadis
