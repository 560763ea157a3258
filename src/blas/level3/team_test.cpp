#include "blas/level3/level3.hpp"
#include "blas/level3/past_triangle.hpp"
#include "blas/level3/team_product.hpp"
#include "blas/level3/team_triangle.hpp"
#include "blas/testing/reference.hpp"

#include <chrono>
#include <cstring>
#include <thread>

namespace trencadis::blas {
namespace {

using namespace testing;
using namespace std::chrono_literals;

/// A member's pauses between its chunks.
class Delays final : public Pace {
public:
    explicit Delays(unsigned seed) : random_(seed) {}
    void between_chunks() override
    {
        if (random_.below(3) == 0) std::this_thread::sleep_for(std::chrono::microseconds(random_.below(300)));
    }

private:
    Random random_;
};

/// Stays away after its first chunk until everybody else has gone.
class Absent final : public Pace {
public:
    explicit Absent(std::atomic<int>& others) : others_(others) {}
    void between_chunks() override
    {
        while (others_.load() > 0) std::this_thread::sleep_for(100us);
    }

private:
    std::atomic<int>& others_;
};

/// Three members that join late, are delayed and leave, and one that is gone as long as the others are there.
template <class Work> void run_as_team(Index chunks, unsigned seed, const Work& work)
{
    SharedWork shared(chunks, 1);
    std::atomic<int> others{3};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&, i] {
            std::this_thread::sleep_for(std::chrono::microseconds((seed + unsigned(i)) % 3 * 100));
            Delays pace(seed + unsigned(i));
            Team team(shared, &pace);
            work(team, i);
            others.fetch_sub(1);
        });
    threads.emplace_back([&] {
        Absent pace(others);
        Team team(shared, &pace);
        work(team, 3);
    });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(shared.remaining(), 0);
}

template <Scalar T> Setup<T> setup_with(const InstructionSet& set, const BlockSizes& blocks)
{
    const MicroKernel<T>& kernel = set.micro_kernel<T>();
    const auto whole = [](Index value, Index unit) { return std::max(unit, value / unit * unit); };
    return {kernel, control_tree(kernel, {blocks.kc, whole(blocks.mc, kernel.mr), whole(blocks.nc, kernel.nr)})};
}

/// Tiny blocks give many stages, and depths beyond what the slots hold.
constexpr BlockSizes team_blocks[] = {{8, 1, 1}, {16, 60, 40}, {64, 96, 512}};

template <class T> class Teams : public ::testing::Test {
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Teams, Scalars);

TYPED_TEST(Teams, MultiplyAsOneCoreWould)
{
    using T = TypeParam;
    Random random(31);
    unsigned seed = 0;
    for (const BlockSizes& blocks : team_blocks)
        for (const Part part : {Part::all, Part::lower, Part::upper}) {
            const Index m = random.between(90, 170), n = part == Part::all ? random.between(90, 170) : m,
                        k = random.between(0, 60);
            const Op op = random.below(2) ? Op::none : Op::trans; // in place, or packed together
            const auto A = random_matrix<T>(random, m, k),
                       B = op == Op::none ? random_matrix<T>(random, k, n) : random_matrix<T>(random, n, k);
            auto C = random_matrix<T>(random, m, n);
            const auto before = C;
            const T alpha = random.number<T>(), beta = random.factor<T>();
            Sum<T> sum(m, n);
            sum.add(alpha, expand(A, Structure::general), transformed(op, expand(B, Structure::general)));
            sum.add(beta, expand(C, Structure::general));
            TeamProduct<T> product({m, n, k, alpha, general(A.data.data(), A.ld), general(B.data.data(), B.ld, op), beta,
                                    C.data.data(), 1, C.ld, part},
                                   setup_with<T>(instruction_set(), blocks));
            if (2 * k >= blocks.kc) EXPECT_EQ(product.needs_no_other(), op == Op::none);
            run_as_team(product.chunks(), ++seed, [&](Team& team, int cpu) { product.work(team, cpu); });
            const auto inside = [&](Index i, Index j) { return part == Part::all || (part == Part::lower ? i >= j : i <= j); };
            expect_result<T>(C, before, sum, inside, "kc " + std::to_string(blocks.kc) + " part " + std::to_string(int(part)));
            if (this->HasFatalFailure()) return;
        }
}

