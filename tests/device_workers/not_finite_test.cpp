// Infinities and what is no number go through the kernels of devices as through those of the host: to the same entries, and from
// nothing that may not be read. As everywhere here zeros hide none of them.
#include "kernels_on_device.hpp"

#include <algorithm>
#include <utility>

namespace trencadis::testing {
namespace {

/// Is it finite, and which infinity is it, where it is real? Of complex products the parts may be either.
template <Scalar T> int kind_of(T x)
{
    if constexpr (is_complex<T>) return std::isfinite(x.real()) && std::isfinite(x.imag()) ? 0 : 1;
    else return std::isfinite(x) ? 0 : std::isnan(x) ? 1 : x > 0 ? 2 : 3;
}

/// Finite ones are near each other, as sums of `terms` products of entries around 1 are.
template <Scalar T>
void expect_same_kinds(const Matrix<T>& seen, const Matrix<T>& expected, double terms, const std::string& where)
{
    const double bound = 8 * (terms + 4) * double(std::numeric_limits<Real<T>>::epsilon());
    for (Index j = 0; j < seen.cols; ++j)
        for (Index i = 0; i < seen.ld; ++i) {
            const T x = seen.at[std::size_t(i + j * seen.ld)], y = expected.at[std::size_t(i + j * seen.ld)];
            ASSERT_EQ(kind_of(x), kind_of(y)) << where << " at " << i << ' ' << j << ": " << x << ' ' << y;
            if (kind_of(y) == 0) {
                ASSERT_LE(std::abs(x - y), bound * (1 + std::abs(y))) << where << " at " << i << ' ' << j;
            }
        }
}

enum class Where : std::uint8_t { A, B, C };
constexpr Where everywhere[] = {Where::A, Where::B, Where::C};

template <class T> class NotFinite : public OnDevice<T> {
protected:
    using OnDevice<T>::host_;
    using OnDevice<T>::on_device;

    static std::vector<T> values()
    {
        const T infinity(std::numeric_limits<Real<T>>::infinity());
        return {no_number<T>, infinity, -infinity};
    }
    /// The factors: `beta` = 0 reads no C, `alpha` = 0 no A and no B.
    static constexpr std::pair<double, double> factors[] = {{2, 0}, {1, -1}, {0, 0}, {0, 2}};

    void products(Index m, Index n, Index k)
    {
        for (const auto& [alpha, beta] : factors)
            for (const Op op_a : {Op::none, Op::trans})
                for (const Op op_b : {Op::none, Op::conj_trans})
                    for (const Where where : everywhere)
                        for (const T value : values())
                            product(m, n, k, T(Real<T>(alpha)), T(Real<T>(beta)), op_a, op_b, where, value);
    }
    void product(Index m, Index n, Index k, T alpha, T beta, Op op_a, Op op_b, Where where, T value)
    {
        Matrix<T> A(op_a == Op::none ? m : k, op_a == Op::none ? k : m, 1);
        Matrix<T> B(op_b == Op::none ? k : n, op_b == Op::none ? n : k, 2), seen(m, n, 3);
        A(3, 5) = B(7, 2) = T(0);
        Matrix<T>& spoilt = where == Where::A ? A : where == Where::B ? B : seen;
        spoilt(5, 7) = value;
        if (alpha == T(0)) std::ranges::fill(A.at, no_number<T>), std::ranges::fill(B.at, no_number<T>);
        if (beta == T(0)) std::ranges::fill(seen.at, no_number<T>);
        Matrix<T> expected = seen;
        host_.gemm(op_a, op_b, m, n, k, alpha, A.at.data(), A.ld, B.at.data(), B.ld, beta, expected.at.data(), expected.ld);
        on_device(A, B, seen, [&](const DeviceRoutines<T>& on, const T* a, const T* b, T* c) {
            on.gemm(op_a, op_b, m, n, k, alpha, a, A.ld, b, B.ld, beta, c, seen.ld);
        });
        expect_same_kinds(seen, expected, double(k),
                          "gemm " + std::to_string(m) + char(op_a) + char(op_b) + " of " + std::to_string(int(where)) +
                              " alpha " + std::to_string(std::abs(alpha)) + " beta " + std::to_string(std::abs(beta)));
    }

    void rank_k()
    {
        for (const auto& [alpha, beta] : factors)
            for (const bool hermitian : {false, true})
                for (const Uplo uplo : {Uplo::lower, Uplo::upper})
                    for (const bool transposed : {false, true})
                        for (const Where where : {Where::A, Where::C})
                            for (const T value : values())
                                update(alpha, beta, hermitian, uplo,
                                       !transposed ? Op::none
                                       : hermitian ? Op::conj_trans
                                                   : Op::trans,
                                       where, value);
    }
    void update(double alpha, double beta, bool hermitian, Uplo uplo, Op op, Where where, T value)
    {
        constexpr Index n = 45, k = 21;
        const Real<T> a(alpha), b(beta);
        Matrix<T> A(op == Op::none ? n : k, op == Op::none ? k : n, 1), seen(n, n, 3);
        if (where == Where::A) A(5, 7) = value;
        else seen(5, 7) = value, seen(9, 4) = value, seen(6, 6) = value;
        if (alpha == 0) std::ranges::fill(A.at, no_number<T>);
        if (beta == 0) std::ranges::fill(seen.at, no_number<T>);
        Matrix<T> expected = seen;
        if (hermitian) host_.herk(uplo, op, n, k, a, A.at.data(), A.ld, b, expected.at.data(), expected.ld);
        else host_.syrk(uplo, op, n, k, T(a), A.at.data(), A.ld, T(b), expected.at.data(), expected.ld);
        on_device(A, Matrix<T>(1, 1, 2), seen, [&](const DeviceRoutines<T>& on, const T* at, const T*, T* c) {
            if (hermitian) on.herk(uplo, op, n, k, a, at, A.ld, b, c, seen.ld);
            else on.syrk(uplo, op, n, k, T(a), at, A.ld, T(b), c, seen.ld);
        });
        expect_same_kinds(seen, expected, double(k),
                          (hermitian ? "herk " : "syrk ") + std::string{char(uplo), char(op)} + " of " +
                              std::to_string(int(where)) + " alpha " + std::to_string(alpha) + " beta " + std::to_string(beta));
    }

    void solves()
    {
        for (const Side side : {Side::left, Side::right})
            for (const Uplo uplo : {Uplo::lower, Uplo::upper})
                for (const Op op : {Op::none, Op::trans, Op::conj_trans})
                    for (const Diag diag : {Diag::non_unit, Diag::unit})
                        for (const Where where : everywhere)
                            for (const T value : {no_number<T>, T(std::numeric_limits<Real<T>>::infinity()), T(0)})
                                solve(side, uplo, op, diag, where, value);
    }
    /// B: the diagonal; with zeros among right-hand sides.
    void solve(Side side, Uplo uplo, Op op, Diag diag, Where where, T value)
    {
        constexpr Index order = 75, others = 19;
        const Index m = side == Side::left ? order : others, n = side == Side::left ? others : order;
        Matrix<T> A(order, order, 1), seen(m, n, 3);
        A.keep(uplo, diag);
        if (where == Where::A) uplo == Uplo::lower ? A(50, 20) = value : A(20, 50) = value;
        if (where == Where::B && diag == Diag::non_unit) A(40, 40) = value;
        if (is_cublas_ && is_complex<T> && A(40, 40) == T(std::numeric_limits<Real<T>>::infinity())) return;
        for (Index i = 0; i < std::min(m, n); ++i) seen(i, i) = T(0);
        if (where == Where::C) seen(4, 9) = value;
        const T alpha = where == Where::C && value == T(0) ? T(0) : T(-2);
        if (alpha == T(0)) std::ranges::fill(seen.at, no_number<T>), std::ranges::fill(A.at, no_number<T>);
        Matrix<T> expected = seen;
        host_.trsm(side, uplo, op, diag, m, n, alpha, A.at.data(), A.ld, expected.at.data(), expected.ld);
        on_device(A, Matrix<T>(1, 1, 2), seen, [&](const DeviceRoutines<T>& on, const T* a, const T*, T* c) {
            on.trsm(side, uplo, op, diag, m, n, alpha, a, A.ld, c, seen.ld);
        });
        expect_same_kinds(seen, expected, 4.0 * double(order),
                          std::string{'t', 'r', 's', 'm', ' ', char(side), char(uplo), char(op), char(diag)} + " of " +
                              std::to_string(int(where)));
    }

    void all(const std::string& words)
    {
        is_cublas_ = words.starts_with("cuda");
        if (!this->open(words.c_str())) GTEST_SKIP() << this->why_;
        products(37, 18, 41);
        product(257, 300, 270, T(1), T(0), Op::none, Op::trans, Where::A, no_number<T>);
        rank_k();
        solves();
    }
    bool is_cublas_ = false; ///< which divides a complex number by infinity to what is no number, the host and OpenCL to 0
};
TYPED_TEST_SUITE(NotFinite, Scalars);

TYPED_TEST(NotFinite, GoesAsOnTheHostOnEmulated) { this->all("emulated:1"); }
TYPED_TEST(NotFinite, GoesAsOnTheHostOnCuda) { this->all("cuda:0,memory=8MiB"); }
TYPED_TEST(NotFinite, GoesAsOnTheHostOnOpenCl)
{
    if (is_left_to_the_soak<TypeParam>()) GTEST_SKIP() << in_the_soak;
    this->all("opencl:0,memory=8MiB");
}

} // namespace
} // namespace trencadis::testing
