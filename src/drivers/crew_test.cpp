#include "drivers/linear_algebra.hpp"

#include "base/error.hpp"
#include "choices/plan.hpp"
#include "drivers/planned_crew.hpp"
#include "drivers/testing/small_crew.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trencadis {
namespace {

using testing::SmallCrew;
using Outlook = Crew::Outlook;

std::vector<double> random_numbers(Index count)
{
    std::mt19937_64 generator(1);
    std::uniform_real_distribution<double> draw(-1, 1);
    std::vector<double> numbers(static_cast<std::size_t>(count));
    for (double& x : numbers) x = draw(generator);
    return numbers;
}

/// How often the crew was asked to run tasks for C <- A A, n x n.
int runs_of_product(SmallCrew&& crew, Index n, const RoutineOptions& options = {})
{
    const std::vector<double> A(std::size_t(n * n), 0.5);
    std::vector<double> C(A.size());
    gemm(crew, Op::none, Op::none, n, n, n, 1.0, A.data(), n, A.data(), n, 0.0, C.data(), n, options);
    for (const double c : C) EXPECT_EQ(c, 0.25 * double(n)); // exact: all partial sums are multiples of a quarter
    return crew.runs;
}

TEST(Crew, IsAllThatRoutinesNeed)
{
    SmallCrew crew(2);
    constexpr Index n = 200;
    std::vector<double> A(n * n, 1.0), b(n);
    for (Index i = 0; i < n; ++i) A[std::size_t(i * (n + 1))] = double(n);
    for (Index i = 0; i < n; ++i) b[std::size_t(i)] = double(2 * n - 1); // of the solution whose entries are one
    EXPECT_EQ(posv(crew, Uplo::lower, n, 1, A.data(), n, b.data(), n, {.nb = 48}), 0);
    EXPECT_EQ(crew.runs, 1);
    for (const double x : b) EXPECT_NEAR(x, 1.0, 1e-13); // the condition is 2: some n eps
}

TEST(Crew, IsGivenNoTasksWhereNobodyHasTimeForThem)
{
    constexpr Index middling = 256, small = 128, tiny = 64;
    EXPECT_EQ(runs_of_product(SmallCrew(2, Outlook::ready), middling), 1);
    EXPECT_EQ(runs_of_product(SmallCrew(2, Outlook::asleep), middling), 1);
    EXPECT_EQ(runs_of_product(SmallCrew(2, Outlook::busy), middling), 0);
    EXPECT_EQ(runs_of_product(SmallCrew(2, Outlook::ready), small), 1);
    EXPECT_EQ(runs_of_product(SmallCrew(2, Outlook::asleep), small), 0);
    EXPECT_EQ(runs_of_product(SmallCrew(2, Outlook::ready), tiny), 0);
    EXPECT_EQ(runs_of_product(SmallCrew(1, Outlook::ready), middling), 0) << "one worker is the caller";
}

/// They are cut into few tasks, between which a call can be stopped.
TEST(Crew, OfOneWorkerHasLargeTasks)
{
    constexpr Index n = 1100;
    const std::vector<double> A = random_numbers(n * n);
    std::vector<double> L = A, X = A, C(A.size()), D(A.size());
    for (Index i = 0; i < n; ++i) L[std::size_t(i * (n + 1))] = double(n);
    const auto expect_alike = [&](const std::vector<double>& one, const std::vector<double>& other, Uplo uplo) {
        for (Index j = 0; j < n; ++j)
            for (Index i = uplo == Uplo::lower ? j : 0; i < n; ++i)
                ASSERT_NEAR(one[std::size_t(i + j * n)], other[std::size_t(i + j * n)], 1e-10) << i << ' ' << j;
    };
    SmallCrew one(1);
    syrk(one, Uplo::lower, Op::none, n, n, 1.0, A.data(), n, 0.0, C.data(), n);
    gemm(one, Op::none, Op::trans, n, n, n, 1.0, A.data(), n, A.data(), n, 0.0, D.data(), n, {});
    expect_alike(C, D, Uplo::lower);
    trsm(one, Side::left, Uplo::lower, Op::none, Diag::non_unit, n, n, 2.0, L.data(), n, X.data(), n);
    trmm(one, Side::left, Uplo::lower, Op::none, Diag::non_unit, n, n, 0.5, L.data(), n, X.data(), n);
    expect_alike(X, A, Uplo::upper);
    expect_alike(X, A, Uplo::lower);
    EXPECT_EQ(one.runs, 4);
}

/// That calls are its callers' alone, by a plan.
class CrowdedCrew final : public SmallCrew {
public:
    CrowdedCrew(bool crowded, choices::Plan plan) : SmallCrew(2), crowded_(crowded), plan_(plan) {}
    bool is_crowded(Flops) override { return crowded_; }
    choices::Plan plan(const choices::Call&) const override { return plan_; }

private:
    const bool crowded_;
    const choices::Plan plan_;
};

TEST(Crew, HasTheSameBitsInACrowd)
{
    constexpr Index m = 64, n = 80;
    for (const char* word : {"rule", "caller", "packed", "in-place", "in-place+2"})
        for (const Index k : {300, 1024, 1500, 3000}) {
            const std::vector<double> A = random_numbers(m * k), B = random_numbers(k * n);
            const auto product = [&](bool crowded, int runs) {
                std::vector<double> C(m * n);
                CrowdedCrew crew(crowded, choices::plan_called("gemm", word).value());
                gemm(crew, Op::none, Op::none, m, n, k, 1.0, A.data(), m, B.data(), k, 0.0, C.data(), m);
                EXPECT_EQ(crew.runs, runs) << word;
                return C;
            };
            const bool tasks = word != std::string_view("caller");
            EXPECT_EQ(product(false, tasks), product(true, 0)) << word << ", k " << k;
        }
}

/// Who computes a call alone does without images; the last tile of order 385 has one column.
template <Scalar T> void expect_factors_of_a_crowd_to_be_those_of_others(Index n, const char* word)
{
    constexpr Index nrhs = 3;
    const std::vector<double> numbers = random_numbers(n * n);
    std::vector<T> A(numbers.begin(), numbers.end());
    std::vector<T> definite = A;
    for (Index i = 0; i < n; ++i) definite[std::size_t(i * (n + 1))] = T(Real<T>(n));
    const auto bits = [&](bool crowded, const auto& call, std::vector<T> matrix) {
        std::vector<T> B(A.begin(), A.begin() + nrhs * n);
        std::vector<Index> pivots(std::size_t(n), 0);
        CrowdedCrew crew(crowded, choices::plan_called("potrf", word).value_or(choices::Plan{}));
        crew.shares = false; // else LU of less than order 564 is not cut into tiles
        call(crew, matrix, B, pivots);
        EXPECT_EQ(crew.runs, crowded ? 0 : 1) << n;
        matrix.insert(matrix.end(), B.begin(), B.end());
        return matrix;
    };
    const auto expect_alike = [&](const auto& call, const std::vector<T>& matrix, const char* what) {
        EXPECT_EQ(bits(false, call, matrix), bits(true, call, matrix)) << what << ' ' << n << ' ' << word;
    };
    for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
        expect_alike([&](Crew& crew, auto& M, auto&, auto&) { potrf(crew, uplo, n, M.data(), n, {}); }, definite, "potrf");
        expect_alike([&](Crew& crew, auto& M, auto& B, auto&) { posv(crew, uplo, n, nrhs, M.data(), n, B.data(), n, {}); },
                     definite, "posv");
    }
    if (word != std::string_view("rule")) return;
    expect_alike([&](Crew& crew, auto& M, auto&, auto& pivots) { getrf(crew, n, n, M.data(), n, pivots.data(), {}); }, A,
                 "getrf");
    expect_alike(
        [&](Crew& crew, auto& M, auto& B, auto& pivots) { gesv(crew, n, nrhs, M.data(), n, pivots.data(), B.data(), n, {}); }, A,
        "gesv");
}