TYPED_TEST(Teams, OfWhomEachPacksForItselfOrNobodyDoesGiveTheSameBits)
{
    using T = TypeParam;
    Random random(35);
    unsigned seed = 50;
    const Setup<T> with = setup_with<T>(instruction_set(), {64, 1024, 2048});
    for (const Part part : {Part::all, Part::lower, Part::upper}) {
        const Index m = random.between(160, 200), n = part == Part::all ? random.between(90, 170) : m,
                    k = random.between(140, 180);
        const auto A = random_matrix<T>(random, m, k), B = random_matrix<T>(random, n, k); // by rows: it has to be packed
        auto columns = random_matrix<T>(random, k, n);
        for (Index j = 0; j < n; ++j)
            for (Index p = 0; p < k; ++p) columns(p, j) = B(j, p);
        auto together = random_matrix<T>(random, m, n), each = together, in_place = together;
        const T alpha = random.number<T>(), beta = random.factor<T>();
        const auto product = [&](Stored<T>& C, int members) {
            return TeamProduct<T>({m, n, k, alpha, general(A.data.data(), A.ld), general(B.data.data(), B.ld, Op::trans), beta,
                                   C.data.data(), 1, C.ld, part},
                                  with, false, members);
        };
        TeamProduct<T> common = product(together, 0), own = product(each, 4);
        EXPECT_FALSE(common.needs_no_other());
        EXPECT_FALSE(product(each, 6).needs_no_other()) << "few rows for each of six";
        EXPECT_TRUE(own.needs_no_other());
        run_as_team(common.chunks(), ++seed, [&](Team& team, int cpu) { common.work(team, cpu); });
        run_as_team(own.chunks(), ++seed, [&](Team& team, int cpu) { own.work(team, cpu); });
        TeamProduct<T> lying({m, n, k, alpha, general(A.data.data(), A.ld), general(columns.data.data(), columns.ld), beta,
                              in_place.data.data(), 1, in_place.ld, part},
                             with);
        run_as_team(lying.chunks(), ++seed, [&](Team& team, int cpu) { lying.work(team, cpu); });
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < m; ++i) {
                ASSERT_EQ(std::memcmp(&together(i, j), &each(i, j), sizeof(T)), 0) << i << ' ' << j;
                ASSERT_EQ(std::memcmp(&together(i, j), &in_place(i, j), sizeof(T)), 0) << i << ' ' << j;
            }
    }
}

TYPED_TEST(Teams, LeaveARealDiagonalInAHermitianUpdate)
{
    using T = TypeParam;
    Random random(32);
    const Index n = 140, k = 30;
    const auto A = random_matrix<T>(random, n, k);
    auto C = random_triangle<T>(random, Uplo::lower, n);
    const auto before = C;
    Sum<T> sum(n, n);
    const auto left = expand(A, Structure::general);
    sum.add(T(-1), left, transformed(herm_op<T>, left));
    sum.add(T(1), expand(C, Structure::hermitian, Uplo::lower));
    const Operand<T> operand = general(A.data.data(), A.ld);
    TeamProduct<T> product({n, n, k, T(-1), operand, operand.transposed().conjugate(), T(1), C.data.data(), 1, C.ld, Part::lower},
                           setup_with<T>(instruction_set(), {16, 60, 40}), true);
    run_as_team(product.chunks(), 1, [&](Team& team, int) { product.work(team); });
    expect_result<T>(
        C, before, sum, [](Index i, Index j) { return i >= j; }, "herk");
    for (Index j = 0; j < n; ++j) ASSERT_EQ(std::imag(C(j, j)), 0);
}

