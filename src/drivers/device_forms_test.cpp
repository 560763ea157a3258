// In which form and tiles a call is laid out where devices could take part.
#include "choices/device_choice.hpp"
#include "drivers/laid_out.hpp"
#include "drivers/linear_algebra.hpp"
#include "drivers/testing/small_crew.hpp"
#include "kernels/providers/device_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace trencadis {
namespace {

constexpr double giga = 1e9;

/// With one device by its figures, whose tasks the calling thread does.
class CrewWithDevice final : public testing::SmallCrew {
public:
    CrewWithDevice(double core_rate, double device_rate, Seconds latency, Bytes memory = 1e9) : SmallCrew(4)
    {
        figures.core.kernels = &kernels();
        figures.cores = 4;
        figures.speed = choices::SpeedCurve({{1e6, core_rate}});
        figures.devices.push_back({.bytes = memory,
                                   .speed = choices::SpeedCurve({{1e6, device_rate}}),
                                   .bytes_per_second = {20 * giga, 20 * giga},
                                   .latency = latency});
    }
    bool has_devices() const override { return true; }
    Bytes device_bytes() const override { return figures.devices.front().bytes; }
    Forecast devices_for(const std::function<void(Flow&)>& submit, Seconds alone) const override
    {
        ++asked;
        if (always) return {1};
        choices::CallOutlook outlook(figures);
        submit(outlook);
        const auto choice = outlook.choose(alone);
        return {choice.devices, choice.with, choice.alone};
    }
    Index run_with(std::uint64_t devices, const std::function<void(Flow&)>& body, const std::function<bool()>& asks) override
    {
        with = devices;
        return run(body, asks);
    }
    void note_form(const Form& its, Index size) const override { form = its.name, nb = size; }
    std::optional<TakenPlan> plan_of(const PlanKey& key) const override
    {
        const auto known = plans.find(key);
        return known == plans.end() ? std::nullopt : std::optional(known->second);
    }
    void keep_plan(const PlanKey& key, const TakenPlan& plan) const override
    {
        if (keeps_plans) plans.insert_or_assign(key, plan);
    }
    std::vector<const DeviceKernels*> device_kernels() const override
    {
        return device ? std::vector<const DeviceKernels*>{device.get()} : std::vector<const DeviceKernels*>();
    }
    /// The device computes with these from now on.
    void give_kernels(bool factors)
    {
        queue.has_factors = factors;
        device = kernels_on(queue, kernels());
        figures.devices.front().unit = {UnitKind::device, 1, device.get()};
    }

