#include "algorithms/blocked_qr.hpp"

#include "algorithms/testing/waves.hpp"
#include "blas/testing/reflectors.hpp"
#include "kernels/testing/in_order.hpp"

namespace trencadis {
namespace {

using namespace blas::testing;
using ::trencadis::testing::InOrder;

template <class T> class BlockedQr : public ::testing::Test {
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(BlockedQr, Scalars);

template <Scalar T> MatrixView<T> view(Stored<T>& A) { return {A.data.data(), A.rows, A.cols, A.ld}; }

/// Submits to a flow whose malleable tasks give out one chunk at a time, as to many cores.
template <class Submit> void in_chunks(const Submit& submit)
{
    InOrder executor(&load_kernels("native"), 1);
    TaskFlow flow(executor);
    submit(flow);
    flow.wait();
}

/// Large enough for several chunks of rows in packing and of columns in updates.
TYPED_TEST(BlockedQr, FactorsAppliesAndFormsWhereEveryTaskIsShared)
{
    using T = TypeParam;
    Random random(41);
    const Index m = 300, n = 190, nb = 40, k = n;
    for (const Storage storage : {Storage::columns, Storage::rows}) {
        const bool columns = storage == Storage::columns;
        const auto before = random_matrix<T>(random, m, n);
        auto A = columns ? before : adjoint(before);
        const ReflectorSlots<T> slots(m, nb);
        std::vector<T> tau(std::size_t(k), T(7));
        in_chunks([&](Flow& flow) { factor_blocked(flow, storage, view(A), nb, tau.data(), slots); });
        auto seen = columns ? A : adjoint(A);
        for (Index j = 0; j < n; ++j)
            for (Index i = m; i < seen.ld; ++i) seen(i, j) = before.ld == seen.ld ? before(i, j) : seen(i, j);
        Stored<T> same = seen;
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < m; ++i) same(i, j) = before(i, j);
        expect_qr(same, seen, tau, columns ? "columns" : "rows");
        if (this->HasFatalFailure()) return;
        for (const Side side : {Side::left, Side::right})
            for (const Op op : {Op::none, Op::conj_trans}) {
                const auto C = side == Side::left ? random_matrix<T>(random, m, 80) : random_matrix<T>(random, 80, m);
                auto found = C, wanted = C;
                in_chunks([&](Flow& flow) {
                    apply_blocked(flow, storage, {side, op}, k, view(A), nb, tau.data(), view(found), 70, slots);
                });
                (columns ? blas::ormqr<T> : blas::ormlq<T>)(side, op, C.rows, C.cols, k, A.data.data(), A.ld, tau.data(),
                                                            wanted.data.data(), wanted.ld);
                ASSERT_LE(distance<T>(exact(found), exact(wanted)), rounding<T> * 8 * m * eps<T> * frobenius<T>(exact(C)));
            }
        auto Q = A, wanted = A;
        in_chunks([&](Flow& flow) { form_blocked(flow, storage, k, view(Q), nb, tau.data(), slots); });
        if (columns) blas::orgqr(m, n, k, wanted.data.data(), wanted.ld, tau.data());
        else blas::orglq(n, m, k, wanted.data.data(), wanted.ld, tau.data());
        ASSERT_LE(distance<T>(exact(Q), exact(wanted)), rounding<T> * 8 * m * eps<T> * std::sqrt((long double)n));
    }
}

/// Blocks are as narrow as the matrix is low; what lies beside them is cut by what a task costs.
TEST(LowBlockedQr, IsFewTasks)
{
    std::vector<double> A(100'000), tau(4);
    for (const Index rows : {1, 2, 4}) {
        const Index cols = Index(A.size()) / rows;
        const ReflectorSlots<double> slots(rows, rows);
        testing::Waves waves;
        TaskFlow flow(waves, testing::whole_graph);
        factor_blocked(flow, Storage::columns, MatrixView<double>{A.data(), rows, cols, rows}, rows, tau.data(), slots);
        flow.wait();
        EXPECT_LT(waves.count(), 20) << rows << " x " << cols;
    }
}

/// A panel whose squares cannot be trusted goes LAPACK's way among others that can.
TYPED_TEST(BlockedQr, FactorsMatricesWithPanelsNearTheEndsOfTheNumbers)
{
    using T = TypeParam;
    using R = Real<T>;
    Random random(42);
    const Index m = 90, n = 64, nb = 16;
    auto A = random_matrix<T>(random, m, n);
    for (Index i = 0; i < m; ++i)
        for (Index j = 16; j < 32; ++j) A(i, j) *= std::numeric_limits<R>::max() / 1e6F;
    for (Index i = 0; i < m; ++i) A(i, 40) = A(i, 50) = T(0);
    const auto before = A;
    std::vector<T> tau(static_cast<std::size_t>(n));
    const ReflectorSlots<T> slots(m, nb);
    in_chunks([&](Flow& flow) { factor_blocked(flow, Storage::columns, view(A), nb, tau.data(), slots); });
    expect_qr(before, A, tau, "panels of all sizes");
}

} // namespace
} // namespace trencadis
