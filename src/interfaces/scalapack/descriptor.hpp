#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"

#include <algorithm>
#include <cstring>

namespace trencadis::scalapack {

/// ScaLAPACK's nine integers, which say how a matrix is dealt out to a grid of processes.
struct Descriptor {
    int type, context, m, n, mb, nb, rsrc, csrc, lld;

    static Descriptor read(const int* nine)
    {
        Descriptor its;
        std::memcpy(&its, nine, sizeof its);
        return its;
    }
    const int* nine() const { return &type; }
};
static_assert(sizeof(Descriptor) == 9 * sizeof(int));

/// A grid of processes and the place of this one in it; `rows` is -1 where the context is closed or this process has no part.
struct Grid {
    int context, rows, cols, row, col;

    static Grid of(int context);
    bool open() const { return rows != -1; }
    bool alone() const { return rows == 1 && cols == 1; }
};

/// Rows (columns) along one side of the grid: `blocks` are dealt out from process `source` on.
struct Side1D {
    int block, source, processes;

    int owner(int i) const { return (source + i / block) % processes; }
    /// How many of the first n does `process` have? Where i is its own, this is where i lies with it.
    int before(int n, int process) const
    {
        const int whole = n / block, away = (process - source + processes) % processes;
        const int rest = whole % processes;
        return whole / processes * block + (away < rest ? block : away == rest ? n % block : 0);
    }
};

/// sub(A) = A(ia: , ja: ), as a caller gives it: ia and ja are counted from 1.
template <Scalar T> struct Operand {
    T* data;
    int ia, ja;
    Descriptor desc;

    Side1D down(const Grid& grid) const { return {desc.mb, desc.rsrc, grid.rows}; }
    Side1D across(const Grid& grid) const { return {desc.nb, desc.csrc, grid.cols}; }
    bool on_rows() const { return (ia - 1) % desc.mb == 0; }
    bool on_blocks() const { return on_rows() && (ja - 1) % desc.nb == 0; }
    bool square_blocks() const { return desc.mb == desc.nb; }
    /// Do its rows lie as those of A do, so that each process has the same of both?
    bool lies_as(const Operand& A) const
    {
        const Grid grid = Grid::of(A.desc.context);
        return on_rows() && desc.mb == A.desc.mb && down(grid).owner(ia - 1) == A.down(grid).owner(A.ia - 1);
    }
    /// Its first element, where one process has all.
    T* first() const { return data + (ia - 1) + Index(ja - 1) * desc.lld; }
};

} // namespace trencadis::scalapack
