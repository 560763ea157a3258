// Algorithms on an engine that shares nothing with ours but the faces: dependences, a region around the body, a second memory.
#include "toy_engine.hpp"

#include "algorithms/geqrf.hpp"
#include "algorithms/incremental_lu.hpp"
#include "algorithms/potrf.hpp"
#include "graph/immediate_flow.hpp"
#include "kernels/providers/provider.hpp"
#include "kernels/testing/reference.hpp"
#include "scheduling/scheduler.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace trencadis {
namespace {

using namespace testing;

constexpr Index nb = 16, ib = 4;
constexpr Index sizes[] = {0, 1, nb - 1, nb, nb + 1, 5 * nb + 3};

template <class T> class OnTheToyEngine : public ::testing::Test {
protected:
    const KernelProvider& kernels_ = load_kernels("native");
    EngineParts parts_{std::vector<WorkerPlace>(4), parse_scheduler("eager"), nullptr, 2e10, &kernels_};
    ToyEngine engine_{parts_};
    Bytes copied_ = 0; ///< every second unit has a memory of its own

    /// Runs in the order of submission and on the engine, each on a copy of A, and compares all of both, gaps between columns
    /// included.
    /// `submit(flow, copy, which)`: which of the two runs it is.
    template <class Submit> void compare(const Dense<T>& A, const Submit& submit)
    {
        Dense<T> expected = A, computed = A;
        ImmediateFlow in_order(&kernels_);
        submit(in_order, expected, 0);
        const Index outcome = engine_.run({}, [&](Flow& flow) { submit(flow, computed, 1); });
        EXPECT_EQ(outcome, in_order.outcome().value());
        ASSERT_EQ(expected.data.size(), computed.data.size());
        EXPECT_EQ(std::memcmp(expected.data.data(), computed.data.data(), expected.data.size() * sizeof(T)), 0)
            << A.rows << " x " << A.cols << ", ld " << A.ld;
        copied_ += engine_.copied;
    }
    /// Once, and again while no unit with a memory of its own has come to take a task: on a busy machine the others are quicker.
    bool goes_on(int round) const { return round == 0 || (copied_ == 0 && round < 1000); }
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(OnTheToyEngine, Scalars);

TYPED_TEST(OnTheToyEngine, CholeskyIsWhatItIsInOrder)
{
    using T = TypeParam;
    for (int round = 0; this->goes_on(round); ++round)
        for (const Index n : sizes) {
            const auto A = random_triangle<T>(Uplo::lower, n, Real<T>(2 * n + 2));
            this->compare(A, [&](Flow& flow, Dense<T>& copy, int) { potrf(flow, TileMatrix<T>(copy.view(), nb, nb)); });
        }
    EXPECT_GT(this->copied_, 0);
}

TYPED_TEST(OnTheToyEngine, CholeskyFindsTheFirstBadPivot)
{
    using T = TypeParam;
    const Index n = 5 * nb + 3;
    Dense<T> A = random_triangle<T>(Uplo::lower, n, Real<T>(2 * n + 2));
    A(2 * nb + 1, 2 * nb + 1) = A(4 * nb, 4 * nb) = T(-1);
    const auto factor = [&](Flow& flow) { potrf(flow, TileMatrix<T>(A.view(), nb, nb)); };
    EXPECT_EQ(this->engine_.run({}, factor), 2 * nb + 2);
}

TYPED_TEST(OnTheToyEngine, IncrementalLuIsWhatItIsInOrder)
{
    using T = TypeParam;
    for (int round = 0; this->goes_on(round); ++round)
        for (const Index n : sizes) {
            const Eliminations<T> by[] = {{n, n, nb, ib}, {n, n, nb, ib}};
            this->compare(random_matrix<T>(n, n), [&](Flow& flow, Dense<T>& A, int which) {
                getrf_incremental(flow, TileMatrix<T>(A.view(), nb, nb), by[which]);
            });
        }
    EXPECT_GT(this->copied_, 0);
}

TYPED_TEST(OnTheToyEngine, FlatTileQrIsWhatItIsInOrder)
{
    using T = TypeParam;
    for (int round = 0; this->goes_on(round); ++round)
        for (const Index n : sizes) {
            const Index m = n + nb + 1;
            const QrFactors<T> by[] = {{TileQrForm::flat, m, n, nb, ib}, {TileQrForm::flat, m, n, nb, ib}};
            this->compare(random_matrix<T>(m, n),
                          [&](Flow& flow, Dense<T>& A, int which) { geqrf(flow, TileMatrix<T>(A.view(), nb, nb), by[which]); });
        }
    EXPECT_GT(this->copied_, 0);
}

} // namespace
} // namespace trencadis