    struct NoQueue final : KernelQueue {
        void enqueue(Flops, Body) override { ADD_FAILURE() << "nothing runs on it"; }
        bool factors() const override { return has_factors; }
        bool has_factors = false;
    } queue;
    std::unique_ptr<const DeviceKernels> device;
    choices::UnitFigures figures;
    bool always = false, keeps_plans = false;
    mutable std::map<PlanKey, TakenPlan> plans;
    std::uint64_t with = 0;
    mutable int asked = 0;
    mutable std::string_view form;
    mutable Index nb = 0;
};

struct Definite {
    explicit Definite(Index order) : n(order), A(std::size_t(n * n), 0.25), B(std::size_t(n), 1)
    {
        for (Index i = 0; i < n; ++i) A[std::size_t(i * (n + 1))] = double(n);
    }
    /// By solving for a right side of ones: all entries are 1 / (n + (n - 1) / 4).
    void expect_solved(Crew& crew, const RoutineOptions& options = {})
    {
        EXPECT_EQ(posv(crew, Uplo::lower, n, 1, A.data(), n, B.data(), n, options), 0);
        for (const double x : B) EXPECT_NEAR(x * (double(n) + double(n - 1) / 4), 1, 1e-12); // the condition is below 2
    }
    Index n;
    std::vector<double> A, B;
};

constexpr Index n = 1200;

TEST(FormsForDevices, AreTakenWhereLargeTilesPayForTheirLatency)
{
    // 24 ms on four cores; tiles of 64 to 100 would cross a link of 0.5 ms at each step of the chain.
    CrewWithDevice far(6 * giga, 500 * giga, 5e-4);
    Definite(n).expect_solved(far);
    EXPECT_EQ(far.form, "two-level");
    EXPECT_EQ(far.nb, 416) << "three equal tiles of 512 at most";
    EXPECT_EQ(far.with, 1u);
}

TEST(FormsForDevices, AreLeftWhereTilesOfTheCoresAreNotAFifthSlower)
{
    CrewWithDevice near(6 * giga, 30 * giga, 1e-7);
    Definite(n).expect_solved(near);
    EXPECT_EQ(near.form, "in-place");
    EXPECT_LT(near.nb, 416);
    EXPECT_EQ(near.with, 1u);
    EXPECT_EQ(near.asked, 6) << "with the tiles of cores, both forms in two and three tile rows, and as a whole";
}

TEST(FormsForDevices, AreLeftWhereCoresAloneAreAsFast)
{
    CrewWithDevice slow(6 * giga, 2 * giga, 5e-4);
    Definite(n).expect_solved(slow);
    EXPECT_EQ(slow.form, "packed");
    EXPECT_EQ(slow.with, 0u);
}

TEST(FormsForDevices, AreNotWeighedWhereTheCallerOrTheSessionHasChosen)
{
    CrewWithDevice far(6 * giga, 500 * giga, 5e-4);
    Definite(n).expect_solved(far, {.nb = 200});
    EXPECT_EQ(far.form, far.with ? "in-place" : "packed");
    EXPECT_EQ(far.nb, 200);
    Definite(n).expect_solved(far, {.variant = "two-level"});
    EXPECT_EQ(far.form, "two-level");
    EXPECT_LT(far.nb, 416);
    EXPECT_EQ(far.asked, 2);
    far.always = true;
    Definite(n).expect_solved(far);
    EXPECT_EQ(far.form, "in-place");
    EXPECT_EQ(far.asked, 3);
}

/// What a call would take, of the order.
std::pair<std::string_view, Index> taken(const CrewWithDevice& crew, const char* routine, Index order)
{
    const Problem problem{.m = order, .n = order, .k = std::string_view(routine) == "gemm" ? order : 0};
    for (const LaidOut::Weighed& one : LaidOut::weighed(crew, routine, problem, layout_of_precision<double>))
        if (one.taken) return {one.form->name, one.nb};
    return {};
}

TEST(FormsForDevices, OfWhichNothingIsMeasuredHaveEnoughTilesInARow)
{
    CrewWithDevice crew(1, 1, 1);
    crew.always = true;
    crew.give_kernels(false);
    using Taken = std::pair<std::string_view, Index>;
    EXPECT_EQ(taken(crew, "potrf", 16384), Taken("two-level", 2048));
    EXPECT_EQ(taken(crew, "potrf", 4096), Taken("two-level", 512));
    EXPECT_EQ(taken(crew, "potrf", 2080), Taken("two-level", 416)) << "the smallest, five in a row";
    EXPECT_EQ(taken(crew, "potrf", 1500).first, "in-place") << "by the tiles of cores";
    EXPECT_LT(taken(crew, "potrf", 1500).second, 400);
    EXPECT_EQ(taken(crew, "gemm", 8192), Taken("in-place", 1024));
    crew.give_kernels(true);
    EXPECT_EQ(taken(crew, "potrf", 16384), Taken("in-place", 2048)) << "the device has the diagonal tiles, too";
    crew.figures.devices.front().bytes = 3 * 8 * 1024 * 1024;
    EXPECT_EQ(taken(crew, "potrf", 16384), Taken("in-place", 1024)) << "three tiles have room";
}

TEST(FormsForDevices, AreWeighedOnceForCallsAlike)
{
    CrewWithDevice far(6 * giga, 500 * giga, 5e-4), slow(6 * giga, 2 * giga, 5e-4);
    far.keeps_plans = slow.keeps_plans = true;
    Definite(n).expect_solved(far);
    const int asked = far.asked;
    far.form = {}, far.nb = 0, far.with = 0;
    Definite(n).expect_solved(far);
    EXPECT_EQ(far.asked, asked);
    EXPECT_EQ(far.form, "two-level");
    EXPECT_EQ(far.nb, 416);
    EXPECT_EQ(far.with, 1u);
    Definite(n).expect_solved(far, {.nb = 200});
    EXPECT_EQ(far.nb, 200) << "this caller has chosen";
    const int before = far.asked;
    Definite(n - 8).expect_solved(far);
    EXPECT_GT(far.asked, before) << "another size";
    far.figures.devices.front().bytes /= 2;
    Definite(n).expect_solved(far);
    EXPECT_GT(far.asked, before + 1) << "other room";

    for (int call = 0; call < 2; ++call) Definite(n).expect_solved(slow);
    EXPECT_EQ(slow.form, "packed") << "cores alone, the second time too";
    EXPECT_EQ(slow.with, 0u);
}

TEST(FormsForDevices, HaveRoomForThreeTiles)
{
    CrewWithDevice small(6 * giga, 500 * giga, 5e-4, 3 * 8 * 400.0 * 400); // of 416 there is none
    Definite(n).expect_solved(small);
    EXPECT_NE(small.form, "two-level");
    EXPECT_EQ(small.asked, 1);
}

TEST(FormsForDevices, OfLuAreByColumnsWhereADeviceFactors)
{
    constexpr Index order = 1500;
    CrewWithDevice near(6 * giga, 500 * giga, 1e-5);
    const auto weighed_as_columns = [&] {
        std::vector<Index> sizes;
        for (const auto& one : LaidOut::weighed(near, "getrf", {.m = order, .n = order}, layout_of_precision<double>))
            if (one.form->name == "columns") sizes.push_back(one.nb);
        return sizes;
    };
    EXPECT_EQ(weighed_as_columns(), std::vector<Index>()) << "nothing is known of its kernels";
    near.give_kernels(false);
    EXPECT_EQ(weighed_as_columns(), std::vector<Index>());
    near.give_kernels(true);
    EXPECT_EQ(weighed_as_columns(), (std::vector<Index>{256, 512, 768, order})) << "of about 256, 512 and 1024, equal ones";
    near.figures.devices.front().bytes = 2 * 8.0 * order * 400;
    EXPECT_EQ(weighed_as_columns(), std::vector<Index>{256}) << "two columns fit into it";
    near.figures.devices.front().bytes = 1e9;

    std::vector<double> A(std::size_t(order * order), 0.25);
    std::vector<Index> pivots(order);
    for (Index i = 0; i < order; ++i) A[std::size_t(i * (order + 1))] = double(order);
    EXPECT_EQ(getrf(near, order, order, A.data(), order, pivots.data()), 0);
    EXPECT_EQ(near.form, "columns");
    EXPECT_EQ(near.with, 1u);
}

TEST(FormsForDevices, AreToldWithWhatIsExpectedOfThem)
{
    const CrewWithDevice far(6 * giga, 500 * giga, 5e-4);
    const auto weighed = LaidOut::weighed(far, "posv", {.m = n, .n = n}, layout_of_precision<double>);
    ASSERT_EQ(weighed.size(), 6u);
    EXPECT_EQ(weighed[0].form->name, "in-place");
    EXPECT_FALSE(weighed[0].taken);
    for (const std::size_t i : {1, 2, 3, 5}) EXPECT_FALSE(weighed[i].taken) << i;
    EXPECT_EQ(weighed[1].nb, 416);
    EXPECT_EQ(weighed[3].nb, n) << "the device has no factorization";
    EXPECT_EQ(weighed[4].form->name, "two-level");
    EXPECT_EQ(weighed[4].nb, 416);
    EXPECT_TRUE(weighed[4].taken);
    EXPECT_LT(weighed[4].expected.with, 0.8 * weighed[0].expected.alone);
    EXPECT_LT(weighed[4].expected.with, weighed[1].expected.with) << "four cores share a diagonal tile";
    EXPECT_TRUE(far.form.empty()) << "nothing was called";
    EXPECT_TRUE(LaidOut::weighed(testing::SmallCrew(2), "posv", {.m = n, .n = n}, layout_of_precision<double>).empty());
}

/// Computes nothing, and has a factorization.
class FactoringQueue final : public KernelQueue {
public:
    void enqueue(Flops, Body) override {}
    bool factors() const override { return true; }
};

/// With a device by what was measured of an NVIDIA H200 in double precision, and sixteen cores beside it; matrices lie there.
class CrewWithArrays : public testing::SmallCrew {
public:
    using Points = std::vector<choices::SpeedCurve::Point>;

