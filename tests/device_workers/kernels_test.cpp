// What the kernels of devices compute is what those of the host do, over each back end that this machine has.
#include "base/error.hpp"
#include "blas/factorizations/lu.hpp"
#include "devices/backend.hpp"
#include "kernels/providers/device_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace trencadis::testing {
namespace {

using devices::Device;
using devices::Queue;

template <Scalar T> const T no_number = T(std::numeric_limits<Real<T>>::quiet_NaN());

/// In columns that are 3 further apart than they are long, with what is no number between them.
template <Scalar T> struct Matrix {
    Matrix(Index m, Index n, unsigned seed) : rows(m), cols(n), ld(m + 3), at(std::size_t(ld * n), no_number<T>)
    {
        std::minstd_rand random(seed);
        std::uniform_real_distribution<double> spread(-1, 1);
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < m; ++i) {
                const auto x = Real<T>(spread(random)), y = Real<T>(spread(random));
                if constexpr (is_complex<T>) (*this)(i, j) = T(x, y);
                else (*this)(i, j) = x + 0 * y;
            }
    }
    T& operator()(Index i, Index j) { return at[std::size_t(i + j * ld)]; }
    const T& operator()(Index i, Index j) const { return at[std::size_t(i + j * ld)]; }
    /// What is outside of the triangle is no number.
    void keep(Uplo uplo, Diag diag)
    {
        for (Index j = 0; j < cols; ++j)
            for (Index i = 0; i < rows; ++i) {
                const bool inside = uplo == Uplo::lower ? i > j : i < j;
                if (i == j && diag == Diag::non_unit) (*this)(i, j) += T(2);
                else if (inside) (*this)(i, j) /= Real<T>(rows);
                else (*this)(i, j) = no_number<T>;
            }
    }
    std::size_t bytes() const { return at.size() * sizeof(T); }

    Index rows, cols, ld;
    std::vector<T> at;
};

/// Untouched parts are the same to the last bit, also where they are no numbers.
template <Scalar T> void expect_near(const Matrix<T>& seen, const Matrix<T>& expected, double terms, const std::string& where)
{
    const double bound =
        8 * (terms + 4) * double(std::numeric_limits<Real<T>>::epsilon()); // of entries around 1, sums of `terms`
    for (Index j = 0; j < seen.cols; ++j)
        for (Index i = 0; i < seen.ld; ++i) {
            const T x = seen.at[std::size_t(i + j * seen.ld)], y = expected.at[std::size_t(i + j * seen.ld)];
            if (std::isnan(std::abs(y)) && std::isnan(std::abs(x))) continue;
            ASSERT_LE(std::abs(x - y), bound * (1 + std::abs(y))) << where << " at " << i << ' ' << j << ": " << x << ' ' << y;
        }
}

template <class T> class DeviceLevel3 : public ::testing::Test {
protected:
    /// False: there is no such device, and why has been said.
    bool open(const char* words)
    {
        try {
            device_ = std::move(devices::open_devices(words).front());
        } catch (const Error& error) {
            if (error.code() != ErrorCode::missing_backend) throw;
            why_ = error.what();
            return false;
        }
        kernels_ = kernels_on(device_->kernels(), host_);
        return kernels_->computes<T>();
    }
    /// The two matrices and C on the device, in one block each; then `work`, then C back.
    template <class Work> void on_device(const Matrix<T>& A, const Matrix<T>& B, Matrix<T>& C, const Work& work)
    {
        T* places[3] = {};
        const Matrix<T>* const all[] = {&A, &B, &C};
        for (int i = 0; i < 3; ++i) {
            devices::Block block = nullptr;
            ASSERT_TRUE(device_->allocate(all[i]->bytes() + 10 * sizeof(T), block).ok());
            places[i] = static_cast<T*>(block) + 5; // inside of it
            if (all[i]->bytes() == 0) continue;
            auto* const from = const_cast<T*>(all[i]->at.data());
            ASSERT_TRUE(device_->copy_in({from, all[i]->bytes()}, {places[i], all[i]->bytes()}, {all[i]->bytes()}).ok());
        }
        ASSERT_TRUE(device_->hold(Queue::kernels, device_->mark(Queue::in)).ok());
        work(kernels_->template routines<T>(), places[0], places[1], places[2]);
        const devices::Event computed = device_->mark(Queue::kernels);
        ASSERT_TRUE(device_->hold(Queue::out, computed).ok());
        if (C.bytes() > 0) {
            ASSERT_TRUE(device_->copy_out({places[2], C.bytes()}, {C.at.data(), C.bytes()}, {C.bytes()}).ok());
        }
        EXPECT_TRUE(device_->wait(computed).ok());
        const devices::Status status = device_->wait(device_->mark(Queue::out));
        EXPECT_TRUE(status.ok()) << status.what;
        for (T* const place : places) EXPECT_TRUE(device_->release(place - 5).ok());
    }

    void products();
    void rank_k();
    void solves();
    void factors();
    void factors_lu();
    void all(const char* words)
    {
        if (!open(words)) GTEST_SKIP() << why_;
        products();
        rank_k();
        solves();
        factors();
        factors_lu();
    }

    const KernelProvider& host_ = load_kernels("native");
    std::unique_ptr<Device> device_;
    std::unique_ptr<const DeviceKernels> kernels_; ///< gone before the device
    std::string why_;
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
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
/// The drivers compile for each precision: two of them where time is short.
TYPED_TEST(DeviceLevel3, IsThatOfTheHostOnOpenCl)
{
    const bool short_of_time = std::getenv("TRENCADIS_TEST_SHARE") == nullptr;
    if (short_of_time && (std::is_same_v<TypeParam, float> || std::is_same_v<TypeParam, std::complex<double>>))
        GTEST_SKIP() << "compiles for seconds: a part of the soak, or TRENCADIS_TEST_SHARE=1";
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
