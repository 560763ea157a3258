#pragma once
#include "base/testing/moduli.hpp"
#include "kernels/providers/provider.hpp"
#include "matrix/conjugate.hpp"
#include "matrix/tile_matrix.hpp"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <string>
#include <vector>

/// What the tests of routines compare with: dense matrices, products in a wider precision, and the entrywise bounds that rounding
/// error analysis gives (Higham, Accuracy and Stability of Numerical Algorithms, 2002).
namespace trencadis::testing {

template <Scalar T> using Wide = std::conditional_t<is_complex<T>, std::complex<long double>, long double>;

template <Scalar T> inline constexpr Real<T> eps = std::numeric_limits<Real<T>>::epsilon();
/// One complex operation rounds like at most 2 sqrt(2) real ones (Higham, lemma 3.5).
template <Scalar T> inline constexpr double rounding = is_complex<T> ? 3.0 : 1.0;

/// A matrix with rows of padding below, all of it NaN until set: what must not be read poisons what reads it.
template <Scalar T> struct Dense {
    Index rows, cols, ld;
    std::vector<T> data;

    Dense(Index rows, Index cols, Index padding = 3)
        : rows(rows), cols(cols), ld(rows + padding),
          data(std::size_t(ld * cols + 1), T(std::numeric_limits<Real<T>>::quiet_NaN()))
    {
    }
    T& operator()(Index i, Index j) { return data[std::size_t(i + j * ld)]; }
    const T& operator()(Index i, Index j) const { return data[std::size_t(i + j * ld)]; }
    MatrixView<T> view() { return {data.data(), rows, cols, ld}; }
    /// op(A)(i, j).
    T at(Op op, Index i, Index j) const
    {
        const T x = op == Op::none ? (*this)(i, j) : (*this)(j, i);
        return op == Op::conj_trans ? conjugate(x) : x;
    }
};

inline std::mt19937_64& random()
{
    static std::mt19937_64 generator;
    return generator;
}
/// Seeds `random` by the name of each test, so that what a test draws does not depend on which ones ran before it: alone, in a
/// third of the tests or in all of them it is the same. Repetitions (--gtest_repeat) draw anew.
class SeededByName final : public ::testing::EmptyTestEventListener {
    void OnTestIterationStart(const ::testing::UnitTest&, int iteration) override { iteration_ = iteration; }
    void OnTestStart(const ::testing::TestInfo& test) override
    {
        std::uint64_t hash = 14695981039346656037u + std::uint64_t(iteration_); // FNV-1a
        for (const char c : std::string(test.test_suite_name()) + '.' + test.name())
            hash = (hash ^ std::uint8_t(c)) * 1099511628211u;
        random().seed(hash);
    }
    int iteration_ = 0;
};
inline const bool seeded_by_name = [] {
    ::testing::UnitTest::GetInstance()->listeners().Append(new SeededByName); // gtest owns it
    return true;
}();

template <Scalar T> T random_scalar()
{
    std::uniform_real_distribution<Real<T>> unit(-1, 1);
    if constexpr (is_complex<T>) return {unit(random()), unit(random())};
    else return unit(random());
}
template <Scalar T> Dense<T> random_matrix(Index rows, Index cols)
{
    Dense<T> A(rows, cols);
    for (Index j = 0; j < cols; ++j)
        for (Index i = 0; i < rows; ++i) A(i, j) = random_scalar<T>();
    return A;
}
inline bool in_triangle(Uplo uplo, Index i, Index j) { return uplo == Uplo::lower ? i >= j : i <= j; }
/// Random in one triangle, the diagonal raised by `shift`, NaN elsewhere.
template <Scalar T> Dense<T> random_triangle(Uplo uplo, Index n, Real<T> shift)
{
    Dense<T> A(n, n);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i)
            if (in_triangle(uplo, i, j)) A(i, j) = i == j ? T(std::real(random_scalar<T>()) + shift) : random_scalar<T>();
    return A;
}

/// Everything outside `inside(i, j)`, padding included, has the same bits in both.
template <Scalar T, class Inside> void expect_untouched(const Dense<T>& before, const Dense<T>& after, Inside inside)
{
    for (Index j = 0; j < before.cols; ++j)
        for (Index i = 0; i < before.ld; ++i) {
            if (i < before.rows && inside(i, j)) continue;
            const auto at = std::size_t(i + j * before.ld);
            ASSERT_EQ(std::memcmp(&before.data[at], &after.data[at], sizeof(T)), 0) << "touched at " << i << ", " << j;
        }
}
template <Scalar T> void expect_same_bits(const Dense<T>& a, const Dense<T>& b)
{
    ASSERT_EQ(a.data.size(), b.data.size());
    EXPECT_EQ(std::memcmp(a.data.data(), b.data.data(), a.data.size() * sizeof(T)), 0);
}

/// A sum of products in wide precision together with the sum of their moduli, against which rounding errors are bounded.
template <Scalar T> struct Sum {
    Wide<T> value = 0;
    long double magnitude = 0;
    void add(T a, T b)
    {
        value += Wide<T>(a) * Wide<T>(b);
        magnitude += moduli(a, b);
    }
};
/// |computed - exact| <= factor * eps * magnitude, where factor is the length of the sum plus 2 (Higham, section 3.1: the
/// order of summation does not matter), times the cost of complex arithmetic.
template <Scalar T> void expect_within(T computed, Wide<T> exact, long double magnitude, double length, const std::string& where)
{
    const long double bound = (length + 2) * rounding<T> * eps<T> * magnitude;
    ASSERT_LE(std::abs(Wide<T>(computed) - exact), bound) << where;
}

inline std::vector<const KernelProvider*> providers()
{
    std::vector<const KernelProvider*> usable;
    for (const KernelProviderEntry* entry : kernel_provider_entries())
        if (kernel_status(*entry).available) usable.push_back(&entry->load());
    return usable;
}

} // namespace trencadis::testing
