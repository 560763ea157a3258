// What the kernels of devices compute is what those of the host do, over each back end that this machine has.
#include "blas/factorizations/lu.hpp"
#include "kernels_on_device.hpp"

#include <algorithm>
#include <cstdint>

namespace trencadis::testing {
namespace {

template <class T> class DeviceLevel3 : public OnDevice<T> {
protected:
    using OnDevice<T>::host_;
    using OnDevice<T>::kernels_;
    using OnDevice<T>::why_;
    using OnDevice<T>::on_device;
    void products();
    void rank_k();
    void solves();
    void factors();
    void factors_lu();
    void all(const char* words)
    {
        if (!this->open(words)) GTEST_SKIP() << why_;
        products();
        rank_k();
        solves();
        factors();
        factors_lu();
    }
};
TYPED_TEST_SUITE(DeviceLevel3, Scalars);

constexpr Op ops[] = {Op::none, Op::trans, Op::conj_trans};

template <class T> void DeviceLevel3<T>::products()
{
    const struct {
        Index m, n, k;
    } sizes[] = {{37, 18, 41}, {1, 1, 1}, {16, 9, 0}, {0, 4, 3}, {130, 70, 33}};
    for (const auto [m, n, k] : sizes)
        for (const Op op_a : ops)
            for (const Op op_b : ops) {
                if (m == 130 && (op_a != Op::none || op_b != Op::conj_trans)) continue;
                const T alpha(2), beta(op_a == Op::none ? 0 : -1);
                const Matrix<T> A(op_a == Op::none ? m : k, op_a == Op::none ? k : m, 1);
                const Matrix<T> B(op_b == Op::none ? k : n, op_b == Op::none ? n : k, 2);
                Matrix<T> seen(m, n, 3);
                if (beta == T(0)) std::ranges::fill(seen.at, no_number<T>);
                Matrix<T> expected = seen;
                host_.gemm(op_a, op_b, m, n, k, alpha, A.at.data(), A.ld, B.at.data(), B.ld, beta, expected.at.data(),
                           expected.ld);
                on_device(A, B, seen, [&](const DeviceRoutines<T>& on, const T* a, const T* b, T* c) {
                    on.gemm(op_a, op_b, m, n, k, alpha, a, A.ld, b, B.ld, beta, c, seen.ld);
                });
                expect_near(seen, expected, double(k), "gemm " + std::to_string(m) + char(op_a) + char(op_b));
            }
}

template <class T> void DeviceLevel3<T>::rank_k()
{
    for (const bool hermitian : {false, true})
        for (const Uplo uplo : {Uplo::lower, Uplo::upper})
            for (const Op op : ops) {
                if (is_complex<T> && op == (hermitian ? Op::trans : Op::conj_trans)) continue; // BLAS has no such
                for (const Index n : {Index(29), Index(65)}) {
                    const Index k = n == 65 ? 0 : 21;
                    const Matrix<T> A(op == Op::none ? n : k, op == Op::none ? k : n, 1);
                    Matrix<T> seen(n, n, 3), expected = seen;
                    const Real<T> alpha(-1), beta(2);
                    if (hermitian) host_.herk(uplo, op, n, k, alpha, A.at.data(), A.ld, beta, expected.at.data(), expected.ld);
                    else host_.syrk(uplo, op, n, k, T(alpha), A.at.data(), A.ld, T(beta), expected.at.data(), expected.ld);
                    on_device(A, Matrix<T>(1, 1, 2), seen, [&](const DeviceRoutines<T>& on, const T* a, const T*, T* c) {
                        if (hermitian) on.herk(uplo, op, n, k, alpha, a, A.ld, beta, c, seen.ld);
                        else on.syrk(uplo, op, n, k, T(alpha), a, A.ld, T(beta), c, seen.ld);
                    });
                    expect_near(seen, expected, double(k),
                                (hermitian ? "herk " : "syrk ") + std::to_string(n) + char(uplo) + char(op));
                }
            }
}

template <class T> void DeviceLevel3<T>::solves()
{
    for (const Index order : {Index(1), Index(31), Index(75)})
        for (const Side side : {Side::left, Side::right})
            for (const Uplo uplo : {Uplo::lower, Uplo::upper})
                for (const Op op : ops)
                    for (const Diag diag : {Diag::non_unit, Diag::unit}) {
                        if (order == 31 && diag == Diag::unit) continue;
                        const bool left = side == Side::left;
                        const Index m = left ? order : 19, n = left ? 19 : order;
                        Matrix<T> A(order, order, 1), seen(m, n, 3), expected = seen;
                        A.keep(uplo, diag);
                        host_.trsm(side, uplo, op, diag, m, n, T(-2), A.at.data(), A.ld, expected.at.data(), expected.ld);
                        on_device(A, Matrix<T>(1, 1, 2), seen, [&](const DeviceRoutines<T>& on, const T* a, const T*, T* c) {
                            on.trsm(side, uplo, op, diag, m, n, T(-2), a, A.ld, c, seen.ld);
                        });
                        const std::string where = {'t', 'r', 's', 'm', ' ', char(side), char(uplo), char(op), char(diag)};
                        expect_near(seen, expected, 4.0 * double(order), where + std::to_string(order));
                    }
}

/// With a bad pivot as well, of which it tells; then the leading part is what it was to be.
template <class T> void DeviceLevel3<T>::factors()
{
    if (!kernels_->template routines<T>().factors()) return;
    for (const Uplo uplo : {Uplo::lower, Uplo::upper})
        for (const Index n : {Index(1), Index(31), Index(75)})
            for (const Index bad : {Index(0), n / 2 + 1}) {
                Matrix<T> seen(n, n, 3);
                for (Index i = 0; i < n; ++i) seen(i, i) = T(Real<T>(i + 1 == bad ? -1 : 2 * n));
                Matrix<T> expected = seen;
                const Index info = host_.potrf(uplo, n, expected.at.data(), expected.ld);
                ASSERT_EQ(info, bad);
                Index told = -1;
                on_device(Matrix<T>(1, 1, 1), Matrix<T>(1, 1, 2), seen,
                          [&](const DeviceRoutines<T>& on, const T*, const T*, T* c) {
                              on.potrf(uplo, n, c, seen.ld, [&told](Index row) { told = row; });
                          });
                EXPECT_EQ(told, bad);
                if (bad)
                    for (Index j = 0; j < n; ++j)
                        for (Index i = 0; i < n; ++i)
                            if (std::max(i, j) + 1 >= bad) seen(i, j) = expected(i, j);
                expect_near(seen, expected, double(n), "potrf " + std::to_string(n) + char(uplo));
            }
}

/// Columns beside those that are factored are exchanged as those were. Zeros in a column are told of, and all is factored.
template <class T> void DeviceLevel3<T>::factors_lu()
{
    if (!kernels_->template routines<T>().factors_lu()) return;
    constexpr Index beside = 9;
    const struct {
        Index m, n;
    } sizes[] = {{1, 1}, {31, 31}, {75, 20}, {20, 33}};
    for (const auto [m, n] : sizes)
        for (const Index zero : {Index(0), std::min(m, n) / 2 + 1}) {
            Matrix<T> seen(m, n + beside, 3);
            for (Index i = 0; i < m && zero > 0; ++i) seen(i, zero - 1) = T(0);
            Matrix<T> expected = seen;
            const Index k = std::min(m, n);
            std::vector<Index> pivots(std::size_t(k), 0);
            ASSERT_EQ(host_.getrf(m, n, expected.at.data(), expected.ld, pivots.data()), zero);
            blas::laswp(beside, expected.at.data() + n * expected.ld, expected.ld, 0, k, pivots.data());
            Index told = -1;
            on_device(Matrix<T>(1, 1, 1), Matrix<T>(k, 1, 2), seen,
                      [&](const DeviceRoutines<T>& on, const T*, const T* room, T* c) {
                          auto* const interchanges = reinterpret_cast<std::int32_t*>(const_cast<T*>(room));
                          on.getrf(m, n, c, seen.ld, interchanges, [&told](Index row) { told = row; });
                          on.laswp(m, beside, c + n * seen.ld, seen.ld, k, interchanges);
                      });
            EXPECT_EQ(told, zero);
            // Of entries that have been divided by pivots of any size: growth of a random matrix, and what is near to dependent.
            expect_near(seen, expected, 100.0 * double(k), "getrf " + std::to_string(m) + " x " + std::to_string(n));
        }
}

TYPED_TEST(DeviceLevel3, IsThatOfTheHostOnEmulated) { this->all("emulated:1,factors=yes"); }
TYPED_TEST(DeviceLevel3, IsThatOfTheHostOnCuda) { this->all("cuda:0,memory=4MiB"); }
TYPED_TEST(DeviceLevel3, IsThatOfTheHostOnOpenCl)
{
    if (is_left_to_the_soak<TypeParam>()) GTEST_SKIP() << in_the_soak;
    this->all("opencl:0,memory=4MiB");
}

TEST(DeviceKernels, LackThePrecisionsThatAreLeftToCores)
{
    try {
        const devices::DeviceList list = devices::open_devices("opencl:0,memory=4MiB,double=no");
        const auto kernels = kernels_on(list.front()->kernels(), load_kernels("native"));
        EXPECT_TRUE(kernels->computes<float>() && kernels->computes<std::complex<float>>());
        EXPECT_FALSE(kernels->computes<double>() || kernels->computes<std::complex<double>>());
    } catch (const Error& error) {
        if (error.code() != ErrorCode::missing_backend) throw;
        GTEST_SKIP() << error.what();
    }
}

} // namespace
} // namespace trencadis::testing
