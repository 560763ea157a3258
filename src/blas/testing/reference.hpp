#pragma once
#include "blas/level3/control_tree.hpp"
#include "blas/level3/operand.hpp"
#include "matrix/conjugate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

/// What the tests of level 3 compare with: matrices stored as a caller would, with NaN in everything that must not be read, and
/// the same computation in long double (64 bits of significand) with the sum of moduli that bounds its rounding errors.
namespace trencadis::blas::testing {

template <Scalar T> using Wide = std::conditional_t<is_complex<T>, std::complex<long double>, long double>;
template <Scalar T> inline constexpr long double eps = std::numeric_limits<Real<T>>::epsilon();
/// A complex operation rounds like at most 2 sqrt(2) real ones (Higham 2002, lemma 3.5).
template <Scalar T> inline constexpr long double rounding = is_complex<T> ? 3 : 1;

class Random {
public:
    explicit Random(unsigned seed) : engine_(seed) {}
    Index below(Index limit) { return Index(engine_() % std::uint64_t(limit)); }
    Index between(Index least, Index most) { return least + below(most - least + 1); }
    template <Scalar T> T number()
    {
        std::uniform_real_distribution<Real<T>> unit(-1, 1);
        if constexpr (is_complex<T>) return {unit(engine_), unit(engine_)};
        else return unit(engine_);
    }
    /// A factor as callers use them: 0, 1, -1 or anything.
    template <Scalar T> T factor()
    {
        const Index choice = below(6);
        return choice < 3 ? T(Real<T>(choice - 1)) : number<T>();
    }
    Uplo uplo() { return below(2) ? Uplo::lower : Uplo::upper; }
    Side side() { return below(2) ? Side::left : Side::right; }
    Diag diag() { return below(2) ? Diag::unit : Diag::non_unit; }
    Op op() { return std::array{Op::none, Op::trans, Op::conj_trans}[std::size_t(below(3))]; }

private:
    std::mt19937_64 engine_;
};

template <Scalar T> T not_a_number()
{
    const Real<T> nan = std::numeric_limits<Real<T>>::quiet_NaN();
    if constexpr (is_complex<T>) return {nan, nan};
    else return nan;
}

/// A column-major matrix with some rows of padding, all NaN until set.
template <Scalar T> struct Stored {
    Index rows, cols, ld;
    std::vector<T> data;
    Stored(Index rows, Index cols, Index padding)
        : rows(rows), cols(cols), ld(std::max<Index>(1, rows + padding)), data(std::size_t(ld * cols + 1), not_a_number<T>())
    {
    }
    T& operator()(Index i, Index j) { return data[std::size_t(i + j * ld)]; }
    const T& operator()(Index i, Index j) const { return data[std::size_t(i + j * ld)]; }
};

inline bool in_part(Uplo uplo, Index i, Index j) { return uplo == Uplo::lower ? i >= j : i <= j; }

template <Scalar T> Stored<T> random_matrix(Random& random, Index rows, Index cols)
{
    Stored<T> A(rows, cols, random.below(4));
    for (Index j = 0; j < cols; ++j)
        for (Index i = 0; i < rows; ++i) A(i, j) = random.number<T>();
    return A;
}
template <Scalar T> Stored<T> random_triangle(Random& random, Uplo uplo, Index n, Diag diag = Diag::non_unit)
{
    Stored<T> A(n, n, random.below(4));
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i)
            if (in_part(uplo, i, j) && (i != j || diag == Diag::non_unit)) A(i, j) = random.number<T>();
    return A;
}

/// A whole matrix in wide precision.
template <Scalar T> struct Exact {
    Index rows, cols;
    std::vector<Wide<T>> data;
    Exact(Index rows, Index cols) : rows(rows), cols(cols), data(std::size_t(rows * cols)) {}
    Wide<T>& operator()(Index i, Index j) { return data[std::size_t(i + j * rows)]; }
    const Wide<T>& operator()(Index i, Index j) const { return data[std::size_t(i + j * rows)]; }
};