    CrewWithArrays() : SmallCrew(16)
    {
        figures.core.kernels = &kernels();
        figures.cores = 16;
        figures.speed = choices::SpeedCurve({{2 * cube(64), 60 * giga}, {2 * cube(512), 90 * giga}});
        figures.factors = choices::SpeedCurve({{cube(64) / 3, 10 * giga}, {cube(512) / 3, 60 * giga}});
        figures.devices.push_back(
            {.unit = {UnitKind::device, 1, device_kernels_.get()},
             .bytes = 1.3e11,
             .speed = curve(2, {{64, 22e-6}, {256, 27e-6}, {512, 40e-6}, {1024, 71e-6}, {2048, 341e-6}, {4096, 2.6e-3}}),
             .bytes_per_second = {40 * giga, 45 * giga},
             .latency = 20e-6,
             .factors = curve(1.0 / 3, {{64, 60e-6}, {256, 0.4e-3}, {512, 0.9e-3}, {1024, 1.5e-3}, {2048, 2.75e-3}}),
             .updates = curve(1, {{64, 22e-6}, {256, 27e-6}, {512, 40e-6}, {1024, 76e-6}, {2048, 196e-6}}),
             .solves = curve(1, {{64, 40e-6}, {256, 0.1e-3}, {512, 181e-6}, {1024, 273e-6}, {2048, 755e-6}})});
    }
    bool has_devices() const override { return true; }
    Bytes device_bytes() const override { return figures.devices.front().bytes; }
    Seconds expected_there(const std::function<void(Flow&)>& submit) const override
    {
        if (!measured) return 0;
        choices::CallOutlook outlook(figures, [](const void*) { return 0; });
        submit(outlook);
        return outlook.with_all();
    }
    void note_form(const Form& its, Index size) const override { form = its.name, nb = size; }

