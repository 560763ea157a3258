#pragma once
#include "interfaces/scalapack/moved.hpp"

#include <optional>

namespace trencadis::scalapack {

/// A matrix as the library behind us takes it: where it is, or a copy in square blocks that begins with one of them.
template <Scalar T> class Aligned {
public:
    Aligned(const Operand<T>& A, int m, int n, Part part = Part::all) : at_(A)
    {
        if (!A.on_blocks() || !A.square_blocks()) move(A, m, n, {nb_of_copies}, part);
    }
    /// The right-hand sides of a system with A: its rows must lie as those of A do.
    Aligned(const Operand<T>& B, int n, int nrhs, const Operand<T>& A) : at_(B)
    {
        const Grid grid = Grid::of(A.desc.context);
        const int row = A.down(grid).owner(A.ia - 1);
        if (!B.on_rows() || B.desc.mb != A.desc.nb || B.down(grid).owner(B.ia - 1) != row) move(B, n, nrhs, {A.desc.nb, row});
    }
    bool moved() const { return copy_.has_value(); }
    const Operand<T>& operand() const { return at_; }
    void write_back()
    {
        if (copy_) copy_->write_back();
    }

private:
    static constexpr int nb_of_copies = 64;

    void move(const Operand<T>& A, int m, int n, const Blocks& blocks, Part part = Part::all)
    {
        copy_.emplace(A, m, n, blocks, part);
        at_ = copy_->operand();
    }

    Operand<T> at_;
    std::optional<Moved<T>> copy_;
};

} // namespace trencadis::scalapack