/// What a stored matrix stands for, element by element.
template <Scalar T> Exact<T> expand(const Stored<T>& A, Structure structure, Uplo uplo = Uplo::lower, Diag diag = Diag::non_unit)
{
    Exact<T> whole(A.rows, A.cols);
    for (Index j = 0; j < A.cols; ++j)
        for (Index i = 0; i < A.rows; ++i) {
            const bool own = structure == Structure::general || in_part(uplo, i, j);
            T x = own ? A(i, j) : structure == Structure::triangular ? T(0) : A(j, i);
            if (!own && structure == Structure::hermitian) x = conjugate(x);
            if (i == j && structure == Structure::triangular && diag == Diag::unit) x = T(1);
            if (i == j && structure == Structure::hermitian) x = T(std::real(x));
            whole(i, j) = Wide<T>(x);
        }
    return whole;
}
template <Scalar T> Exact<T> transformed(Op op, const Exact<T>& A)
{
    if (op == Op::none) return A;
    Exact<T> B(A.cols, A.rows);
    for (Index j = 0; j < B.cols; ++j)
        for (Index i = 0; i < B.rows; ++i) {
            B(i, j) = A(j, i);
            if constexpr (is_complex<T>)
                if (op == Op::conj_trans) B(i, j) = std::conj(B(i, j));
        }
    return B;
}

/// a b; std::complex's own product looks for infinities, which makes it several times slower.
inline long double times(long double a, long double b) { return a * b; }
inline std::complex<long double> times(const std::complex<long double>& a, const std::complex<long double>& b)
{
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// alpha A B in wide precision, and |alpha| |A| |B|; more can be added.
template <Scalar T> struct Sum {
    Exact<T> value;
    std::vector<long double> magnitude;
    Index length = 0; ///< terms in each sum

    Sum(Index rows, Index cols) : value(rows, cols), magnitude(std::size_t(rows * cols)) {}
    void add(T alpha, const Exact<T>& A, const Exact<T>& B)
    {
        length += A.cols;
        std::vector<long double> moduli(A.data.size());
        std::transform(A.data.begin(), A.data.end(), moduli.begin(), [](const Wide<T>& x) { return std::abs(x); });
        for (Index j = 0; j < B.cols; ++j)
            for (Index p = 0; p < A.cols; ++p) {
                const Wide<T> factor = times(Wide<T>(alpha), B(p, j));
                const long double modulus = std::abs(factor);
                for (Index i = 0; i < A.rows; ++i) {
                    value(i, j) += times(A(i, p), factor);
                    magnitude[std::size_t(i + j * A.rows)] += moduli[std::size_t(i + p * A.rows)] * modulus;
                }
            }
    }
    void add(T beta, const Exact<T>& C)
    {
        if (beta == T(0)) return;
        for (std::size_t at = 0; at < C.data.size(); ++at) {
            value.data[at] += Wide<T>(beta) * C.data[at];
            magnitude[at] += std::abs(Wide<T>(beta)) * std::abs(C.data[at]);
        }
    }
};

/// |C - value| <= (length + 4) eps magnitude where `inside`, and every other element of the array bit for bit as before. The sum
/// of `length` products in any order costs length half-eps, the factors alpha and beta and their sum three more (Higham 2002,
/// section 3.1); eps instead of half of it leaves room for the second-order terms.
template <Scalar T>
void expect_result(const Stored<T>& C, const Stored<T>& before, const Sum<T>& sum,
                   const std::function<bool(Index, Index)>& inside, const std::string& what)
{
    for (Index j = 0; j < C.cols; ++j)
        for (Index i = 0; i < C.ld; ++i) {
            const auto at = std::size_t(i + j * C.ld);
            if (i >= C.rows || !inside(i, j)) {
                ASSERT_EQ(std::memcmp(&C.data[at], &before.data[at], sizeof(T)), 0) << what << ": touched " << i << ", " << j;
                continue;
            }
            const long double bound = rounding<T> * (sum.length + 4) * eps<T> * sum.magnitude[std::size_t(i + j * C.rows)];
            ASSERT_LE(std::abs(Wide<T>(C.data[at]) - sum.value(i, j)), bound) << what << ": at " << i << ", " << j;
        }
}

/// Runs `body` for every instruction set of this processor, with blocks that cut small matrices in many ways and with
/// those of the machine.
inline void for_all_setups(const std::function<void(const std::string&)>& body)
{
    for (const InstructionSet* set : instruction_set_entries()) {
        if (!set->runs_here()) continue;
        for (const BlockSizes blocks : {BlockSizes{5, 1, 1}, BlockSizes{16, 50, 20}, BlockSizes{256, 240, 4000}}) {
            const ForcedSetup forced(*set, blocks);
            body(std::string(set->name) + " blocks " + std::to_string(blocks.kc));
            if (::testing::Test::HasFatalFailure()) return;
        }
    }
}

} // namespace trencadis::blas::testing