TEST(Crew, HasTheSameFactorsInACrowd)
{
    for (const char* word : {"rule", "packed+1", "in-place-1"})
        for (const Index n : {340, 385, 391, 450, 625}) {
            expect_factors_of_a_crowd_to_be_those_of_others<float>(n, word);
            expect_factors_of_a_crowd_to_be_those_of_others<double>(n, word);
            expect_factors_of_a_crowd_to_be_those_of_others<std::complex<double>>(n, word);
        }
}

/// The last one's panels are cut up where several workers factor them.
TEST(Crew, HasTheSameFactorsOfLongAndWideMatricesInACrowd)
{
    constexpr std::pair<Index, Index> sizes[] = {{700, 450}, {450, 700}, {641, 403}, {300, 2500}, {2000, 150}, {12000, 200}};
    for (const auto& [m, n] : sizes) {
        const std::vector<double> A = random_numbers(m * n);
        const auto factors = [&, m = m, n = n](bool crowded) {
            std::vector<double> F = A;
            std::vector<Index> pivots(std::size_t(std::min(m, n)), 0);
            CrowdedCrew crew(crowded, {});
            crew.shares = false; // else the small ones are not cut into tiles
            getrf(crew, m, n, F.data(), m, pivots.data());
            EXPECT_EQ(crew.runs, crowded ? 0 : 1) << m << " x " << n;
            F.insert(F.end(), pivots.begin(), pivots.end());
            return F;
        };
        EXPECT_EQ(factors(false), factors(true)) << m << " x " << n;
    }
}

