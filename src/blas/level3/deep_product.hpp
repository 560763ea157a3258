#pragma once
#include "blas/level3/product.hpp"
#include "blas/level3/scratch.hpp"
#include "graph/team.hpp"

namespace trencadis::blas {

/// A product C <- alpha A B + beta C of great depth and a small C, as of a Gram matrix, by several cores that have nothing in
/// common but what they read: each sums pieces of the depth by itself, so that A and B are read once. The depth is cut as ever,
/// and what a piece contributes is added to C in their order, so that an element has the bits that `multiply` gives it.
///
/// Who takes the first piece goes on into C as long as the pieces that it gets follow one another; all other pieces have a place
/// of their own until the end. The caller takes them from the first on, those that join from the last.
/// Literature: what it costs to share the loop over the depth, in Smith, van de Geijn, Smelyanskiy, Hammond, Van Zee 2014.
template <Scalar T> class DeepProduct {
public:
    /// Is it one of several pieces, and C so small that to add what another core has summed costs less than to read A or B twice?
    static bool suits(const Product<T>& x, const Setup<T>& with);
    static Index depth_of_piece(Index k, const Setup<T>& with) { return balanced_block(k, with.tree[Loop::pc], 8); }
    /// Pieces whose places are not too much memory together.
    static Index most_pieces(const Product<T>& x);

    /// x normalised, in pieces of `depth`. Throws Error{out_of_memory} before anything is touched.
    DeepProduct(const Product<T>& x, Index depth);

    Index chunks() const { return pieces_; }
    /// Pieces that `team` gives until nothing is left. A member without memory leaves its piece to `finish`.
    void work(Team& team);
    void finish(); ///< makes what was left, when all have come back, whose writes are seen then
    /// Then the contributions that have places of their own are added to some columns of C, which are independent of the others.
    void add(Index first, Index count) const;
    Bytes to_add() const { return Bytes(pieces_ - added_) * Bytes(ld_ * x_.n) * Bytes(sizeof(T)); }

private:
    Product<T> piece(Index p) const { return depth_of(x_, p * depth_, std::min(depth_, x_.k - p * depth_)); }
    T* place(Index p) const { return places_.as<T>() + p * ld_ * x_.n; }
    char& is_made(Index p) const { return places_.as<char>()[pieces_ * ld_ * x_.n * Index(sizeof(T)) + p]; }
    void make(Index p);

    const Product<T> x_;
    const Index depth_, pieces_, ld_;
    SharedBuffer places_;
    Index added_ = 0; ///< pieces that are in C; of the member that has taken the first one
};

} // namespace trencadis::blas
