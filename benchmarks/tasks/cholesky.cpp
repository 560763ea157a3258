// Tile Cholesky as one writes it in plain OpenMP, on a column-major matrix, with the kernels of any library that has Fortran's
// symbols: what the engines over OpenMP are measured against (benchmarks/tasks/compare_cholesky.py).
//
//     tasks_cholesky_<name> N NB THREADS LIBRARY
//
// The conversation is that of the other task peers (protocol.h); the first factor is compared with the library's own.
#include "protocol.h"

#include <cmath>
#include <omp.h>
#include <vector>

namespace {

struct Kernels {
    void (*potrf)(const char*, const int*, double*, const int*, int*);
    void (*trsm)(const char*, const char*, const char*, const char*, const int*, const int*, const double*, const double*,
                 const int*, double*, const int*);
    void (*syrk)(const char*, const char*, const int*, const int*, const double*, const double*, const int*, const double*,
                 double*, const int*);
    void (*gemm)(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
                 const double*, const int*, const double*, double*, const int*);
};

template <class F> void look_up(void* library, const char* name, F& function)
{
    function = reinterpret_cast<F>(dlsym(library, name));
    if (!function) trc_peer_fail("the library has no %s", name);
}

Kernels load(const char* file)
{
    void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) trc_peer_fail("%s", dlerror());
    Kernels kernels;
    look_up(library, "dpotrf_", kernels.potrf);
    look_up(library, "dtrsm_", kernels.trsm);
    look_up(library, "dsyrk_", kernels.syrk);
    look_up(library, "dgemm_", kernels.gemm);
    return kernels;
}

constexpr double one = 1, minus_one = -1;

/// L of A = L L^T in the lower triangle.
void submit(const Kernels& kernels, double* A, int n, int nb)
{
    const auto at = [&](int i, int j) { return A + size_t(j) * size_t(n) + size_t(i); };
    for (int k = 0; k < n; k += nb) {
        const int kb = n - k < nb ? n - k : nb;
        double* const Akk = at(k, k);
#pragma omp task depend(inout : Akk[0])
        {
            int info = 0;
            kernels.potrf("L", &kb, Akk, &n, &info);
            if (info != 0) trc_peer_fail("dpotrf says %d", info);
        }
        for (int i = k + nb; i < n; i += nb) {
            const int ib = n - i < nb ? n - i : nb;
            double* const Aik = at(i, k);
#pragma omp task depend(in : Akk[0]) depend(inout : Aik[0])
            kernels.trsm("R", "L", "T", "N", &ib, &kb, &one, Akk, &n, Aik, &n);
        }
        for (int i = k + nb; i < n; i += nb) {
            const int ib = n - i < nb ? n - i : nb;
            double *const Aik = at(i, k), *const Aii = at(i, i);
            for (int j = k + nb; j < i; j += nb) {
                double *const Ajk = at(j, k), *const Aij = at(i, j);
#pragma omp task depend(in : Aik[0], Ajk[0]) depend(inout : Aij[0])
                kernels.gemm("N", "T", &ib, &nb, &kb, &minus_one, Aik, &n, Ajk, &n, &one, Aij, &n);
            }
#pragma omp task depend(in : Aik[0]) depend(inout : Aii[0])
            kernels.syrk("L", "N", &ib, &kb, &minus_one, Aik, &n, &one, Aii, &n);
        }
    }
}

double run(const Kernels& kernels, double* A, int n, int nb, int threads)
{
    const double begin = trc_peer_seconds();
#pragma omp parallel num_threads(threads)
#pragma omp single
    submit(kernels, A, n, nb);
    return trc_peer_seconds() - begin;
}

std::vector<double> positive_definite(int n)
{
    std::vector<double> A(size_t(n) * size_t(n));
    unsigned seed = 1;
    for (double& a : A) a = double(seed = seed * 1664525u + 1013904223u) / 4294967296.0 - 0.5;
    for (int i = 0; i < n; ++i) A[size_t(i) * size_t(n) + size_t(i)] += n;
    return A;
}

void compare(const Kernels& kernels, const std::vector<double>& A, const std::vector<double>& L, int n)
{
    std::vector<double> expected = A;
    int info = 0;
    kernels.potrf("L", &n, expected.data(), &n, &info);
    double largest = 0;
    for (int j = 0; j < n; ++j)
        for (int i = j; i < n; ++i) {
            const size_t at = size_t(j) * size_t(n) + size_t(i);
            largest = std::fmax(largest, std::fabs(L[at] - expected[at]));
        }
    // Both are backward stable on a matrix of condition about 1 and norm n, whose factor has norm sqrt(n).
    if (!(largest <= 10.0 * n * 2.2e-16 * std::sqrt(double(n)))) trc_peer_fail("the factor is off by %g", largest);
}

} // namespace

int main(int argc, char** argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: %s N NB THREADS LIBRARY; got %d arguments\n", argv[0], argc - 1);
        return 2;
    }
    const int n = trc_peer_number(argv[0], "N", argv[1], 40000), nb = trc_peer_number(argv[0], "NB", argv[2], n);
    const int threads = trc_peer_number(argv[0], "THREADS", argv[3], 4096);
    const Kernels kernels = load(argv[4]);
    const std::vector<double> A = positive_definite(n);
    std::vector<double> L = A;
    run(kernels, L.data(), n, nb, threads);
    compare(kernels, A, L, n);
    char version[1200];
    trc_peer_library(reinterpret_cast<void*>(omp_get_num_threads), version, sizeof version);
    trc_peer_introduce(TRC_PEER_NAME, version, {(n + nb - 1) / nb, threads});
    while (trc_peer_request()) {
        L = A;
        trc_peer_answer(run(kernels, L.data(), n, nb, threads));
    }
    return 0;
}