/// Hears how many calls are over.
class ListeningCrew final : public SmallCrew {
public:
    ListeningCrew() : SmallCrew(2) {}
    void call_is_over() override { ++over; }
    int over = 0;
};

TEST(Crew, HearsWhenACallIsOver)
{
    constexpr Index n = 40;
    std::vector<double> A = random_numbers(n * n), B = A, tau(n);
    std::vector<Index> pivots(n);
    ListeningCrew crew;
    const auto expect_heard = [&](const char* what, const auto& call) {
        crew.over = 0;
        call();
        EXPECT_EQ(crew.over, 1) << what;
    };
    expect_heard("gemm", [&] { gemm(crew, Op::none, Op::none, n, n, n, 1.0, A.data(), n, A.data(), n, 0.0, B.data(), n); });
    expect_heard("syrk", [&] { syrk(crew, Uplo::lower, Op::none, n, n, 1.0, A.data(), n, 0.0, B.data(), n); });
    expect_heard("getrf", [&] { getrf(crew, n, n, A.data(), n, pivots.data(), {}); });
    expect_heard("geqrf", [&] { geqrf(crew, n, n, A.data(), n, tau.data()); });
    expect_heard("trsm", [&] { trsm(crew, Side::left, Uplo::lower, Op::none, Diag::unit, n, n, 1.0, A.data(), n, B.data(), n); });
    expect_heard("one by a plan", [&] {
        PlannedCrew planned(crew, {});
        syrk(planned, Uplo::lower, Op::none, n, n, 1.0, A.data(), n, 0.0, B.data(), n);
    });
    expect_heard("a refused call", [&] { EXPECT_THROW(potrf(crew, Uplo::lower, n, A.data(), n - 1), Error); });
}

TEST(Crew, LeavesACrowdsTallFactorizationToItsCaller)
{
    constexpr Index m = 20000, n = 24;
    const std::vector<double> A = random_numbers(m * n);
    const auto factors = [&](bool crowded, int runs) {
        std::vector<double> F = A, tau(n);
        CrowdedCrew crew(crowded, {});
        geqrf(crew, m, n, F.data(), m, tau.data());
        EXPECT_EQ(crew.runs, runs);
        F.insert(F.end(), tau.begin(), tau.end());
        return F;
    };
    EXPECT_EQ(factors(false, 1), factors(true, 0));
}

