#pragma once
#include "kernels/tiles/lu_operations.hpp"
#include "kernels/tiles/tile_access.hpp"

#include <vector>

namespace trencadis::task {

inline Datum datum(Pivots pivots) { return {pivots.data, pivots.count, 1, pivots.count, sizeof(Index)}; }
inline Access read(Pivots pivots) { return trencadis::read(datum(pivots)); }
inline Access write(Pivots pivots) { return trencadis::write(datum(pivots)); }

/// As large as its columns need.
template <Scalar T> Datum datum(Elimination<T> by)
{
    return Datum(by.data, double(by.columns) * double(sizeof(Index) + std::size_t(by.ib) * sizeof(T)));
}
template <Scalar T> Access read(Elimination<T> by) { return trencadis::read(datum(by)); }
template <Scalar T> Access write(Elimination<T> by) { return trencadis::write(datum(by)); }

/// Interchanges in pieces, each a datum: the number of the first access, and how many there are.
struct PivotPlace {
    std::int32_t first, pieces;
};
/// They as one vector in memory that the core can use: where they are, if they follow one another, else a copy.
class PivotList {
public:
    PivotList(const TaskContext& context, PivotPlace place)
    {
        bool together = true;
        for (int i = 0; i < place.pieces; ++i) {
            const Operand piece = context.operand(place.first + i);
            if (i == 0) data_ = static_cast<const Index*>(piece.data);
            together = together && piece.data == data_ + count_;
            count_ += piece.rows;
        }
        if (together) return;
        for (int i = 0; i < place.pieces; ++i) {
            const Operand piece = context.operand(place.first + i);
            const Index* const from = static_cast<const Index*>(piece.data);
            copy_.insert(copy_.end(), from, from + piece.rows);
        }
        data_ = copy_.data();
    }
    const Index* data() const { return data_; }
    Index count() const { return count_; }

private:
    std::vector<Index> copy_;
    const Index* data_ = nullptr;
    Index count_ = 0;
};

} // namespace trencadis::task
