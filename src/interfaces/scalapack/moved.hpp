#pragma once
#include "interfaces/scalapack/behind.hpp"

#include <vector>

namespace trencadis::scalapack {

/// sub(from) -> sub(to), m x n, or the triangle `uplo` of n x n, between any distributions over one grid.
#define TRC_REDISTRIBUTION(T, p)                                                                                                 \
    inline void redistribute(int m, int n, const Operand<T>& from, const Operand<T>& to)                                         \
    {                                                                                                                            \
        C##p##gemr2d(m, n, from.data, from.ia, from.ja, from.desc.nine(), to.data, to.ia, to.ja, to.desc.nine(),                 \
                     from.desc.context);                                                                                         \
    }                                                                                                                            \
    inline void redistribute_triangle(char uplo, int n, const Operand<T>& from, const Operand<T>& to)                            \
    {                                                                                                                            \
        C##p##trmr2d(&uplo, "N", n, n, from.data, from.ia, from.ja, from.desc.nine(), to.data, to.ia, to.ja, to.desc.nine(),     \
                     from.desc.context);                                                                                         \
    }
TRC_REDISTRIBUTION(float, ps)
TRC_REDISTRIBUTION(double, pd)
TRC_REDISTRIBUTION(std::complex<float>, pc)
TRC_REDISTRIBUTION(std::complex<double>, pz)
#undef TRC_REDISTRIBUTION

/// How a copy is dealt out: in square blocks, the first of them to process (rsrc, csrc).
struct Blocks {
    int nb, rsrc = 0, csrc = 0;
};
/// What is copied of a matrix that another routine should see: all of it, or a triangle, so that the other stays as it was.
enum class Part : char { all = 'A', lower = 'L', upper = 'U' };

/// sub(A) dealt out anew over the grid of A, from its first element on.
template <Scalar T> class Moved {
public:
    Moved(const Operand<T>& A, int m, int n, const Blocks& blocks, Part part = Part::all);
    void write_back() { copy(operand(), given_); }
    Operand<T> operand() { return {elements_.data(), 1, 1, desc_}; }

private:
    void copy(const Operand<T>& from, const Operand<T>& to);

    Operand<T> given_;
    int m_, n_;
    Part part_;
    Descriptor desc_;
    std::vector<T> elements_;
};

template <Scalar T>
Moved<T>::Moved(const Operand<T>& A, int m, int n, const Blocks& blocks, Part part) : given_(A), m_(m), n_(n), part_(part)
{
    const Grid grid = Grid::of(A.desc.context);
    const int rows = Side1D{blocks.nb, blocks.rsrc, grid.rows}.before(m, grid.row);
    const int cols = Side1D{blocks.nb, blocks.csrc, grid.cols}.before(n, grid.col);
    desc_ = {1, A.desc.context, m, n, blocks.nb, blocks.nb, blocks.rsrc, blocks.csrc, std::max(1, rows)};
    elements_.resize(std::size_t(desc_.lld) * std::max(1, cols));
    copy(given_, operand());
}

template <Scalar T> void Moved<T>::copy(const Operand<T>& from, const Operand<T>& to)
{
    const Inside inside; // the library's own calls on the way
    if (part_ == Part::all) redistribute(m_, n_, from, to);
    else redistribute_triangle(char(part_), n_, from, to);
}

} // namespace trencadis::scalapack
