#include "blas/level3/past_triangle.hpp"
#include "blas/testing/images.hpp"
#include "blas/testing/reference.hpp"

#include <gtest/gtest.h>

namespace trencadis::blas {
namespace {

using testing::Image;
using testing::Random;

template <class T> class MicroKernels : public ::testing::Test {
public:
    using R = Real<T>;
    struct Case {
        Index m, n, k, rs, cs;
        Part part = Part::all;
        Index below = 0;
        bool overwrite = false;
    };

    static std::vector<T> matrix(Random& random, Index elements)
    {
        std::vector<T> A(elements);
        for (T& x : A) x = random.template number<T>();
        return A;
    }
    static bool written(const Case& a, Index i, Index j)
    {
        return a.part == Part::all || (a.part == Part::lower ? i - j >= a.below : i - j <= a.below);
    }

    /// One product, against sums in long double; what C's part does not hold must keep its bits.
    /// Bound: k + 3 roundings of terms of modulus at most sqrt(2) each way, Higham 2002, section 3.5.
    static void check(const InstructionSet& set, const Case& a, Random& random)
    {
        const MicroKernel<T>& kernel = set.micro_kernel<T>();
        const auto A = matrix(random, a.m * a.k), B = matrix(random, a.k * a.n);
        const Index span = std::abs(a.rs) * std::max<Index>(a.m - 1, 0) + std::abs(a.cs) * std::max<Index>(a.n - 1, 0) + 1;
        auto memory = matrix(random, span + 2); // begins one element off any alignment
        const Index first = 1 + (a.rs < 0 ? -a.rs * (a.m - 1) : 0) + (a.cs < 0 ? -a.cs * (a.n - 1) : 0);
        const T alpha = random.template number<T>(), beta = a.overwrite       ? T(0)
                                                            : random.below(2) ? T(1)
                                                                              : random.template number<T>();
        const auto at = [&](Index i, Index j) { return first + i * a.rs + j * a.cs; };
        if (a.overwrite)
            for (Index j = 0; j < a.n; ++j)
                for (Index i = 0; i < a.m; ++i)
                    if (written(a, i, j)) memory[at(i, j)] = T(std::numeric_limits<R>::quiet_NaN());
        const auto before = memory;
        Image<R> left(kernel.left_size(a.m, a.k)), right(kernel.right_size(a.k, a.n));
        pack_left(kernel, general(A.data(), a.m), a.m, a.k, left.data);
        pack_right(kernel, general(B.data(), a.k), a.k, a.n, right.data);
        multiply_packed<T>(kernel, 11, a.part, a.below, alpha, {left.data, a.m, a.k}, 0, a.m, {right.data, a.n, a.k}, 0, a.n,
                           beta, memory.data() + first, a.rs, a.cs);
        const auto where = [&] {
            return std::string(set.name) + ' ' + std::to_string(a.m) + " x " + std::to_string(a.n) + " x " + std::to_string(a.k) +
                   " strides " + std::to_string(a.rs) + ',' + std::to_string(a.cs) + " part " + std::to_string(int(a.part));
        };
        std::vector<bool> of_C(memory.size(), false);
        for (Index j = 0; j < a.n; ++j)
            for (Index i = 0; i < a.m; ++i) {
                if (!written(a, i, j)) continue;
                of_C[at(i, j)] = true;
                testing::Wide<T> sum = 0;
                for (Index p = 0; p < a.k; ++p) sum += testing::Wide<T>(A[i + p * a.m]) * testing::Wide<T>(B[p + j * a.k]);
                sum *= testing::Wide<T>(alpha);
                if (!a.overwrite) sum += testing::Wide<T>(beta) * testing::Wide<T>(before[at(i, j)]);
                const long double bound = testing::rounding<T> * 4 * (a.k + 3) * (a.k + 1) * testing::eps<T>;
                ASSERT_LE(std::abs(testing::Wide<T>(memory[at(i, j)]) - sum), bound) << where() << " element " << i << ',' << j;
            }
        for (std::size_t e = 0; e < memory.size(); ++e)
            if (!of_C[e]) {
                ASSERT_EQ(memory[e], before[e]) << where() << " touched memory outside of C";
            }
    }
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(MicroKernels, Scalars);

TYPED_TEST(MicroKernels, MultiplyEveryEdgeInEveryOrderOfC)
{
    using Case = typename TestFixture::Case;
    Random random(41);
    for (const InstructionSet* set : instruction_set_entries()) {
        if (!set->runs_here()) continue;
        const MicroKernel<TypeParam>& kernel = set->micro_kernel<TypeParam>();
        for (Index m = 0; m <= kernel.mr + 1; ++m)
            for (Index n = 0; n <= kernel.nr + 1; ++n) {
                const Index k = random.below(26), wide = n + random.below(3), tall = m + random.below(3);
                for (const auto& [rs, cs] :
                     {std::pair<Index, Index>{1, tall}, {wide, 1}, {2, 2 * m + 1}, {-1, tall}, {-wide, 1}, {wide, -1}})
                    TestFixture::check(*set, Case{m, n, k, rs, cs, Part::all, 0, random.below(2) == 0}, random);
                if (::testing::Test::HasFatalFailure()) return;
            }
    }
}

TYPED_TEST(MicroKernels, WriteTheTriangleThatIsAskedForAndNothingElse)
{
    using Case = typename TestFixture::Case;
    Random random(42);
    for (const InstructionSet* set : instruction_set_entries()) {
        if (!set->runs_here()) continue;
        for (const Part part : {Part::lower, Part::upper})
            for (const Index below : {-7, 0, 1, 30})
                for (const auto& [rs, cs] : {std::pair<Index, Index>{1, 90}, {90, 1}, {90, 2}})
                    TestFixture::check(*set, Case{61, 45, 13, rs, cs, part, below, random.below(2) == 0}, random);
        if (::testing::Test::HasFatalFailure()) return;
    }
}

TYPED_TEST(MicroKernels, LeaveOutTheDepthsThatATriangularOperandLeavesZero)
{
    using T = TypeParam;
    Random random(44);
    const Index m = 61, n = 45, k = 70;
    for (const InstructionSet* set : instruction_set_entries()) {
        if (!set->runs_here()) continue;
        const MicroKernel<T>& kernel = set->micro_kernel<T>();
        Image<Real<T>> left(kernel.left_size(m, k)), right(kernel.right_size(k, n));
        for (const Part part : {Part::lower, Part::upper})
            for (const Index below : {-80, -20, 0, 3, 80})
                for (const bool of_left : {true, false}) {
                    // Zero beyond the diagonal; and the other operand is NaN at every depth at which all of the triangular one is
                    // zero.
                    auto A = TestFixture::matrix(random, m * k), B = TestFixture::matrix(random, k * n);
                    std::vector<bool> used(k, false);
                    for (Index i = 0; i < (of_left ? m : k); ++i)
                        for (Index j = 0; j < (of_left ? k : n); ++j) {
                            const Index d = i - j + below;
                            if (part == Part::lower ? d >= 0 : d <= 0) used[of_left ? j : i] = true;
                            else (of_left ? A[i + j * m] : B[i + j * k]) = T(0);
                        }
                    pack_left(kernel, general(A.data(), m), m, k, left.data);
                    pack_right(kernel, general(B.data(), k), k, n, right.data);
                    std::vector<T> expected(m * n, T(1)), C(m * n, T(1));
                    Packed<T> of_A{left.data, m, k}, of_B{right.data, n, k};
                    multiply_packed<T>(kernel, 11, Part::all, 0, T(2), of_A, 0, m, of_B, 0, n, T(3), expected.data(), 1, m);
                    const T nan(std::numeric_limits<Real<T>>::quiet_NaN());
                    for (Index p = 0; p < k; ++p) {
                        if (used[p]) continue;
                        for (Index i = 0; of_left && i < n; ++i) B[p + i * k] = nan;
                        for (Index i = 0; !of_left && i < m; ++i) A[i + p * m] = nan;
                    }
                    pack_left(kernel, general(A.data(), m), m, k, left.data);
                    pack_right(kernel, general(B.data(), k), k, n, right.data);
                    (of_left ? of_A : of_B).part = part;
                    (of_left ? of_A : of_B).below = below;
                    multiply_packed<T>(kernel, 11, Part::all, 0, T(2), of_A, 0, m, of_B, 0, n, T(3), C.data(), 1, m);
                    ASSERT_EQ(C, expected) << set->name << " below " << below << (of_left ? " left" : " right");
                }
    }
}

/// Infinities and NaN of the other operand do not meet the zeros beside the triangle, and all that the triangle reaches is there.
TYPED_TEST(MicroKernels, KeepWhatIsNotFiniteFromTheZerosBesideATriangle)
{
    using T = TypeParam;
    Random random(46);
    const Index m = 29, n = 15, k = 23;
    const T nan(std::numeric_limits<Real<T>>::quiet_NaN());
    for (const InstructionSet* set : instruction_set_entries()) {
        if (!set->runs_here()) continue;
        const MicroKernel<T>& kernel = set->micro_kernel<T>();
        Image<Real<T>> left(kernel.left_size(m, k)), right(kernel.right_size(k, n));
        for (const Part part : {Part::lower, Part::upper})
            for (const Index below : {-4, 0, 3})
                for (const bool of_left : {true, false})
                    for (Index bad = 0; bad < k; ++bad) {
                        const auto is_zero = [&](Index i, Index j) {
                            return part == Part::lower ? i - j + below < 0 : i - j + below > 0;
                        };
                        auto A = TestFixture::matrix(random, m * k), B = TestFixture::matrix(random, k * n);
                        for (Index p = 0; p < k; ++p) {
                            for (Index i = 0; of_left && i < m; ++i)
                                if (is_zero(i, p)) A[i + p * m] = T(0);
                            for (Index j = 0; !of_left && j < n; ++j)
                                if (is_zero(p, j)) B[p + j * k] = T(0);
                        }
                        const Index at = bad % (of_left ? n : m); // one column (row) of the result
                        (of_left ? B[bad + at * k] : A[at + bad * m]) = nan;
                        pack_left(kernel, general(A.data(), m), m, k, left.data);
                        pack_right(kernel, general(B.data(), k), k, n, right.data);
                        Packed<T> of_A{left.data, m, k}, of_B{right.data, n, k};
                        (of_left ? of_A : of_B).part = part;
                        (of_left ? of_A : of_B).below = below;
                        std::vector<T> C(m * n, T(1));
                        multiply_packed<T>(kernel, 11, Part::all, 0, T(2), of_A, 0, m, of_B, 0, n, T(3), C.data(), 1, m);
                        for (Index j = 0; j < n; ++j)
                            for (Index i = 0; i < m; ++i) {
                                T sum(3);
                                for (Index p = 0; p < k; ++p)
                                    if (!is_zero(of_left ? i : p, of_left ? p : j)) sum += T(2) * A[i + p * m] * B[p + j * k];
                                const T got = C[i + j * m];
                                ASSERT_EQ(std::isnan(std::real(got)), std::isnan(std::real(sum)))
                                    << set->name << " below " << below << (of_left ? " left " : " right ") << i << ' ' << j;
                                if (!std::isnan(std::real(sum))) {
                                    ASSERT_LE(std::abs(got - sum), 1000 * std::numeric_limits<Real<T>>::epsilon());
                                }
                            }
                    }
    }
}

/// As multiply for each panel, to the bit; behind C's columns and the last one nothing is written.
TYPED_TEST(MicroKernels, MultiplyAStackOfPanelsAsEachByItself)
{
    using T = TypeParam;
    using R = Real<T>;
    Random random(46);
    for (const InstructionSet* set : instruction_set_entries()) {
        if (!set->runs_here()) continue;
        const MicroKernel<T>& kernel = set->micro_kernel<T>();
        for (const Index k : {1, 3, 8, 13, 24})
            for (Index panels = 1; panels <= 3; ++panels)
                for (Index cols = 1; cols <= kernel.nr; ++cols) {
                    const Index m = panels * kernel.mr, ldc = m + 1, step = planes<T> * k * kernel.mr;
                    const auto A = TestFixture::matrix(random, m * k), B = TestFixture::matrix(random, k * cols);
                    Image<R> left(kernel.left_size(m, k)), right(kernel.right_size(k, cols));
                    pack_left(kernel, general(A.data(), m), m, k, left.data);
                    pack_right(kernel, general(B.data(), k), k, cols, right.data);
                    const T alpha = random.template number<T>(), beta = T(R(random.below(3)));
                    std::vector<T> expected = TestFixture::matrix(random, ldc * (cols + 1)), C = expected;
                    for (Index i = 0; i < panels; ++i)
                        kernel.multiply(k, left.data + i * step, kernel.mr, right.data, alpha, beta,
                                        expected.data() + i * kernel.mr, 1, ldc, kernel.mr, cols);
                    kernel.multiply_stack({k, panels, left.data, step, right.data, alpha, beta, C.data(), ldc, cols,
                                           panels > 1 ? right.data : nullptr});
                    ASSERT_EQ(C, expected) << set->name << ' ' << panels << " panels, " << k << " deep, " << cols << " columns";
                }
    }
}

/// Of operands that are far away other lines are fetched and rows taken in another order: the same sums.
TYPED_TEST(MicroKernels, FarOperandsGiveTheSameBits)
{
    using T = TypeParam;
    using R = Real<T>;
    Random random(49);
    for (const InstructionSet* set : instruction_set_entries()) {
        if (!set->runs_here()) continue;
        const MicroKernel<T>& kernel = set->micro_kernel<T>();
        for (const Index rows : {3, 9 * int(kernel.mr), 17 * int(kernel.mr) + 5})
            for (const Index cols : {Index(1), 5 * kernel.nr, 7 * kernel.nr + 1})
                for (const Part part : {Part::all, Part::lower, Part::upper}) {
                    constexpr Index kc = 256;
                    const Index k = part == Part::all ? kc - 5 : kc + 9, below = random.below(20) - 10; // in one piece and in two
                    const auto A = TestFixture::matrix(random, rows * k), B = TestFixture::matrix(random, k * cols);
                    Image<R> left(kernel.left_size(rows, k)), right(kernel.right_size(k, cols));
                    pack_left(kernel, general(A.data(), rows), rows, k, left.data);
                    pack_right(kernel, general(B.data(), k), k, cols, right.data);
                    std::vector<T> expected = TestFixture::matrix(random, rows * cols);
                    const std::vector<T> before = expected;
                    const auto multiply = [&](bool far_left, bool far_right, T* C) {
                        multiply_packed<T>(kernel, kc, part, below, T(2), {left.data, rows, k, Part::all, 0, far_left}, 0, rows,
                                           {right.data, cols, k, Part::all, 0, far_right}, 0, cols, T(3), C, 1, rows);
                    };
                    multiply(false, false, expected.data());
                    for (const bool far_left : {false, true})
                        for (const bool far_right : {false, true}) {
                            std::vector<T> C = before;
                            multiply(far_left, far_right, C.data());
                            ASSERT_EQ(C, expected) << set->name << ' ' << rows << " x " << cols << " part " << int(part);
                        }
                }
    }
}

/// A X^T with the image of X as a left operand, and with that of X^T as a right one.
TYPED_TEST(MicroKernels, ImagesOfLeftOperandsServeOnTheRight)
{
    using T = TypeParam;
    using R = Real<T>;
    Random random(50);
    for (const InstructionSet* set : instruction_set_entries()) {
        if (!set->runs_here() || !reads_left_as_right(set->micro_kernel<T>())) continue;
        const MicroKernel<T>& kernel = set->micro_kernel<T>();
        for (const Index rows : {Index(1), kernel.mr + 1, 6 * kernel.mr, 9 * kernel.mr + 5})
            for (const Index cols : {Index(1), kernel.nr + 1, kernel.mr, 3 * kernel.mr + kernel.nr + 1})
                for (const Index k : {1, 7, 64, 265})
                    for (const Part part : {Part::all, Part::lower, Part::upper}) {
                        const auto A = TestFixture::matrix(random, rows * k), X = TestFixture::matrix(random, cols * k);
                        Image<R> left(kernel.left_size(rows, k)), image(kernel.left_size(cols, k)),
                            right(kernel.right_size(k, cols));
                        pack_left(kernel, general(A.data(), rows), rows, k, left.data);
                        pack_left(kernel, general(X.data(), cols), cols, k, image.data);
                        pack_right(kernel, general(X.data(), cols).transposed(), k, cols, right.data);
                        std::vector<T> expected = TestFixture::matrix(random, rows * cols), C = expected;
                        const bool far = random.below(2);
                        const T beta = T(R(random.below(3)));
                        const auto multiply = [&](const Packed<T>& B, T* to) {
                            multiply_packed<T>(kernel, 256, part, 2, T(2), {left.data, rows, k, Part::all, 0, far}, 0, rows, B, 0,
                                               cols, beta, to, 1, rows);
                        };
                        multiply({right.data, cols, k}, expected.data());
                        multiply({image.data, cols, k, Part::all, 0, far, true}, C.data());
                        ASSERT_EQ(C, expected)
                            << set->name << ' ' << rows << " x " << cols << " x " << k << " part " << int(part);
                    }
    }
}

/// As multiply, to the bit, and without reading the vectors of A that are zero.
TYPED_TEST(MicroKernels, ClimbTheStairsOfATriangleAsIfTheyWereNotThere)
{
    using T = TypeParam;
    using R = Real<T>;
    Random random(45);
    for (const InstructionSet* set : instruction_set_entries()) {
        if (!set->runs_here()) continue;
        const MicroKernel<T>& kernel = set->micro_kernel<T>();
        const Index n = 3 * kernel.nr, ldc = kernel.mr + 1;
        for (Index m = 1; m <= kernel.mr; ++m)
            for (const bool lower : {true, false}) {
                const Index others = random.below(10), k = m + others, first = lower ? others : 0, height = kernel.height(m);
                auto A = TestFixture::matrix(random, m * k);
                const auto B = TestFixture::matrix(random, k * n);
                for (Index p = 0; p < m; ++p)
                    for (Index i = 0; i < m; ++i)
                        if (lower ? i < p : i > p) A[i + (first + p) * m] = T(0);
                Image<R> left(kernel.left_size(m, k)), right(kernel.right_size(k, n));
                pack_left(kernel, general(A.data(), m), m, k, left.data);
                pack_right(kernel, general(B.data(), k), k, n, right.data);
                const Index cols = random.between(1, n);
                const T alpha = random.template number<T>(), beta = T(R(random.below(3)));
                std::vector<T> expected = TestFixture::matrix(random, ldc * n), C = expected;
                const Index b_step = planes<T> * k * kernel.nr;
                for (Index j = 0; j < cols; j += kernel.nr)
                    kernel.multiply(k, left.data, height, right.data + j / kernel.nr * b_step, alpha, beta,
                                    expected.data() + j * ldc, 1, ldc, m, std::min(kernel.nr, cols - j));
                for (Index p = 0; p < m; ++p)
                    for (Index i = 0; i < height; ++i)
                        if (lower ? i / kernel.step < p / kernel.step : i / kernel.step > p / kernel.step)
                            for (Index q = 0; q < planes<T>; ++q)
                                left.data[(first + p) * planes<T> * height + q * height + i] =
                                    std::numeric_limits<R>::quiet_NaN();
                kernel.multiply_stairs({lower, m, k, left.data, height, right.data, b_step, alpha, beta, C.data(), ldc, m, cols});
                ASSERT_EQ(C, expected) << set->name << ' ' << m << " rows, " << k << (lower ? " lower" : " upper");
            }
    }
}

TYPED_TEST(MicroKernels, SolveEverySizeUpToThreePanels)
{
    using T = TypeParam;
    Random random(43);
    for (const InstructionSet* set : instruction_set_entries()) {
        if (!set->runs_here()) continue;
        const MicroKernel<T>& kernel = set->micro_kernel<T>();
        for (Index n = 1; n <= 3 * kernel.nr; ++n) {
            const Index m = random.between(1, 2 * kernel.mr + 1);
            auto U = TestFixture::matrix(random, n * n);
            for (Index i = 0; i < n; ++i) U[i + i * n] += T(Real<T>(2 * n)); // |U^-1| < 1/n then
            const auto X = TestFixture::matrix(random, m * n);
            std::vector<T> B(m * n), solved(m * n);
            for (Index j = 0; j < n; ++j)
                for (Index i = 0; i < m; ++i)
                    for (Index p = 0; p <= j; ++p) B[i + j * m] += X[i + p * m] * U[p + j * n];
            for (Index j = 0; j < n; ++j)
                for (Index i = j + 1; i < n; ++i) U[i + j * n] = T(std::numeric_limits<Real<T>>::quiet_NaN()); // not referenced
            Image<Real<T>> left(kernel.left_size(m, n)), triangle(triangle_size(kernel, n));
            pack_left(kernel, general(B.data(), m), m, n, left.data);
            Operand<T> upper = general(U.data(), n);
            upper.structure = Structure::triangular;
            upper.uplo = Uplo::upper;
            pack_triangle(kernel, upper, n, triangle.data);
            solve_packed(kernel, left.data, m, 0, m, n, triangle.data);
            unpack_left(kernel, left.data, m, n, solved.data(), 1, m);
            // Forward error of a solve with |U^-1||U| < 4: 4 n eps, and n eps for the rounding of B.
            for (Index i = 0; i < m * n; ++i)
                ASSERT_LE(std::abs(solved[i] - X[i]), testing::rounding<T> * 8 * n * testing::eps<T>)
                    << set->name << ' ' << m << ' ' << n;
        }
    }
}

} // namespace
} // namespace trencadis::blas
