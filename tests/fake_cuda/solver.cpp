// A stand-in for libcusolver.so.11 over that for the driver: a plain loop on its streams.
#include "devices/cuda/api.hpp"
#include "fake_cuda.hpp"

#include <cmath>
#include <complex>
#include <type_traits>

using namespace trencadis::devices::cuda;

namespace trencadis::devices::cuda {
struct SolverOf {
    Stream stream = nullptr;
};
} // namespace trencadis::devices::cuda

namespace {

template <class T> T conjugate(T x)
{
    if constexpr (std::is_floating_point_v<T>) return x;
    else return std::conj(x);
}

/// A = L L^H, where `at(i, j)` is L's place; the order of the first leading minor that is not positive definite, or 0.
template <class T, class At> int factor(int n, const At& at)
{
    for (int j = 0; j < n; ++j) {
        auto pivot = std::real(at(j, j));
        for (int k = 0; k < j; ++k) pivot -= std::norm(at(j, k));
        if (!(pivot > 0)) return j + 1;
        at(j, j) = T(std::sqrt(pivot));
        for (int i = j + 1; i < n; ++i) {
            T sum = at(i, j);
            for (int k = 0; k < j; ++k) sum -= at(i, k) * conjugate(at(j, k));
            at(i, j) = sum / at(j, j);
        }
    }
    return 0;
}

template <class T>
int potrf(const char* symbol, Solver solver, BlasFill fill, int n, void* A, int lda, void* room, int elements, int* info)
{
    if (const int code = fake_cuda_call(symbol)) return code;
    fake_cuda_enqueue(solver->stream, [=] {
        T* const a = static_cast<T*>(fake_cuda_pointer(A));
        static_cast<T*>(fake_cuda_pointer(room))[elements - 1] = T(1); // its room is its own
        int& answer = *static_cast<int*>(fake_cuda_pointer(info));
        if (fill == fill_lower) answer = factor<T>(n, [=](int i, int j) -> T& { return a[i + std::ptrdiff_t(j) * lda]; });
        else {
            const auto flip = [=] { // of a Hermitian matrix the upper triangle is that of its conjugate, seen as lower
                for (int j = 0; j < n; ++j)
                    for (int i = 0; i <= j; ++i) a[i + std::ptrdiff_t(j) * lda] = conjugate(a[i + std::ptrdiff_t(j) * lda]);
            };
            flip();
            answer = factor<T>(n, [=](int i, int j) -> T& { return a[j + std::ptrdiff_t(i) * lda]; });
            flip();
        }
    });
    return 0;
}

} // namespace

extern "C" {

int cusolverDnCreate(Solver* solver)
{
    if (const int code = fake_cuda_call("cusolverDnCreate")) return code;
    *solver = new SolverOf;
    return 0;
}
int cusolverDnDestroy(Solver solver)
{
    delete solver;
    return 0;
}
int cusolverDnSetStream(Solver solver, Stream stream)
{
    solver->stream = stream;
    return 0;
}

#define TRC_POTRF(letter, T)                                                                                                     \
    int cusolverDn##letter##potrf_bufferSize(Solver, BlasFill, int n, T*, int, int* elements)                                    \
    {                                                                                                                            \
        *elements = n + 1;                                                                                                       \
        return fake_cuda_call("cusolverDn" #letter "potrf_bufferSize");                                                          \
    }                                                                                                                            \
    int cusolverDn##letter##potrf(Solver solver, BlasFill fill, int n, T* A, int lda, T* room, int elements, int* info)          \
    {                                                                                                                            \
        return potrf<T>("cusolverDn" #letter "potrf", solver, fill, n, A, lda, room, elements, info);                            \
    }
TRC_POTRF(S, float)
TRC_POTRF(D, double)
TRC_POTRF(C, std::complex<float>)
TRC_POTRF(Z, std::complex<double>)

} // extern "C"
