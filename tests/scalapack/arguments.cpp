// Calls ScaLAPACK with arguments that are not in order, on 2 x 2 processes, and says of each what info it answers and whether it
// touched anything: one line per call, from process (0, 0), which should be the same whoever answers.
#include "dealt.hpp"

#include <cstdio>
#include <functional>
#include <string>

namespace {

struct Call {
    const char* what;
    std::function<void(Dealt<double>& A, Dealt<double>& B, int* info)> run;
};

int n = 20, m = 24, nrhs = 3, lwork = 4000;
int pivots[64];
double tau[64], work[4000];

/// The same with another entry in a descriptor, or in that of one process alone.
void with(Dealt<double>& A, int entry, int value, bool here, const std::function<void()>& call)
{
    const int before = A.desc()[entry];
    if (here) A.desc()[entry] = value;
    call();
    A.desc()[entry] = before;
}

#define POTRF(uplo, n) Scalapack<double>::potrf(uplo, n, OF(A), info)
#define GESV(n, nrhs) Scalapack<double>::gesv(n, nrhs, OF(A), pivots, OF(B), info)
#define GETRS(op) Scalapack<double>::getrs(op, &n, &nrhs, OF(A), pivots, OF(B), info)
#define TAKES [](Dealt<double> & A, Dealt<double> & B, int* info)

int closed = -1;     // a context that was
bool second = false; // is this process the second?

const Call calls[] = {{"potrf letter", TAKES{static_cast<void>(B), POTRF("X", &n);
} // namespace
}
, {"potrf size below 0", TAKES{int less = -1;
static_cast<void>(B), POTRF("L", &less);
}
}
, {"potrf size beyond the matrix", TAKES{int more = 99;
static_cast<void>(B), POTRF("L", &more);
}
}
, {"potrf kind", TAKES{static_cast<void>(B), with(A, 0, 5, true, [&] { POTRF("L", &n); });
}
}
, {"potrf closed context", TAKES{static_cast<void>(B), with(A, 1, closed, true, [&] { POTRF("L", &n); });
}
}
, {"potrf leading dimension", TAKES{static_cast<void>(B), with(A, 8, 1, true, [&] { POTRF("L", &n); });
}
}
, {"potrf leading dimension of one", TAKES{static_cast<void>(B), with(A, 8, 1, second, [&] { POTRF("L", &n); });
}
}
, {"potrf no block", TAKES{static_cast<void>(B), with(A, 4, 0, true, [&] { POTRF("L", &n); });
}
}
, {"potrf row of the grid", TAKES{static_cast<void>(B), with(A, 6, 2, true, [&] { POTRF("L", &n); });
}
}
, {"potrf another size on one", TAKES{int other = second ? n - 1 : n;
static_cast<void>(B), POTRF("L", &other);
}
}
, {"potrf another letter on one", TAKES{static_cast<void>(B), POTRF(second ? "U" : "L", &n);
}
}
, {"potrs right-hand sides", TAKES{int less = -2;
Scalapack<double>::potrs("L", &n, &less, OF(A), OF(B), info);
}
}
, {"getrf size", TAKES{int less = -1;
static_cast<void>(B), Scalapack<double>::getrf(&less, &n, OF(A), pivots, info);
}
}
, {"getrf column of the grid",
   TAKES{static_cast<void>(B), with(A, 7, -1, true, [&] { Scalapack<double>::getrf(&n, &n, OF(A), pivots, info); });
}
}
, {"getrs letter", TAKES{GETRS("Q");
}
}
, {"getrs other context", TAKES{with(B, 1, closed, true, [&] { GETRS("N"); });
}
}
, {"getrs leading dimension of B", TAKES{with(B, 8, 1, true, [&] { GETRS("N"); });
}
}
, {"gesv size", TAKES{int less = -3;
GESV(&less, &nrhs);
}
}
, {"gesv right-hand sides beyond B", TAKES{int more = 50;
GESV(&n, &more);
}
}
, {"gesv other sizes on one", TAKES{int other = second ? 2 : 3;
GESV(&n, &other);
}
}
, {"geqrf work", TAKES{int less = 3;
static_cast<void>(B), Scalapack<double>::geqrf(&n, &n, OF(A), tau, work, &less, info);
}
}
, {"geqrf size", TAKES{int more = 99;
static_cast<void>(B), Scalapack<double>::geqrf(&n, &more, OF(A), tau, work, &lwork, info);
}
}
, {"nothing to do", TAKES{int none = 0;
static_cast<void>(B), POTRF("L", &none);
}
}
,
}
;

Grid two_by_two()
{
    Grid grid{};
    Cblacs_get(-1, 0, &closed);
    Cblacs_gridinit(&closed, "Row", 2, 2);
    Cblacs_get(-1, 0, &grid.context);
    Cblacs_gridinit(&grid.context, "Row", 2, 2);
    Cblacs_gridexit(closed);
    Cblacs_gridinfo(grid.context, &grid.rows, &grid.cols, &grid.row, &grid.col);
    MPI_Comm_dup(MPI_COMM_WORLD, &grid.processes);
    return grid;
}

} // namespace

int main()
{
    int me = 0, processes = 0;
    Cblacs_pinfo(&me, &processes);
    if (processes != 4) return std::fprintf(stderr, "scalapack_arguments wants 4 processes\n"), 2;
    const Grid grid = two_by_two();
    second = grid.row == 0 && grid.col == 1;
    for (const Call& call : calls) {
        Dealt<double> A(grid, m, n, {4, 4, 1, 1, 0, 0}), B(grid, n, nrhs, {4, 4, 1, 1, 0, 0});
        A.fill([](int i, int j) { return i == j ? 9.0 : 1.0 / (i + j + 1); });
        B.fill([](int i, int) { return i; });
        int info = -777;
        call.run(A, B, &info);
        const auto none = [](int, int) { return false; };
        const bool touched = !A.untouched(none) || !B.untouched(none);
        if (grid.row == 0 && grid.col == 0) std::printf("%s: info %d%s\n", call.what, info, touched ? ", touched" : "");
        std::fflush(stdout);
    }
    Cblacs_gridexit(grid.context);
    Cblacs_exit(0);
    return 0;
}
