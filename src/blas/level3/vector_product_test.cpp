#include "blas/level3/vector_product.hpp"

#include "blas/level3/vector_solve.hpp"
#include "blas/testing/reference.hpp"
#include "graph/testing/both_ends.hpp"

namespace trencadis::blas {
namespace {

using namespace testing;

template <class T> class VectorProducts : public ::testing::Test {
protected:
    Random random{5};

    /// |C - alpha op(A) B - beta before| <= (n + 5) eps (...), element by element, A on the side; nothing else is written.
    void expect_product(Side side, const Exact<T>& A, const Stored<T>& B, T alpha, T beta, const Stored<T>& before,
                        const Stored<T>& C, Index order)
    {
        Sum<T> sum(C.rows, C.cols);
        const Exact<T> vectors = expand(B, Structure::general);
        if (side == Side::left) sum.add(alpha, A, vectors);
        else sum.add(alpha, vectors, A);
        for (Index j = 0; j < C.cols; ++j)
            for (Index i = 0; i < C.rows; ++i) {
                const Wide<T> added = beta == T(0) ? Wide<T>(0) : Wide<T>(beta) * Wide<T>(before(i, j));
                const long double bound =
                    rounding<T> * (order + 5) * eps<T> * (sum.magnitude[std::size_t(i + j * C.rows)] + std::abs(added));
                ASSERT_LE(std::abs(Wide<T>(C(i, j)) - sum.value(i, j) - added), bound) << i << ", " << j << " of " << order;
            }
        for (Index j = 0; j < C.cols; ++j)
            for (Index i = C.rows; i < C.ld && j + 1 < C.cols; ++i)
                ASSERT_EQ(std::memcmp(&before.data[std::size_t(i + j * C.ld)], &C.data[std::size_t(i + j * C.ld)], sizeof(T)), 0)
                    << "touched between the columns";
    }
    Stored<T> vectors(Side side, Index order, Index count)
    {
        return side == Side::left ? random_matrix<T>(random, order, count) : random_matrix<T>(random, count, order);
    }
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(VectorProducts, Scalars);

TYPED_TEST(VectorProducts, OfATriangleReadItAlone)
{
    using T = TypeParam;
    for_all_setups([&](const std::string&) {
        for (const Side side : {Side::left, Side::right})
            for (const Uplo uplo : {Uplo::lower, Uplo::upper})
                for (const Op op : {Op::none, Op::trans, Op::conj_trans})
                    for (const Diag diag : {Diag::unit, Diag::non_unit})
                        for (const Index n : {1, 7, 8, 33, 100, 140}) {
                            const Stored<T> A = random_triangle<T>(this->random, uplo, n, diag); // NaN in the rest
                            const Stored<T> B = this->vectors(side, n, 1 + n % 2);
                            Stored<T> C = B;
                            const T alpha = this->random.template number<T>();
                            ASSERT_TRUE(multiply_vectors(side, uplo, op, diag, B.rows, B.cols, alpha, A.data.data(), A.ld,
                                                         C.data.data(), C.ld));
                            this->expect_product(side, transformed(op, expand(A, Structure::triangular, uplo, diag)), B, alpha,
                                                 T(0), B, C, n);
                        }
    });
}

TYPED_TEST(VectorProducts, OfASymmetricMatrixReadOneTriangle)
{
    using T = TypeParam;
    for_all_setups([&](const std::string&) {
        for (const Side side : {Side::left, Side::right})
            for (const Uplo uplo : {Uplo::lower, Uplo::upper})
                for (const bool hermitian : {false, is_complex<T>})
                    for (const T beta : {T(0), T(1), T(-0.5)})
                        for (const Index n : {1, 8, 33, 170}) {
                            Stored<T> A = random_triangle<T>(this->random, uplo, n, Diag::non_unit);
                            const Stored<T> B = this->vectors(side, n, 1 + n % 2);
                            const Stored<T> before = this->vectors(side, n, 1 + n % 2);
                            Stored<T> C = before;
                            if (beta == T(0)) std::fill(C.data.begin(), C.data.end(), T(std::nan("")));
                            const Stored<T> with_padding = C;
                            const T alpha = this->random.template number<T>();
                            ASSERT_TRUE(multiply_vectors(side, uplo, hermitian, B.rows, B.cols, alpha, A.data.data(), A.ld,
                                                         B.data.data(), B.ld, beta, C.data.data(), C.ld));
                            const auto whole = expand(A, hermitian ? Structure::hermitian : Structure::symmetric, uplo);
                            this->expect_product(side, whole, B, alpha, beta, with_padding, C, n);
                        }
    });
}

/// So large that there are parts: with helpers, who may not be there, the bits are the same.
TYPED_TEST(VectorProducts, ByPartsHaveTheSameBitsWithHelpers)
{
    using T = TypeParam;
    const Index n = 2100 / Index(std::sqrt(sizeof(T))) + 9;
    for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
        const Stored<T> A = random_triangle<T>(this->random, uplo, n, Diag::non_unit);
        const Stored<T> B = random_matrix<T>(this->random, n, 1);
        int asked = 0;
        const auto share = [&](Index chunks, Flops, const std::function<void(Team&)>& work) {
            EXPECT_GE(chunks, 2);
            if (++asked % 2 == 0) return false; // nobody has time for it
            trencadis::testing::work_from_both_ends(chunks, work);
            return true;
        };
        const Helpers helpers{2, share};
        const auto same = [&](const auto& multiply) {
            Stored<T> alone = B, once = B, again = B;
            multiply(alone, Helpers{});
            multiply(once, helpers);
            multiply(again, helpers);
            EXPECT_EQ(std::memcmp(alone.data.data(), once.data.data(), once.data.size() * sizeof(T)), 0) << char(uplo);
            EXPECT_EQ(std::memcmp(alone.data.data(), again.data.data(), again.data.size() * sizeof(T)), 0) << char(uplo);
            return alone;
        };
        for (const Op op : {Op::none, Op::trans}) {
            const Stored<T> C = same([&](Stored<T>& X, const Helpers& with) {
                multiply_vectors(Side::left, uplo, op, Diag::non_unit, n, 1, T(1), A.data.data(), A.ld, X.data.data(), X.ld,
                                 with);
            });
            this->expect_product(Side::left, transformed(op, expand(A, Structure::triangular, uplo)), B, T(1), T(0), B, C, n);
        }
        const Stored<T> C = same([&](Stored<T>& X, const Helpers& with) {
            multiply_vectors(Side::left, uplo, false, n, 1, T(1), A.data.data(), A.ld, B.data.data(), B.ld, T(0), X.data.data(),
                             X.ld, with);
        });
        this->expect_product(Side::left, expand(A, Structure::symmetric, uplo), B, T(1), T(0), B, C, n);
        EXPECT_EQ(asked, 6);
    }
}

TYPED_TEST(VectorProducts, RowsBesideATriangleAreSolvedForOneByOne)
{
    using T = TypeParam;
    const Index n = 70;
    for (const Uplo uplo : {Uplo::lower, Uplo::upper})
        for (const Op op : {Op::none, Op::trans, Op::conj_trans}) {
            Stored<T> A = random_triangle<T>(this->random, uplo, n, Diag::non_unit);
            for (Index i = 0; i < n; ++i) A(i, i) += T(Real<T>(n));
            const Stored<T> B = random_matrix<T>(this->random, 2, n);
            Stored<T> X = B;
            const T alpha = this->random.template number<T>();
            ASSERT_TRUE(solve_rows(uplo, op, Diag::non_unit, 2, n, alpha, A.data.data(), A.ld, X.data.data(), X.ld));
            Sum<T> product(2, n);
            product.add(T(1), expand(X, Structure::general), transformed(op, expand(A, Structure::triangular, uplo)));
            for (Index j = 0; j < n; ++j)
                for (Index i = 0; i < 2; ++i)
                    ASSERT_LE(std::abs(product.value(i, j) - Wide<T>(alpha) * Wide<T>(B(i, j))),
                              rounding<T> * (n + 5) * eps<T> * product.magnitude[std::size_t(i + j * 2)]);
        }
}

} // namespace
} // namespace trencadis::blas
