#include "blas/macro_kernel.hpp"
#include "blas/packing.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace trencadis::blas {
namespace {

template <Scalar T> T random_scalar(std::mt19937& random)
{
    std::uniform_real_distribution<Real<T>> uniform(-1, 1);
    if constexpr (is_complex<T>) return {uniform(random), uniform(random)};
    else return uniform(random);
}
template <Scalar T> std::vector<T> random_matrix(Index elements, std::mt19937& random)
{
    std::vector<T> A(elements);
    for (T& x : A) x = random_scalar<T>(random);
    return A;
}
template <class R> struct Aligned {
    explicit Aligned(Index n) : data(static_cast<R*>(std::aligned_alloc(64, (n * sizeof(R) + 127) / 64 * 64))) {}
    ~Aligned() { std::free(data); }
    R* data;
};

template <class T> class PackedProduct : public testing::Test {};
using Scalars = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(PackedProduct, Scalars);

TYPED_TEST(PackedProduct, EqualsTheThreeLoopsForEveryInstructionSetAndEdge)
{
    using T = TypeParam;
    std::mt19937 random(20);
    for (const InstructionSet* set : instruction_set_entries()) {
        if (!set->runs_here()) continue;
        const MicroKernel<T>& kernel = set->micro_kernel<T>();
        for (const auto [m, n, k] : {std::array<Index, 3>{1, 1, 1}, {kernel.mr, kernel.nr, 7}, {2 * kernel.mr + 3, kernel.nr + 1, 40},
                                     {5, 3 * kernel.nr - 1, 17}}) {
            const auto A = random_matrix<T>(m * k, random), B = random_matrix<T>(k * n, random);
            auto C = random_matrix<T>(m * n, random), expected = C;
            const T alpha = random_scalar<T>(random), beta = random_scalar<T>(random);
            for (Index j = 0; j < n; ++j)
                for (Index i = 0; i < m; ++i) {
                    T sum = 0;
                    for (Index p = 0; p < k; ++p) sum += A[i + p * m] * B[p + j * k];
                    expected[i + j * m] = alpha * sum + beta * expected[i + j * m];
                }
            Aligned<Real<T>> left(kernel.left_size(m, k)), right(kernel.right_size(k, n));
            pack_left(kernel, general(A.data(), m), m, k, left.data);
            pack_right(kernel, general(B.data(), k), k, n, right.data);
            multiply_packed<T>(kernel, 16, Part::all, 0, alpha, {left.data, m, k}, 0, m, {right.data, n, k}, 0, n, beta, C.data(), 1, m);
            const Real<T> bound = 8 * Real<T>(k + 2) * std::numeric_limits<Real<T>>::epsilon() * Real<T>(2 * k + 2);
            for (Index i = 0; i < m * n; ++i) ASSERT_LE(std::abs(C[i] - expected[i]), bound) << set->name << ' ' << m << ' ' << n;
        }
    }
}

TYPED_TEST(PackedProduct, SolvesWithAnUpperTriangle)
{
    using T = TypeParam;
    std::mt19937 random(21);
    for (const InstructionSet* set : instruction_set_entries()) {
        if (!set->runs_here()) continue;
        const MicroKernel<T>& kernel = set->micro_kernel<T>();
        const Index m = 2 * kernel.mr + 5, n = 3 * kernel.nr + 2;
        auto U = random_matrix<T>(n * n, random);
        for (Index i = 0; i < n; ++i) U[i + i * n] += T(4 * n);
        const auto X = random_matrix<T>(m * n, random);
        std::vector<T> B(m * n), solved(m * n);
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < m; ++i)
                for (Index p = 0; p <= j; ++p) B[i + j * m] += X[i + p * m] * U[p + j * n];
        Aligned<Real<T>> left(kernel.left_size(m, n)), triangle(triangle_size(kernel, n));
        pack_left(kernel, general(B.data(), m), m, n, left.data);
        pack_triangle(kernel, general(U.data(), n), n, triangle.data);
        solve_packed(kernel, left.data, m, 0, m, n, triangle.data);
        unpack_left(kernel, left.data, m, n, solved.data(), 1, m);
        for (Index i = 0; i < m * n; ++i)
            ASSERT_LE(std::abs(solved[i] - X[i]), 64 * n * std::numeric_limits<Real<T>>::epsilon()) << set->name;
    }
}

} // namespace
} // namespace trencadis::blas
