// A stand-in for libcusolver.so.11 over that for the driver: plain loops on its streams.
#include "devices/cuda/api.hpp"
#include "fake_cuda.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <type_traits>
#include <utility>

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

int room_elements(int m, int n) { return m + n + 1; }

template <class T> auto size_of(T x) { return std::abs(std::real(x)) + std::abs(std::imag(x)); }

/// A = P L U; the number of the first pivot that is zero, or 0.
template <class T> int factor_lu(int m, int n, T* a, int lda, int* pivots)
{
    int zero = 0;
    const auto at = [=](int i, int j) -> T& { return a[i + std::ptrdiff_t(j) * lda]; };
    for (int k = 0; k < std::min(m, n); ++k) {
        int pivot = k;
        for (int i = k + 1; i < m; ++i)
            if (size_of(at(i, k)) > size_of(at(pivot, k))) pivot = i;
        pivots[k] = pivot + 1;
        for (int j = 0; j < n && pivot != k; ++j) std::swap(at(k, j), at(pivot, j));
        if (at(k, k) == T(0)) {
            if (zero == 0) zero = k + 1;
            continue;
        }
        for (int i = k + 1; i < m; ++i) at(i, k) /= at(k, k);
        for (int j = k + 1; j < n; ++j)
            for (int i = k + 1; i < m; ++i) at(i, j) -= at(i, k) * at(k, j);
    }
    return zero;
}
template <class T>
int getrf(const char* symbol, Solver solver, int m, int n, void* A, int lda, void* room, int* pivots, int* info)
{
    if (const int code = fake_cuda_call(symbol)) return code;
    fake_cuda_enqueue(solver->stream, [=] {
        T* const work = static_cast<T*>(fake_cuda_pointer(room)); // its room is its own
        for (int i = 0; i < room_elements(m, n); ++i) work[i] = T(i);
        *static_cast<int*>(fake_cuda_pointer(info)) =
            factor_lu<T>(m, n, static_cast<T*>(fake_cuda_pointer(A)), lda, static_cast<int*>(fake_cuda_pointer(pivots)));
        for (int i = 0; i < room_elements(m, n); ++i)
            if (work[i] != T(i)) *static_cast<int*>(fake_cuda_pointer(info)) = -8;
    });
    return 0;
}
/// Rows are counted from 1.
template <class T>
int laswp(const char* symbol, Solver solver, int n, void* A, int lda, int first, int last, const int* pivots, int step)
{
    if (const int code = fake_cuda_call(symbol)) return code;
    if (step != 1) return 3;
    fake_cuda_enqueue(solver->stream, [=] {
        T* const a = static_cast<T*>(fake_cuda_pointer(A));
        const int* const rows = static_cast<const int*>(fake_cuda_pointer(pivots));
        for (int i = first; i <= last; ++i)
            for (int j = 0; j < n; ++j)
                std::swap(a[i - 1 + std::ptrdiff_t(j) * lda], a[rows[i - 1] - 1 + std::ptrdiff_t(j) * lda]);
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
#define TRC_LU(letter, T)                                                                                                        \
    int cusolverDn##letter##getrf_bufferSize(Solver, int m, int n, T*, int, int* elements)                                       \
    {                                                                                                                            \
        *elements = room_elements(m, n);                                                                                         \
        return fake_cuda_call("cusolverDn" #letter "getrf_bufferSize");                                                          \
    }                                                                                                                            \
    int cusolverDn##letter##getrf(Solver solver, int m, int n, T* A, int lda, T* room, int* pivots, int* info)                   \
    {                                                                                                                            \
        return getrf<T>("cusolverDn" #letter "getrf", solver, m, n, A, lda, room, pivots, info);                                 \
    }                                                                                                                            \
    int cusolverDn##letter##laswp(Solver solver, int n, T* A, int lda, int first, int last, const int* pivots, int step)         \
    {                                                                                                                            \
        return laswp<T>("cusolverDn" #letter "laswp", solver, n, A, lda, first, last, pivots, step);                             \
    }
#define TRC_FACTORIZATIONS(letter, T) TRC_POTRF(letter, T) TRC_LU(letter, T)
TRC_FACTORIZATIONS(S, float)
TRC_FACTORIZATIONS(D, double)
TRC_FACTORIZATIONS(C, std::complex<float>)
TRC_FACTORIZATIONS(Z, std::complex<double>)

} // extern "C"