TYPED_TEST(Teams, SolveAsOneCoreWould)
{
    using T = TypeParam;
    Random random(33);
    unsigned seed = 100;
    for (const BlockSizes& blocks : team_blocks)
        for (const Side side : {Side::left, Side::right}) {
            const Index m = random.between(60, 150), n = random.between(60, 150), order = side == Side::left ? m : n;
            const Uplo uplo = random.uplo();
            const Op op = random.op();
            auto A = random_triangle<T>(random, uplo, order);
            for (T& x : A.data) x *= T(Real<T>(1) / Real<T>(order));
            for (Index j = 0; j < order; ++j) A(j, j) += T(1);
            auto B = random_matrix<T>(random, m, n);
            const auto before = B;
            const T alpha = random.number<T>();
            TeamTriangle<T> solve(
                WithTriangle::solve, right_upper(side, uplo, op, Diag::non_unit, m, n, A.data.data(), A.ld, B.data.data(), B.ld),
                alpha, setup_with<T>(instruction_set(), blocks), double(random.below(3)) * 50); // near, near, far
            run_as_team(solve.chunks(), ++seed, [&](Team& team, int) { solve.work(team); });
            Sum<T> product(m, n);
            const auto triangle = transformed(op, expand(A, Structure::triangular, uplo)), X = expand(B, Structure::general);
            if (side == Side::left) product.add(T(1), triangle, X);
            else product.add(T(1), X, triangle);
            for (Index j = 0; j < n; ++j)
                for (Index i = 0; i < m; ++i) {
                    const long double error = std::abs(product.value(i, j) - Wide<T>(alpha) * Wide<T>(before(i, j)));
                    const auto at = std::size_t(i + j * m);
                    ASSERT_LE(error, rounding<T> * (order + 4) * eps<T> * product.magnitude[at]) << i << ' ' << j;
                }
        }
}

/// Products have the bits of `trmm`, on the processors that carry rows past all of a triangle.
TYPED_TEST(Teams, MultiplyByATriangleAsOneCoreDoes)
{
    using T = TypeParam;
    Random random(34);
    unsigned seed = 200;
    for (const BlockSizes& blocks : team_blocks)
        for (const Side side : {Side::left, Side::right}) {
            const Index m = random.between(60, 150), n = random.between(60, 150), order = side == Side::left ? m : n,
                        others = side == Side::left ? n : m;
            if (!goes_past_factor(setup<T>(0).kernel, side, order, others)) continue;
            const Uplo uplo = random.uplo();
            const Op op = random.op();
            const auto A = random_triangle<T>(random, uplo, order);
            auto alone = random_matrix<T>(random, m, n), together = alone;
            for (const T alpha : {random.number<T>(), T(0)}) {
                trmm(side, uplo, op, Diag::non_unit, m, n, alpha, A.data.data(), A.ld, alone.data.data(), alone.ld);
                const auto x =
                    right_upper(side, uplo, op, Diag::non_unit, m, n, A.data.data(), A.ld, together.data.data(), together.ld);
                TeamTriangle<T> product(WithTriangle::multiply, x, alpha, setup_with<T>(instruction_set(), blocks),
                                        double(random.below(3)) * 50, 1 + int(random.below(8)));
                run_as_team(product.chunks(), ++seed, [&](Team& team, int) { product.work(team); });
                for (Index j = 0; j < n; ++j)
                    for (Index i = 0; i < m; ++i) ASSERT_EQ(alone(i, j), together(i, j)) << i << ' ' << j;
            }
        }
}

/// So short a one that real numbers need no image of X.
TYPED_TEST(Teams, GoPastAShortTriangleAsOneCoreDoes)
{
    using T = TypeParam;
    Random random(35);
    unsigned seed = 300;
    for (const auto what : {WithTriangle::solve, WithTriangle::multiply})
        for (const Index order : {5, 17, 40}) {
            const Index rows = random.between(100, 200);
            if (what == WithTriangle::multiply && !goes_past_factor(setup<T>(0).kernel, Side::right, order, rows)) continue;
            const Uplo uplo = random.uplo();
            const Op op = random.op();
            const T alpha = random.number<T>();
            const auto A = random_triangle<T>(random, uplo, order);
            auto alone = random_matrix<T>(random, rows, order), together = alone;
            const auto compute = what == WithTriangle::solve ? trsm<T> : trmm<T>;
            compute(Side::right, uplo, op, Diag::unit, rows, order, alpha, A.data.data(), A.ld, alone.data.data(), alone.ld);
            TeamTriangle<T> shared(what,
                                   right_upper(Side::right, uplo, op, Diag::unit, rows, order, A.data.data(), A.ld,
                                               together.data.data(), together.ld),
                                   alpha, setup<T>(0));
            run_as_team(shared.chunks(), ++seed, [&](Team& team, int) { shared.work(team); });
            for (Index j = 0; j < order; ++j)
                for (Index i = 0; i < rows; ++i) ASSERT_EQ(alone(i, j), together(i, j)) << order << ' ' << i << ' ' << j;
        }
}

} // namespace
} // namespace trencadis::blas