/// Two questions look like two calls that follow one another, for which helpers are woken.
/// All of its calls go by one plan, and it hears how they went.
struct OfOnePlan : SmallCrew {
    OfOnePlan(int workers, choices::Plan::By by) : SmallCrew(workers), wanted{.by = by} {}
    choices::Plan plan(const choices::Call&) const override { return wanted; }
    std::int64_t note_call(const choices::Call& call, const choices::Plan& plan, bool alone, Flops) override
    {
        EXPECT_EQ(plan, wanted);
        heard.push_back(std::string(call.routine) + (alone ? " alone" : ""));
        return 7;
    }
    void note_end(const choices::Call& call, const choices::Plan& plan, bool, std::int64_t began) override
    {
        EXPECT_EQ(plan, wanted);
        EXPECT_EQ(began, 7);
        ended.push_back(std::string(call.routine));
    }
    const choices::Plan wanted;
    std::vector<std::string> heard, ended;
};

/// The factor of a matrix of order n.
std::vector<double> factored(Crew& crew, Index n)
{
    std::vector<double> A = random_numbers(n * n);
    for (Index i = 0; i < n; ++i) A[std::size_t(i * (n + 1))] = double(n);
    EXPECT_EQ(potrf(crew, Uplo::lower, n, A.data(), n), 0);
    return A;
}

TEST(Crew, WhosePlanIsToComputeAloneHelpsNobodyAndHasTheBitsOfOneWorker)
{
    for (const Index n : {60, 300, 700}) {
        OfOnePlan many(8, choices::Plan::By::alone);
        SmallCrew one(1, Outlook::busy);
        EXPECT_EQ(factored(many, n), factored(one, n)) << n;
        EXPECT_EQ(many.runs, 0) << n;
        EXPECT_EQ(many.asked_to_share, 0) << n;
        EXPECT_EQ(many.heard, std::vector<std::string>{"potrf alone"});
        EXPECT_EQ(many.ended, std::vector<std::string>{"potrf"});
    }
    OfOnePlan by_rule(8, choices::Plan::By::rule);
    factored(by_rule, 700);
    EXPECT_EQ(by_rule.runs, 1);
    EXPECT_EQ(by_rule.heard, std::vector<std::string>{"potrf"});
    OfOnePlan product(8, choices::Plan::By::alone);
    EXPECT_EQ(runs_of_product(std::move(product), 256), 0);
    OfOnePlan rest(8, choices::Plan::By::alone);
    constexpr Index n = 400;
    std::vector<double> A = random_numbers(n * n), tau(n);
    std::vector<Index> pivots(n);
    geqrf(rest, n, n, A.data(), n, tau.data());
    EXPECT_EQ(getrf(rest, n, n, A.data(), n, pivots.data()), 0);
    EXPECT_EQ(rest.runs, 0);
    EXPECT_EQ(rest.asked_to_share, 0);
}

/// Helpers, who are woken, say no each time here.
TEST(Crew, IsAskedOnceWhereAnUpdateOfAShortFactorizationIsWorthIt)
{
    const auto asked = [](Index m, Index n, std::int64_t line_ns, bool qr) {
        SmallCrew crew(2);
        crew.line = line_ns;
        std::vector<double> A = random_numbers(m * n), tau(std::size_t(std::min(m, n)));
        std::vector<Index> pivots(tau.size());
        if (qr) geqrf(crew, m, n, A.data(), m, tau.data());
        else EXPECT_EQ(getrf(crew, m, n, A.data(), m, pivots.data()), 0);
        EXPECT_EQ(crew.runs, 0) << m << " x " << n;
        EXPECT_EQ(crew.short_calls, 1) << m << " x " << n;
        return crew.asked_to_share;
    };
    for (const bool qr : {true, false}) {
        EXPECT_EQ(asked(250, 250, 15, qr), 1);
        EXPECT_EQ(asked(120, 120, 90, qr), 0) << "the cores are too far from each other";
    }
    EXPECT_EQ(asked(250, 250, 90, true), 1);
    EXPECT_EQ(asked(330, 330, 15, true), 1) << "no tasks yet";
    EXPECT_EQ(asked(100, 1000, 90, true), 1);
}

