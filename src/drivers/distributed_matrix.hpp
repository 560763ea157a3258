#pragma once
#include "drivers/distributed.hpp"

#include <cstdint>
#include <memory>

namespace trencadis {

/// This process's tiles of a matrix: its own, one after the other by columns of tiles, each mb x nb with leading dimension mb, or
/// where the caller has them.
template <Scalar T> class DistributedMatrix {
public:
    /// All zero. Throws Error{bad_argument} for owners that are not among the session's processes, and where one of those has no
    /// tile (`idle_too`: then that is right); Error{out_of_memory}.
    DistributedMatrix(Crew& crew, Index rows, Index cols, Index mb, Index nb, const TileOwners& owners, bool idle_too = false);

    /// On the caller's memory, which must outlive it. Throws as above.
    DistributedMatrix(Crew& crew, const HeldTiles<T>& tiles);

    const HeldTiles<T>& tiles() const { return tiles_; }
    bool is_here(Index i, Index j) const { return tiles_.owners(i, j) == rank_; }
    LocalTile<T> tile(Index i, Index j) const { return tiles_.at(i, j); }
    Index row_count(Index i) const { return std::min(tiles_.mb, tiles_.rows - i * tiles_.mb); }
    Index col_count(Index j) const { return std::min(tiles_.nb, tiles_.cols - j * tiles_.nb); }
    double bytes() const; ///< of the elements here

    /// `set(i, j)`: element (i, j) of the whole; called for those of this process.
    template <class Set> void fill(Set&& set)
    {
        each([&](Index i, Index j, T& element) { element = set(i, j); });
    }
    /// `visit(i, j, element)`, of this process's.
    template <class Visit> void each(Visit&& visit) const
    {
        for (Index J = 0; J < tiles_.col_tiles(); ++J)
            for (Index I = 0; I < tiles_.row_tiles(); ++I) {
                if (!is_here(I, J)) continue;
                const LocalTile<T> here = tile(I, J);
                for (Index j = 0; j < col_count(J); ++j)
                    for (Index i = 0; i < row_count(I); ++i)
                        visit(I * tiles_.mb + i, J * tiles_.nb + j, here.data[i + j * here.ld]);
            }
    }
    /// Numbers in [-1/2, 1/2), by seed and place alone. Symmetric (Hermitian), and n larger on the diagonal: positive definite.
    void fill_random(std::uint64_t seed);
    void fill_definite(std::uint64_t seed);
    /// <- B, in tiles of the same owners.
    void copy_tiles(const DistributedMatrix& B);
    /// What is below the diagonal (of the triangle that is not `uplo`) becomes 0.
    void keep_triangle(Uplo uplo);
    /// The square root of the sum of squares of the whole. All processes.
    double norm(Processes& processes) const;

private:
    struct Memory {
        std::unique_ptr<T[]> data;
        std::unique_ptr<std::int32_t[]> places; ///< by columns of tiles; -1: elsewhere
        Index row_tiles = 0, count = 0;
        Index place(Index i, Index j) const { return places[std::size_t(i + j * row_tiles)]; }
    };

    int rank_;
    std::shared_ptr<Memory> memory_; ///< which the tiles refer to; null: the caller's
    HeldTiles<T> tiles_;
};

} // namespace trencadis