    /// How a call would be laid out, without memory. What is expected of it.
    Seconds lay(forms::Forms forms, const Problem& problem, const RoutineOptions& options = {})
    {
        const LaidOut laid(LaidOut::OnDevices{}, *this, forms, options, problem, LaidOut::scalars<double>, {});
        return laid.expected_there(*this);
    }

    choices::UnitFigures figures;
    bool measured = true;
    mutable std::string_view form;
    mutable Index nb = 0;

protected:
    FactoringQueue queue_;
    std::unique_ptr<const DeviceKernels> device_kernels_ = kernels_on(queue_, kernels());
    static double cube(Index n) { return double(n) * double(n) * double(n); }
    static choices::SpeedCurve curve(double flops_of_cube, const std::vector<std::pair<Index, Seconds>>& times)
    {
        Points points;
        for (const auto& [n, took] : times) points.push_back({flops_of_cube * cube(n), flops_of_cube * cube(n) / took});
        return choices::SpeedCurve(points);
    }
};

TEST(FormsOfArraysOnDevices, HaveTilesThatSuitTheDevice)
{
    CrewWithArrays crew;
    const Seconds expected = crew.lay(forms::potrf(), {.m = 16384, .n = 16384});
    EXPECT_EQ(crew.form, "in-place");
    EXPECT_EQ(crew.nb, 16384) << "cuSOLVER's own";
    EXPECT_LT(expected, 0.06) << "3.5 s by sixteen cores at most";
    crew.figures.devices.front().factors = choices::SpeedCurve({{1e9, 1e9}}); // a bad one
    crew.lay(forms::potrf(), {.m = 16384, .n = 16384});
    EXPECT_GE(crew.nb, 512);
    EXPECT_LE(crew.nb, 4096);
    crew.lay(forms::posv(), {.m = 16384, .n = 16384, .nrhs = 10});
    EXPECT_GE(crew.nb, 512);
    EXPECT_LE(crew.nb, 4096);
    crew.lay(forms::potrs(), {.m = 16384, .n = 16384, .nrhs = 10});
    EXPECT_GE(crew.nb, 1024);
    crew.lay(forms::gemm(), {.m = 16384, .n = 16384, .k = 16384});
    EXPECT_EQ(crew.nb, 16384) << "nothing to share with anybody";
}

/// The same machine by what its kernels took later, and calls whose matrices are the host's.
class CrewWithHostsMatrices final : public CrewWithArrays {
public:
    CrewWithHostsMatrices()
    {
        auto& device = figures.devices.front();
        device.factors =
            curve(1.0 / 3, {{128, 80e-6}, {256, 0.13e-3}, {512, 0.24e-3}, {1024, 0.45e-3}, {2048, 0.87e-3}, {4096, 1.83e-3}});
        device.bytes_per_second[0] = device.bytes_per_second[1] = 55 * giga;
    }
    Forecast devices_for(const std::function<void(Flow&)>& submit, Seconds alone) const override
    {
        choices::CallOutlook outlook(figures);
        submit(outlook);
        const auto choice = outlook.choose(alone);
        return {choice.devices, choice.with, choice.alone};
    }
    std::vector<const DeviceKernels*> device_kernels() const override { return {device_kernels_.get()}; }
};

/// By columns the triangle alone is moved, and while others are computed: not two copies of all of it, one behind the other.
TEST(FormsForDevices, OfCholeskyAreWeighedByColumnsWhereADeviceFactors)
{
    const CrewWithHostsMatrices crew;
    for (const Index n : {4096, 8192, 16384, 32768}) {
        std::vector<Index> columns;
        Seconds taken = 0, by_columns = 1, whole = 1;
        for (const auto& one : LaidOut::weighed(crew, "potrf", {.m = n, .n = n}, layout_of_precision<double>)) {
            if (one.taken) taken = one.expected.with;
            if (one.form->name == "columns") {
                columns.push_back(one.nb);
                by_columns = std::min(by_columns, one.expected.with);
            } else if (one.nb == n) whole = one.expected.with;
        }
        EXPECT_EQ(columns, (std::vector<Index>{512, 1024, 2048}));
        EXPECT_LT(by_columns, 1.2 * taken) << n;
        EXPECT_LT(by_columns, 0.5 * whole) << n;
    }
    CrewWithDevice cannot(6 * giga, 500 * giga, 1e-5);
    cannot.give_kernels(false);
    for (const auto& one : LaidOut::weighed(cannot, "potrf", {.m = 4096, .n = 4096}, layout_of_precision<double>))
        EXPECT_NE(one.form->name, "columns");
}

TEST(FormsOfArraysOnDevices, OfSmallMatricesAreOneTile)
{
    CrewWithArrays crew;
    for (const Index n : {200, 1000, 2000}) {
        crew.lay(forms::gemm(), {.m = n, .n = n, .k = n});
        EXPECT_EQ(crew.nb, n);
    }
    for (const Index n : {200, 1000, 2000}) {
        EXPECT_LT(crew.lay(forms::potrf(), {.m = n, .n = n}), 2.75e-3);
        EXPECT_EQ(crew.nb, n) << "cuSOLVER's own";
    }
}

TEST(FormsOfArraysOnDevices, AreThoseOfOtherCallsWhereNothingIsExpectedOrTheCallerHasChosen)
{
    CrewWithArrays crew;
    crew.lay(forms::potrf(), {.m = 16384, .n = 16384}, {.nb = 640});
    EXPECT_EQ(crew.nb, 640);
    crew.measured = false;
    crew.lay(forms::potrf(), {.m = 16384, .n = 16384});
    EXPECT_EQ(crew.nb, 2048) << "eight in a row";
    crew.lay(forms::gemm(), {.m = 1000, .n = 1000, .k = 1000});
    EXPECT_LT(crew.nb, 1000);
    crew.lay(forms::getrf(), {.m = 1000, .n = 1000});
    EXPECT_EQ(crew.form, "panel") << "no form of it has such tiles";
}

} // namespace
} // namespace trencadis
