#include "algorithms/geqrf.hpp"

#include "algorithms/forms/tile_qr.hpp"
#include "base/error.hpp"
#include "base/sanitized.hpp"
#include "kernels/testing/in_order.hpp"
#include "kernels/testing/qr.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

namespace trencadis {
namespace {

using namespace testing;
constexpr Index nb = 4;
constexpr const char* forms[] = {"flat", "plasma", "binary", "greedy", "fibonacci"};

template <class T> class TileQrForms : public ::testing::Test {
protected:
    void SetUp() override
    {
        if (providers().empty()) GTEST_SKIP() << "no kernel library on this machine";
    }
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(TileQrForms, Scalars);

/// A factored matrix; tasks in order, chunks of malleable ones one at a time.
template <Scalar T> struct Factored {
    const KernelProvider& kernels;
    Dense<T> F;
    Index tile;
    QrFactors<T> by;

    Factored(const KernelProvider& with, const char* form, const Dense<T>& A, Index size, Index ib)
        : kernels(with), F(A), tile(size), by(tile_qr_form(form), A.rows, A.cols, size, ib)
    {
        run([&](Flow& flow) { geqrf(flow, tiles(), by); });
    }
    TileMatrix<T> tiles() { return {F.view(), tile, tile}; }
    Dense<T> applied(Op op, Dense<T> C, Index width = 3)
    {
        run([&](Flow& flow) { apply_q(flow, op, tiles(), by, TileMatrix<T>(C.view(), tile, width)); });
        return C;
    }

private:
    template <class Submit> void run(const Submit& submit)
    {
        InOrder executor(&kernels, 1);
        TaskFlow flow(executor);
        submit(flow);
        flow.wait();
    }
};

/// Q of order m is orthogonal, Q R = A, and Q^H undoes Q.
template <Scalar T> void expect_tile_qr(const Dense<T>& A, Factored<T>& factored, const std::string& where)
{
    const Dense<T> Q = factored.applied(Op::none, identity_matrix<T>(A.rows, A.rows));
    expect_orthonormal(Q, where);
    expect_qr_product(A, Q, factored.F, where);
    const Dense<T> back = factored.applied(herm_op<T>, Q);
    for (Index j = 0; j < A.rows; ++j)
        for (Index i = 0; i < A.rows; ++i)
            ASSERT_LE(std::abs(back(i, j) - T(i == j ? 1 : 0)), limit_of_ratios * double(A.rows) * eps<T>) << where;
    expect_untouched(A, factored.F, [](Index, Index) { return true; });
}

constexpr Index orders[] = {0, 1, nb - 1, nb, nb + 1, 2 * nb, 3 * nb + 2, 23};
std::vector<Index> heights(Index n) { return {n, n + 1, 3 * n + 1, 5 * n, n / 2, std::max<Index>(n - 1, 0), 30}; }

/// All of them; in a sanitizer's build the next one in turn, since each goes through the same kernels.
std::vector<const char*> forms_of_case(int& turn)
{
    if (sanitized) return {forms[std::size_t(turn++) % std::size(forms)]};
    return {std::begin(forms), std::end(forms)};
}

TYPED_TEST(TileQrForms, FactorMatricesOfEveryShape)
{
    using T = TypeParam;
    int turn = 0;
    for (const Index n : orders)
        for (const Index m : heights(n))
            for (const char* form : forms_of_case(turn)) {
                const Dense<T> A = random_matrix<T>(m, n);
                Factored<T> factored(load_kernels("native"), form, A, nb, 2);
                expect_tile_qr(A, factored, std::string(form) + " " + std::to_string(m) + " x " + std::to_string(n));
                if (this->HasFatalFailure()) return;
            }
}
TYPED_TEST(TileQrForms, FactorWithEveryTileAndInnerBlockAndProvider)
{
    using T = TypeParam;
    int turn = 0;
    for (const KernelProvider* kernels : providers())
        for (const Index tile : {1, 3, 10, 40})
            for (const Index ib : std::set<Index>{1, std::min<Index>(2, tile), std::min<Index>(3, tile), tile})
                for (const char* form : forms_of_case(turn)) {
                    const Dense<T> A = random_matrix<T>(37, 14);
                    Factored<T> factored(*kernels, form, A, tile, ib);
                    expect_tile_qr(A, factored,
                                   std::string(form) + " tiles of " + std::to_string(tile) + " blocks of " + std::to_string(ib));
                    if (this->HasFatalFailure()) return;
                }
}
/// Shared by several cores, a chunk at a time.
TYPED_TEST(TileQrForms, CutLargeTilesIntoChunks)
{
    using T = TypeParam;
    for (const char* form : forms) {
        const Dense<T> A = random_matrix<T>(250, 200);
        Factored<T> factored(load_kernels("native"), form, A, 90, 32);
        const Dense<T> Q = factored.applied(Op::none, identity_matrix<T>(250, 200), 70);
        expect_orthonormal(Q, form);
        expect_qr_product(A, Q, factored.F, form);
    }
}
TYPED_TEST(TileQrForms, FactorIllConditionedAndDeficientMatrices)
{
    using T = TypeParam;
    for (const char* form : forms) {
        Dense<T> A = ill_conditioned_matrix<T>(33, 14, sizeof(Real<T>) == 8 ? Real<T>(1e15) : Real<T>(1e6));
        Factored<T> ill(load_kernels("native"), form, A, nb, 3);
        expect_tile_qr(A, ill, std::string(form) + " ill-conditioned");
        for (Index i = 0; i < A.rows; ++i) A(i, 0) = A(i, 5) = T(0), A(i, 9) = A(i, 8), A(i, 13) = A(i, 2) + A(i, 3);
        Factored<T> deficient(load_kernels("native"), form, A, nb, 3);
        expect_tile_qr(A, deficient, std::string(form) + " deficient");
    }
}
TYPED_TEST(TileQrForms, FactorVeryLargeAndVerySmallNumbers)
{
    using T = TypeParam;
    for (const char* form : forms)
        for (const Real<T> scale : {std::numeric_limits<Real<T>>::max() / 1000, std::numeric_limits<Real<T>>::min() * 1000}) {
            Dense<T> A = random_matrix<T>(30, 10);
            for (Index j = 0; j < 10; ++j)
                for (Index i = 0; i < 30; ++i) A(i, j) *= scale;
            Factored<T> factored(load_kernels("native"), form, A, nb, 2);
            expect_tile_qr(A, factored, std::string(form) + " scaled");
        }
}
/// In every place of a small matrix: the flow ends, and R shows it.
TYPED_TEST(TileQrForms, CarryNoNumbersOn)
{
    using T = TypeParam;
    using Limits = std::numeric_limits<Real<T>>;
    constexpr Index m = 9, n = 6;
    for (const char* form : forms)
        for (const Real<T> bad : {Limits::quiet_NaN(), Limits::infinity()})
            for (Index place = 0; place < m * n; ++place) {
                Dense<T> A = random_matrix<T>(m, n);
                const Index column = place / m;
                A(place % m, column) = T(bad);
                const Factored<T> factored(load_kernels("native"), form, A, 3, 2);
                bool finite = true;
                for (Index j = column; j < n; ++j)
                    for (Index i = 0; i <= j; ++i) finite = finite && std::isfinite(std::abs(factored.F(i, j)));
                EXPECT_FALSE(finite) << form << " place " << place;
            }
}

TEST(TileQrForm, NamesWhatIsNear)
{
    try {
        tile_qr_form("gredy");
        FAIL() << "not refused";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_argument);
        EXPECT_THAT(error.what(), ::testing::HasSubstr("greedy"));
    }
}

} // namespace
} // namespace trencadis
