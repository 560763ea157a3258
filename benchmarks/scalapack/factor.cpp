// Times ScaLAPACK's pdpotrf, pdpotrs (with n / 8 right-hand sides), pdgetrf, pdgemm or pdtrsm, whoever answers by that name:
// mpirun -n P*Q scalapack_factor potrf|potrs|getrf|gemm|trsm N NB P Q REPEATS.
// Prints the seconds of each call, those of the slowest process; the first has what has to begin.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <string>
#include <vector>

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int cols);
void Cblacs_gridinfo(int context, int* rows, int* cols, int* row, int* col);
void Cblacs_gridexit(int context);
void Cblacs_exit(int go_on);
int numroc_(const int* n, const int* nb, const int* process, const int* source, const int* processes);
void pdpotrf_(const char* uplo, const int* n, double* A, const int* ia, const int* ja, const int* desc, int* info);
void pdpotrs_(const char* uplo, const int* n, const int* nrhs, double* A, const int* ia, const int* ja, const int* desca,
              double* B, const int* ib, const int* jb, const int* descb, int* info);
void pdgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const double* alpha, const double* A,
             const int* ia, const int* ja, const int* desca, const double* B, const int* ib, const int* jb, const int* descb,
             const double* beta, double* C, const int* ic, const int* jc, const int* descc);
void pdtrsm_(const char* side, const char* uplo, const char* op, const char* diag, const int* m, const int* n,
             const double* alpha, const double* A, const int* ia, const int* ja, const int* desca, double* B, const int* ib,
             const int* jb, const int* descb);
void pdgetrf_(const int* m, const int* n, double* A, const int* ia, const int* ja, const int* desc, int* ipiv, int* info);
}

namespace {

struct Local {
    int nb, rows, cols, row, col;
    int global(int i, int me, int processes) const { return (i / nb * processes + me) * nb + i % nb; }
};

/// Symmetric, with a diagonal that makes it positive definite.
double element(int i, int j, int n)
{
    const unsigned x = unsigned(std::max(i, j)) * 2654435761u ^ unsigned(std::min(i, j)) * 2246822519u;
    return (i == j ? n : 0) + double((x ^ x >> 13) % 1000u) / 1000;
}

void fill(const Local& its, int n, int mine, int my_cols, int lld, std::vector<double>& A)
{
    for (int j = 0; j < my_cols; ++j)
        for (int i = 0; i < mine; ++i)
            A[i + std::size_t(j) * lld] = element(its.global(i, its.row, its.rows), its.global(j, its.col, its.cols), n);
}

} // namespace

int main(int count, char** words)
{
    if (count < 7) return std::fprintf(stderr, "usage: scalapack_factor potrf|potrs|getrf|gemm|trsm N NB P Q REPEATS\n"), 2;
    MPI_Init(nullptr, nullptr);
    const std::string routine = words[1];
    const int n = std::atoi(words[2]), nrhs = n / 8, nb = std::atoi(words[3]), zero = 0, one = 1;
    int context = 0;
    Local its{nb, std::atoi(words[4]), std::atoi(words[5]), 0, 0};
    Cblacs_get(-1, 0, &context);
    Cblacs_gridinit(&context, "Row", its.rows, its.cols);
    Cblacs_gridinfo(context, &its.rows, &its.cols, &its.row, &its.col);
    const int mine = numroc_(&n, &nb, &its.row, &zero, &its.rows), my_cols = numroc_(&n, &nb, &its.col, &zero, &its.cols);
    const int desc[] = {1, context, n, n, nb, nb, 0, 0, std::max(1, mine)};
    std::vector<double> A(std::size_t(desc[8]) * std::max(1, my_cols));
    std::vector<double> B(A.size(), 1), C(routine == "gemm" ? A.size() : 0);
    const double scale = 1, nothing = 0;
    std::vector<int> pivots(mine + nb);
    for (int turn = 0; turn <= std::atoi(words[6]); ++turn) {
        fill(its, n, mine, my_cols, desc[8], A);
        int info = 0;
        if (routine == "potrs") pdpotrf_("L", &n, A.data(), &one, &one, desc, &info);
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        if (routine == "potrf") pdpotrf_("L", &n, A.data(), &one, &one, desc, &info);
        else if (routine == "potrs") pdpotrs_("L", &n, &nrhs, A.data(), &one, &one, desc, B.data(), &one, &one, desc, &info);
        else if (routine == "gemm")
            pdgemm_("N", "N", &n, &n, &n, &scale, A.data(), &one, &one, desc, B.data(), &one, &one, desc, &nothing, C.data(),
                    &one, &one, desc);
        else if (routine == "trsm")
            pdtrsm_("L", "L", "N", "N", &n, &n, &scale, A.data(), &one, &one, desc, B.data(), &one, &one, desc);
        else pdgetrf_(&n, &n, A.data(), &one, &one, desc, pivots.data(), &info);
        double seconds = MPI_Wtime() - begin;
        MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (its.row == 0 && its.col == 0) std::printf("call %d: %.4f s%s\n", turn, seconds, info ? " WRONG" : "");
    }
    Cblacs_gridexit(context);
    Cblacs_exit(0);
    return 0;
}
