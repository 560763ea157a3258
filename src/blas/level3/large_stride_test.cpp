#include "blas/level3/level3.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>

namespace trencadis::blas {
namespace {

/// A matrix whose columns are more than 2^31 elements apart. Only the pages that are touched exist.
class Sparse {
public:
    static constexpr Index stride = (Index{1} << 31) + 5;
    explicit Sparse(Index cols) : bytes_(std::size_t(cols) * stride * sizeof(float))
    {
        data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    ~Sparse()
    {
        if (mapped()) munmap(data_, bytes_);
    }
    bool mapped() const { return data_ != MAP_FAILED; }
    float* data() const { return static_cast<float*>(data_); }
    float& operator()(Index i, Index j) const { return data()[i + j * stride]; }

private:
    std::size_t bytes_;
    void* data_;
};

constexpr Index n = 5;

class LargeStrides : public ::testing::Test {
protected:
    Sparse A{n}, B{n};
    void SetUp() override
    {
        if (!A.mapped() || !B.mapped()) GTEST_SKIP() << "this system does not map 40 GiB of addresses";
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < n; ++i) {
                A(i, j) = i == j ? float(i + 2) : i > j ? 1.0f : 0.0f;
                B(i, j) = float(i + 10 * j);
            }
    }
    /// Small integers: every result is exact.
    float product(Index i, Index j) const
    {
        float sum = 0;
        for (Index p = 0; p < n; ++p) sum += A(i, p) * float(p + 10 * j);
        return sum;
    }
};

TEST_F(LargeStrides, OfProducts)
{
    Sparse C(n);
    ASSERT_TRUE(C.mapped());
    gemm(Op::none, Op::none, n, n, n, 1.0f, A.data(), A.stride, B.data(), B.stride, 0.0f, C.data(), C.stride);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) ASSERT_EQ(C(i, j), product(i, j));
    gemm(Op::trans, Op::trans, n, n, n, 1.0f, B.data(), B.stride, A.data(), A.stride, 0.0f, C.data(), C.stride);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) ASSERT_EQ(C(i, j), product(j, i));
}

TEST_F(LargeStrides, OfTriangularOperationsAndTheirInverse)
{
    for (const Op op : {Op::none, Op::trans}) {
        trmm(Side::left, Uplo::lower, op, Diag::unit, n, n, 1.0f, A.data(), A.stride, B.data(), B.stride);
        trsm(Side::left, Uplo::lower, op, Diag::unit, n, n, 1.0f, A.data(), A.stride, B.data(), B.stride);
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < n; ++i) ASSERT_EQ(B(i, j), float(i + 10 * j));
    }
}

TEST_F(LargeStrides, OfAFactorization)
{
    // (L + D) (L + D)^T with the factor of OfProducts' A
    Sparse C(n);
    ASSERT_TRUE(C.mapped());
    syrk(Uplo::lower, Op::none, n, n, 1.0f, A.data(), A.stride, 0.0f, C.data(), C.stride);
    ASSERT_EQ(potrf(Uplo::lower, n, C.data(), C.stride), 0);
    for (Index j = 0; j < n; ++j)
        for (Index i = j; i < n; ++i) ASSERT_NEAR(C(i, j), A(i, j), 16 * n * 1.2e-7f * float(n + 1));
}

} // namespace
} // namespace trencadis::blas