TEST(Crew, HasTasksForMediumFactorizationsWhereItSharesNoCalls)
{
    constexpr Index n = 400;
    for (const bool shares : {true, false}) {
        const auto expect_runs = [&](const char* what, const auto& call) {
            SmallCrew crew(2);
            crew.shares = shares;
            std::vector<double> A = random_numbers(n * n);
            call(crew, A.data());
            EXPECT_EQ(crew.runs, shares ? 0 : 1) << what;
        };
        std::vector<double> tau(n);
        std::vector<Index> pivots(n);
        expect_runs("geqrf", [&](Crew& crew, double* A) { geqrf(crew, n, n, A, n, tau.data()); });
        expect_runs("getrf", [&](Crew& crew, double* A) { getrf(crew, n, n, A, n, pivots.data()); });
        std::vector<double> b(n, 1.0);
        expect_runs("gesv", [&](Crew& crew, double* A) { gesv(crew, n, 1, A, n, pivots.data(), b.data(), n); });
        const std::vector<double> A = random_numbers(n * n);
        for (Index i = 0; i < n; ++i) {
            double sum = 0;
            for (Index j = 0; j < n; ++j) sum += A[std::size_t(i + j * n)] * b[std::size_t(j)];
            EXPECT_NEAR(sum, 1.0, 1e-9) << i;
        }
    }
}

TEST(Crew, IsAskedOnceWhetherAProductCanBeShared)
{
    for (const Index n : {48, 64, 96, 128}) {
        SmallCrew crew(2);
        const std::vector<std::complex<double>> A(std::size_t(n * n), 0.5);
        std::vector<std::complex<double>> C(A.size());
        gemm<std::complex<double>>(crew, Op::none, Op::none, n, n, n, 1.0, A.data(), n, A.data(), n, 0.0, C.data(), n, {});
        EXPECT_EQ(crew.asked_to_share, 1) << n;
    }
}

/// Its bits do not depend on others: where nobody has time the same tiles are the calling thread's.
TEST(Crew, IsGivenTheTilesOfAMediumCholeskyWhereItHasTime)
{
    constexpr Index n = 300;
    std::vector<double> first;
    for (const Outlook outlook : {Outlook::ready, Outlook::asleep, Outlook::busy}) {
        SmallCrew crew(2, outlook);
        std::vector<double> A(n * n);
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < n; ++i) A[std::size_t(i + j * n)] = 1 / double(1 + std::abs(i - j)) + double(i == j);
        ASSERT_EQ(potrf(crew, Uplo::lower, n, A.data(), n), 0);
        EXPECT_EQ(crew.runs, outlook == Outlook::busy ? 0 : 1);
        if (first.empty()) first = A;
        EXPECT_EQ(A, first);
    }
}

/// With a device that takes part always, or in no call.
class DeviceCrew final : public SmallCrew {
public:
    DeviceCrew(Outlook outlook, bool takes_part) : SmallCrew(2, outlook), takes_part_(takes_part) {}
    bool has_devices() const override { return true; }
    Bytes device_bytes() const override { return 1e5; }
    Forecast devices_for(const std::function<void(Flow&)>&, Seconds) const override { return {takes_part_ ? 1U : 0U}; }
    void keep_plan(const PlanKey& key, const TakenPlan&) const override { plans.insert(key); }

    mutable std::set<PlanKey> plans;

private:
    const bool takes_part_;
};

