#pragma once
#include "kernels/tiles/tournament_operations.hpp"

#include <numeric>
#include <vector>

/// Candidates of a tournament, for those who run its tasks.
namespace trencadis::task {

template <Scalar T> Datum datum(Candidates<T> rows) { return Datum(rows.data, double(Candidates<T>::bytes(rows.nb))); }

/// Candidates in memory.
template <Scalar T> struct Rows {
    Index* numbers; ///< in the matrix, from 0
    T* entries;
    Index ld;

    static Rows of(void* data, Index nb)
    {
        Index* const numbers = static_cast<Index*>(data);
        return {numbers, reinterpret_cast<T*>(numbers + nb), nb};
    }
};

/// LAPACK's interchanges, from 1 and of the whole matrix, that bring `count` rows to the top of m rows that begin at row `first`.
inline void interchanges(const Index* winners, Index count, Index first, Index m, Index* pivots)
{
    std::vector<Index> row_at(static_cast<std::size_t>(m)); // what lies where, and the inverse
    std::iota(row_at.begin(), row_at.end(), Index(0));
    std::vector<Index> place_of = row_at;
    for (Index i = 0; i < count; ++i) {
        const Index row = winners[i] - first, place = place_of[std::size_t(row)], displaced = row_at[std::size_t(i)];
        pivots[i] = first + place + 1;
        std::swap(row_at[std::size_t(i)], row_at[std::size_t(place)]);
        place_of[std::size_t(displaced)] = place;
        place_of[std::size_t(row)] = i;
    }
}

} // namespace trencadis::task
