#pragma once
#include "scalapack.hpp"

#include <algorithm>
#include <mpi.h>

/// The grid that a program works on, and its processes.
struct Grid {
    int context, rows, cols, row, col;
    MPI_Comm processes;
};

/// How a matrix is dealt out, and where in it sub(A) begins.
struct Deal {
    int mb, nb, ia, ja, rsrc, csrc;
};

/// A whole matrix, column by column, as every process has it for comparison.
template <class T> struct Whole {
    int m, n;
    std::vector<T> elements = std::vector<T>(std::size_t(m) * n);

    T& operator()(int i, int j) { return elements[i + std::size_t(j) * m]; }
    const T& operator()(int i, int j) const { return elements[i + std::size_t(j) * m]; }
};

/// The part of an m x n matrix that this process has. sub(A) ends `behind` rows and columns before it does; between the columns
/// are rows that nobody should touch.
template <class T> class Dealt {
public:
    static constexpr int behind = 3, gap = 2;

    Dealt(const Grid& grid, int m, int n, const Deal& deal)
        : grid_(grid), deal_(deal), m_(deal.ia - 1 + m + behind), n_(deal.ja - 1 + n + behind)
    {
        const int rows = numroc_(&m_, &deal.mb, &grid.row, &deal.rsrc, &grid.rows);
        cols_ = numroc_(&n_, &deal.nb, &grid.col, &deal.csrc, &grid.cols);
        const int desc[] = {1, grid.context, m_, n_, deal.mb, deal.nb, deal.rsrc, deal.csrc, std::max(1, rows) + gap};
        std::copy(desc, desc + 9, desc_);
        elements_.assign(std::size_t(desc_[8]) * std::max(1, cols_), T(-77));
        given_ = elements_;
    }
    /// Fills sub(A), and remembers what is there.
    template <class F> void fill(const F& element)
    {
        each([&](int i, int j, T& here) { here = element(i, j); });
        given_ = elements_;
    }
    /// sub(A), m x n, from all processes.
    Whole<T> whole(int m, int n)
    {
        Whole<T> all{m, n};
        each([&](int i, int j, T& here) {
            if (i < m && j < n) all(i, j) = here;
        });
        const int per = sizeof(T) / sizeof(Real<T>);
        MPI_Allreduce(MPI_IN_PLACE, all.elements.data(), m * n * per, sizeof(Real<T>) == 4 ? MPI_FLOAT : MPI_DOUBLE, MPI_SUM,
                      grid_.processes);
        return all;
    }
    /// Is everything as it was filled but for those (i, j) of sub(A) that `may` change?
    template <class F> bool untouched(const F& may)
    {
        std::vector<T> now = elements_;
        each([&](int i, int j, T& here) {
            if (may(i, j)) now[&here - elements_.data()] = given_[&here - elements_.data()];
        });
        int same = now == given_;
        MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, grid_.processes);
        return same;
    }
    T* data() { return elements_.data(); }
    const int* ia() const { return &deal_.ia; }
    const int* ja() const { return &deal_.ja; }
    int* desc() { return desc_; }
    /// Where row or column k of sub(A) (from 0) lies here, or -1.
    int local_row(int k) const { return local(deal_.ia - 1 + k, deal_.mb, deal_.rsrc, grid_.rows, grid_.row); }
    int local_col(int k) const { return local(deal_.ja - 1 + k, deal_.nb, deal_.csrc, grid_.cols, grid_.col); }
    const Grid& grid() const { return grid_; }

private:
    static int local(int i, int block, int source, int processes, int me)
    {
        if ((source + i / block) % processes != me) return -1;
        return i / (block * processes) * block + i % block;
    }
    template <class F> void each(const F& visit)
    {
        for (int j = 0; j < n_ - deal_.ja + 1; ++j)
            for (int i = 0; i < m_ - deal_.ia + 1; ++i)
                if (local_row(i) >= 0 && local_col(j) >= 0)
                    visit(i, j, elements_[local_row(i) + std::size_t(local_col(j)) * desc_[8]]);
    }

    Grid grid_;
    Deal deal_;
    int m_, n_, cols_, desc_[9];
    std::vector<T> elements_, given_;
};
#define OF(A) (A).data(), (A).ia(), (A).ja(), (A).desc()