/// Of one shape, a triangle of 400 rows and one of 1200 are two problems.
TEST(Crew, WithADeviceKeepsAPlanForEachSide)
{
    constexpr Index m = 400, n = 1200;
    std::vector<double> A(n * n), B(m * n, 1.0);
    for (Index i = 0; i < n; ++i) A[std::size_t(i * (n + 1))] = 1;
    DeviceCrew crew(Outlook::ready, true);
    trsm(crew, Side::left, Uplo::lower, Op::none, Diag::non_unit, m, n, 1.0, A.data(), n, B.data(), m);
    trsm(crew, Side::right, Uplo::lower, Op::none, Diag::non_unit, m, n, 1.0, A.data(), n, B.data(), m);
    EXPECT_EQ(crew.plans.size(), 2);
}

/// Tiles that fit into a device have other bits than what a caller computes alone, or cores share.
TEST(Crew, WithADeviceForAProductIsGivenItsTilesWhoeverHasTime)
{
    constexpr Index n = 127;
    std::vector<double> A(n * n), first;
    for (Index i = 0; i < n * n; ++i) A[std::size_t(i)] = std::sin(double(i));
    const auto bits_of = [&](Outlook outlook, bool takes_part, int runs) {
        DeviceCrew crew(outlook, takes_part);
        std::vector<double> all(5 * A.size());
        const auto C = [&](std::size_t which) { return all.data() + which * A.size(); };
        gemm(crew, Op::none, Op::trans, n, n, n, 1.0, A.data(), n, A.data(), n, 0.0, C(0), n);
        symm(crew, Side::left, Uplo::lower, n, n, 1.0, A.data(), n, A.data(), n, 0.0, C(1), n);
        hemm(crew, Side::right, Uplo::upper, n, n, 1.0, A.data(), n, A.data(), n, 0.0, C(2), n);
        syrk(crew, Uplo::lower, Op::none, n, n, 1.0, A.data(), n, 0.0, C(3), n);
        syr2k(crew, Uplo::lower, Op::none, n, n, 1.0, A.data(), n, A.data(), n, 0.0, C(4), n);
        EXPECT_EQ(crew.runs, runs);
        return all;
    };
    const std::vector<double> there = bits_of(Outlook::ready, true, 5);
    EXPECT_EQ(bits_of(Outlook::asleep, true, 5), there);
    EXPECT_EQ(bits_of(Outlook::busy, true, 5), there);
    const std::vector<double> tasks = bits_of(Outlook::ready, false, 5), alone = bits_of(Outlook::busy, false, 0);
    for (std::size_t i = 0; i < 5; ++i)
        EXPECT_TRUE(std::equal(tasks.begin() + i * n * n, tasks.begin() + (i + 1) * n * n, alone.begin() + i * n * n)) << i;
}

TEST(Crew, IsGivenTasksByThoseWhoAskForATileSizeOrAVariant)
{
    EXPECT_EQ(runs_of_product(SmallCrew(1, Outlook::busy), 64, {.nb = 32}), 1);
    EXPECT_EQ(runs_of_product(SmallCrew(1, Outlook::busy), 64, {.variant = "in-place"}), 1);
}

TEST(Crew, OnSeveralNodesIsNotCutUpByThemWhereTasksCannotBeKeptToThem)
{
    SmallCrew crew(2);
    crew.on_nodes = {{0, 1, 1.0, false}, {1, 1, 1.0, false}};
    const double one = 1;
    double c = 0;
    const auto by_nodes = [&] {
        gemm(crew, Op::none, Op::none, 1, 1, 1, 1.0, &one, 1, &one, 1, 0.0, &c, 1, {.variant = "nodes"});
    };
    try {
        by_nodes();
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("memory node, which this crew cannot"), std::string::npos) << error.what();
    }
    crew.on_nodes.clear();
    by_nodes();
    EXPECT_EQ(c, 1.0);
}

} // namespace
} // namespace trencadis
