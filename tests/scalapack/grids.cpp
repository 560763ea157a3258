// Factors on grids that live side by side, end, and begin anew, and leaves the last of them to MPI_Finalize, which comes when
// static objects that are younger than main are gone: scalapack_grids [early]. `early`: MPI is begun past whoever stands before
// it, at the level that BLACS programs ask for.
#include "dealt.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace {

int me = 0, wrong = 0;

/// A grid of processes first, first + 1, ... of the world. Called by all.
Grid grid_from(int first, int rows, int cols)
{
    Grid grid{};
    Cblacs_get(-1, 0, &grid.context);
    std::vector<int> map(rows * cols);
    for (int at = 0; at < rows * cols; ++at) map[at] = first + at;
    Cblacs_gridmap(&grid.context, map.data(), rows, rows, cols);
    Cblacs_gridinfo(grid.context, &grid.rows, &grid.cols, &grid.row, &grid.col);
    grid.processes = MPI_COMM_NULL;
    return grid;
}

/// D with 1, 2, 3, ... on its diagonal and nothing beside: its factor has their roots.
void factor(const Grid& grid)
{
    const int n = 40;
    if (grid.row < 0) return;
    Dealt<double> A(grid, n, n, {8, 8, 1, 1, 0, 0});
    A.fill([](int i, int j) { return i == j ? i + 1.0 : 0; });
    int info = -1;
    Scalapack<double>::potrf("L", &n, OF(A), &info);
    if (info) ++wrong;
    for (int i = 0; i < n; ++i)
        if (A.local_row(i) >= 0 && A.local_col(i) >= 0) {
            const double root = A.data()[A.local_row(i) + std::size_t(A.local_col(i)) * A.desc()[8]];
            if (!(std::abs(root - std::sqrt(i + 1.0)) < 1e-12)) ++wrong;
        }
}

/// The leading minor of order 26 of this one is not positive.
void refuse(const Grid& grid)
{
    const int n = 40;
    if (grid.row < 0) return;
    Dealt<double> A(grid, n, n, {8, 8, 9, 9, 0, 0});
    A.fill([](int i, int j) { return i != j ? 0 : i == 25 ? -1 : 2; });
    int info = -1;
    Scalapack<double>::potrf("U", &n, OF(A), &info);
    if (info != 26) ++wrong;
}

void end(const Grid& grid)
{
    if (grid.row >= 0) Cblacs_gridexit(grid.context);
}

/// All leave the grid to whoever stands behind us.
void one_has_no_kernels()
{
    if (me == 3) setenv("TRENCADIS_KERNELS", "none such", 1);
    const Grid odd = grid_from(0, 2, 2);
    factor(odd);
    end(odd);
    unsetenv("TRENCADIS_KERNELS");
}

} // namespace

int main(int count, char**)
{
    int level = 0, processes = 0;
    std::atexit([] { MPI_Finalize(); });
    if (count > 1) PMPI_Init_thread(nullptr, nullptr, MPI_THREAD_SINGLE, &level);
    Cblacs_pinfo(&me, &processes);
    if (processes != 4) return std::fprintf(stderr, "scalapack_grids wants 4 processes\n"), 2;
    one_has_no_kernels();
    const Grid all = grid_from(0, 2, 2), two = grid_from(1, 1, 2);
    for (const Grid& grid : {all, two, all, two}) factor(grid), refuse(grid);
    end(two);
    for (int turn = 0; turn < 3; ++turn) {
        const Grid again = grid_from(2 - turn, 2, 1);
        factor(again);
        factor(all);
        end(again);
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) std::printf("%d wrong\n", wrong);
    return wrong != 0;
}
