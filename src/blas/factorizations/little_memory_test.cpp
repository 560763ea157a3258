#include "blas/batches/side_by_side.hpp"
#include "blas/factorizations/qr.hpp"
#include "blas/level3/level3.hpp"

#include "base/error.hpp"
#include "blas/level3/control_tree.hpp"
#include "blas/testing/reference.hpp"
#include "matrix/testing/address_space.hpp"

#include <thread>

namespace trencadis::blas {
namespace {

using namespace testing;
using trencadis::testing::can_limit_address_space;
using trencadis::testing::limit_address_space;

template <class T> class LittleMemory : public ::testing::Test {
protected:
    void SetUp() override
    {
        if (!can_limit_address_space) GTEST_SKIP() << "a sanitizer's memory is part of the address space";
    }
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(LittleMemory, Scalars);

/// Results of all routines that pack, one after the other.
template <Scalar T> struct Results {
    static constexpr Index n = 420;
    std::vector<T> A, C, X, Y, L, Q, Z, tau;

    Results() : A(n * n), C(n * n, T(1)), X(n * n, T(1)), Y(n * n, T(1)), L(n * n), Z(n * n, T(1)), tau(n)
    {
        Random random(3);
        for (T& x : A) x = random.number<T>() / Real<T>(n);
        for (Index i = 0; i < n; ++i) A[i * (n + 1)] = T(2);
        L = Q = A;
    }
    void factor() { geqrf<T>(n, n, Q.data(), n, tau.data(), nullptr, 1); }
    void compute()
    {
        factor();
        ormqr(Side::left, Op::conj_trans, n, n, n, Q.data(), n, tau.data(), Z.data(), n);
        const T* const a = A.data();
        gemm(Op::none, Op::trans, n, n, n, T(1), a, n, a, n, T(0.5), C.data(), n);
        trsm(Side::left, Uplo::lower, Op::none, Diag::non_unit, n, n, T(1), a, n, X.data(), n);
        trsm(Side::right, Uplo::upper, Op::trans, Diag::non_unit, n, n, T(1), a, n, X.data(), n);
        trmm(Side::left, Uplo::upper, Op::none, Diag::non_unit, n, n, T(1), a, n, Y.data(), n);
        trmm(Side::right, Uplo::lower, Op::none, Diag::non_unit, n, n, T(1), a, n, Y.data(), n);
        if (potrf(Uplo::lower, n, L.data(), n) != 0) std::exit(2);
    }
};

/// Entries are of order one and sums of at most n of them: rounded in another order they differ by less than n roundings.
template <Scalar T> bool close(const std::vector<T>& a, const std::vector<T>& b)
{
    for (std::size_t i = 0; i < a.size(); ++i)
        if (!(std::abs(Wide<T>(a[i]) - Wide<T>(b[i])) <= 420 * rounding<T> * eps<T> * (1 + std::abs(Wide<T>(a[i])))))
            return false;
    return true;
}

/// Threads of their own, so that neither finds the other's buffers.
template <Scalar T> void compute_with_and_without(std::size_t bytes)
{
    Results<T> free, limited;
    std::thread([&] { free.compute(); }).join();
    std::thread([&] {
        limit_address_space(bytes);
        limited.compute();
    }).join();
    const bool same = close(free.C, limited.C) && close(free.X, limited.X) && close(free.Y, limited.Y) &&
                      close(free.L, limited.L) && close(free.Q, limited.Q) && close(free.Z, limited.Z);
    std::exit(same ? 0 : 1);
}

TYPED_TEST(LittleMemory, IsEnoughForEveryRoutine)
{
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(compute_with_and_without<TypeParam>(1300 << 10), ::testing::ExitedWithCode(0), "");
}

/// What QR's routines make of one matrix, all of them.
template <Scalar T> struct QrFamily {
    static constexpr Index n = 420, k = 300, wide = 24;
    std::vector<T> A, L, Q, P, C[4], tau, lq_tau, F, D;

    explicit QrFamily(const Results<T>& from) : A(from.A), L(A), tau(n), lq_tau(n), F(n * n), D(A)
    {
        for (std::vector<T>& c : C) c = A;
    }
    void compute()
    {
        geqrf<T>(n, n, A.data(), n, tau.data(), nullptr, 1);
        gelqf<T>(n, n, L.data(), n, lq_tau.data());
        Q = A;
        P = L;
    }
    void use()
    {
        ormqr(Side::left, Op::conj_trans, n, n, n, A.data(), n, tau.data(), C[0].data(), n);
        ormqr(Side::right, Op::none, n, n, n, A.data(), n, tau.data(), C[1].data(), n);
        ormlq(Side::left, Op::none, n, n, n, L.data(), n, lq_tau.data(), C[2].data(), n);
        ormlq(Side::right, Op::conj_trans, n, n, n, L.data(), n, lq_tau.data(), C[3].data(), n);
        orgqr(n, n, k, Q.data(), n, tau.data());
        orglq(n, n, k, P.data(), n, lq_tau.data());
        larft(Direction::forward, Storage::columns, n, wide, A.data(), n, tau.data(), F.data(), n);
        larfb(Side::left, Op::none, Direction::forward, Storage::columns, n, n, wide, A.data(), n, F.data(), n, D.data(), n);
    }
    bool close_to(const QrFamily& other) const
    {
        for (int i = 0; i < 4; ++i)
            if (!close(C[i], other.C[i])) return false;
        return close(A, other.A) && close(L, other.L) && close(Q, other.Q) && close(P, other.P) && close(F, other.F) &&
               close(D, other.D) && close(tau, other.tau) && close(lq_tau, other.lq_tau);
    }
};

/// On the main thread, whose heap is part of the limit.
template <Scalar T> void family_within(std::size_t bytes)
{
    const Results<T> from;
    QrFamily<T> free(from), limited(from);
    std::thread([&] {
        free.compute();
        free.use();
    }).join();
    limited.Q.reserve(limited.A.size());
    limited.P.reserve(limited.A.size());
    setup<T>();
    limit_address_space(bytes);
    limited.compute();
    limited.use();
    std::exit(limited.close_to(free) ? 0 : 1);
}

/// None at all; enough for a panel and not for the products, or for some of them.
TYPED_TEST(LittleMemory, IsEnoughForTheWholeFamilyOfQrWhereThereIsNone)
{
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    for (const std::size_t kilobytes : {0, 100, 200, 300, 400, 600, 800, 1200})
        EXPECT_EXIT(family_within<TypeParam>(kilobytes << 10), ::testing::ExitedWithCode(0), "") << kilobytes;
}

/// Columns (or rows) that are one panel where there is memory for it, and several where there is less.
template <Scalar T> void factor_within(Index m, Index n, std::size_t bytes)
{
    Random random(4);
    std::vector<T> A(m * n), tau(std::min(m, n));
    for (T& x : A) x = random.number<T>() / Real<T>(420);
    std::vector<T> free = A, free_tau = tau;
    std::thread([&] { geqrf<T>(m, n, free.data(), m, free_tau.data(), nullptr, 1); }).join();
    setup<T>();
    limit_address_space(bytes);
    geqrf<T>(m, n, A.data(), m, tau.data(), nullptr, 1);
    std::exit(close(free, A) && close(free_tau, tau) ? 0 : 1);
}

TYPED_TEST(LittleMemory, IsEnoughForAPanelThatIsAll)
{
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    for (const std::size_t kilobytes : {0, 200, 280, 360, 440, 520, 600, 700, 900, 1200, 1600, 3000, 3400})
        for (const auto& [m, n] : {std::pair<Index, Index>{2000, 40}, {64, 255}, {888, 40}})
            EXPECT_EXIT(factor_within<TypeParam>(m, n, kilobytes << 10), ::testing::ExitedWithCode(0), "")
                << m << ' ' << kilobytes;
}

template <Scalar T> void factor_batch_without_memory()
{
    constexpr Index n = 64, count = 2;
    std::vector<T> A(n * n * count, T(1));
    std::vector<Index> pivots(n * count), info(count);
    setup<T>(); // hwloc does not survive without memory
    limit_address_space(16 << 10);
    try {
        lu_batch(Batch<T>{count, n, n, A.data(), n, n * n, Uplo::lower, pivots.data(), info.data(), 0, nullptr, 0, 0});
    } catch (const Error& failure) {
        const bool untouched = std::all_of(A.begin(), A.end(), [](const T& x) { return x == T(1); });
        std::exit(failure.code() == ErrorCode::out_of_memory && untouched ? 0 : 1);
    }
    std::exit(2);
}

TYPED_TEST(LittleMemory, IsToldByABatchThatFindsNoRoomForItsLanes)
{
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(factor_batch_without_memory<TypeParam>(), ::testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace trencadis::blas
