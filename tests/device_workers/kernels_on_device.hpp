#pragma once
#include "base/error.hpp"
#include "devices/backend.hpp"
#include "kernels/providers/device_kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdlib>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace trencadis::testing {

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

/// Kernels of the first device that the words name, beside those of the host.
template <class T> class OnDevice : public ::testing::Test {
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

    const KernelProvider& host_ = load_kernels("native");
    std::unique_ptr<Device> device_;
    std::unique_ptr<const DeviceKernels> kernels_; ///< gone before the device
    std::string why_;
};

/// Drivers of OpenCL compile for each precision: two of them where time is short.
template <class T> bool is_left_to_the_soak()
{
    return std::getenv("TRENCADIS_TEST_SHARE") == nullptr &&
           (std::is_same_v<T, float> || std::is_same_v<T, std::complex<double>>);
}
constexpr const char* in_the_soak = "compiles for seconds: a part of the soak, or TRENCADIS_TEST_SHARE=1";

using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;

} // namespace trencadis::testing
