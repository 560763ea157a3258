#include "choices/device_choice.hpp"

#include "algorithms/gemm.hpp"
#include "algorithms/potrf.hpp"
#include "kernels/tiles/tile_operations.hpp"
#include "matrix/operations.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <memory>
#include <utility>

namespace trencadis::choices {
namespace {

constexpr double giga = 1e9;

SpeedCurve constant(double rate) { return SpeedCurve({{1e6, rate}, {1e18, rate}}); }

DeviceFigures device(double rate, double bandwidth, Bytes bytes = 16e9, Seconds latency = 2e-5)
{
    return {{UnitKind::device, 1, nullptr}, bytes, constant(rate), {bandwidth, bandwidth}, latency};
}
UnitFigures machine(double core_rate, double cores, std::vector<DeviceFigures> devices)
{
    return {{}, cores, constant(core_rate), std::move(devices)};
}

/// Tiles of a matrix that is never touched.
struct Square {
    Square(Index size, Index tile) : n(size), nb(tile), memory(new double[std::size_t(size * size)]) {}
    TileMatrix<double> tiles() const { return TileMatrix<double>(MatrixView<double>{memory.get(), n, n, n}, nb, nb); }
    Index n, nb;
    std::unique_ptr<double[]> memory;
};

CallOutlook::Choice for_gemm(const UnitFigures& figures, Index n, Index nb)
{
    const Square A(n, nb), B(n, nb), C(n, nb);
    CallOutlook outlook(figures);
    gemm(outlook, 1.0, A.tiles(), B.tiles(), 0.0, C.tiles());
    return outlook.choose();
}
CallOutlook::Choice for_potrf(const UnitFigures& figures, Index n, Index nb)
{
    const Square A(n, nb);
    CallOutlook outlook(figures);
    potrf(outlook, A.tiles());
    return outlook.choose();
}

CallOutlook::Choice for_two_level(const UnitFigures& figures, Index n, Index nb, Index inner)
{
    const Square A(n, nb);
    CallOutlook outlook(figures);
    potrf_two_level(outlook, A.tiles(), inner);
    return outlook.choose();
}

TEST(SpeedCurve, IsStraightBetweenWhatWasMeasuredAndLevelBeyond)
{
    const SpeedCurve curve({{4e6, 30}, {1e6, 10}});
    EXPECT_DOUBLE_EQ(curve.rate(1e6), 10);
    EXPECT_DOUBLE_EQ(curve.rate(2e6), 20);
    EXPECT_DOUBLE_EQ(curve.rate(1e3), 10);
    EXPECT_DOUBLE_EQ(curve.rate(1e9), 30);
    EXPECT_DOUBLE_EQ(curve.time(0), 0);
    EXPECT_TRUE(SpeedCurve().empty());
}

TEST(DevicesOfACall, AreTakenWhereTheyAreFastAndTheCallIsLarge)
{
    const UnitFigures one = machine(20 * giga, 4, {device(5000 * giga, 25 * giga)});
    EXPECT_EQ(for_gemm(one, 4096, 512).devices, 1u);
    EXPECT_EQ(for_potrf(one, 8192, 512).devices, 1u);
}

TEST(DevicesOfACall, AreLeftOutWhereTheCallIsOverBeforeItsDataWouldBeThere)
{
    // 256 x 256: 4 ms on one core, 0.3 ms on four. Three operands of 0.5 MB take 1.6 ms.
    const UnitFigures slow_link = machine(40 * giga, 4, {device(5000 * giga, giga)});
    const auto choice = for_gemm(slow_link, 256, 64);
    EXPECT_EQ(choice.devices, 0u);
    EXPECT_GT(choice.with, choice.alone);
    EXPECT_EQ(for_potrf(slow_link, 256, 64).devices, 0u);
}

TEST(DevicesOfACall, AreLeftOutWhereTheyAreSlowOrTheirLinkIs)
{
    EXPECT_EQ(for_gemm(machine(20 * giga, 4, {device(giga, 25 * giga)}), 4096, 512).devices, 0u);
    EXPECT_EQ(for_gemm(machine(20 * giga, 4, {device(5000 * giga, 1e6)}), 4096, 512).devices, 0u);
}

TEST(DevicesOfACall, AreLeftOutWhereTheLatencyOfCopiesOutlastsTheChain)
{
    EXPECT_EQ(for_potrf(machine(20 * giga, 4, {device(5000 * giga, 25 * giga)}), 4096, 256).devices, 1u);
    EXPECT_EQ(for_potrf(machine(20 * giga, 4, {device(5000 * giga, 25 * giga, 16e9, 0.1)}), 4096, 256).devices, 0u);
}

TEST(DevicesOfACall, AreThoseThatHelp)
{
    const DeviceFigures fast = device(5000 * giga, 25 * giga), slow_link = device(4000 * giga, 1e7),
                        unknown{{UnitKind::device, 3, nullptr}, 16e9, {}, {25 * giga, 25 * giga}, 0};
    EXPECT_EQ(for_gemm(machine(20 * giga, 4, {slow_link, fast, unknown}), 4096, 512).devices, 0b010u);
    EXPECT_EQ(for_gemm(machine(20 * giga, 4, {fast, fast}), 16384, 1024).devices, 0b11u);
    const DeviceFigures third = device(3000 * giga, 25 * giga);
    EXPECT_EQ(for_gemm(machine(20 * giga, 4, {fast, slow_link, third}), 8192, 512).devices, 0b101u);
}

TEST(DevicesOfACall, AreLeftOutWhereATaskFindsNoRoom)
{
    const Bytes three = 3 * 512 * 512 * 8;
    EXPECT_EQ(for_gemm(machine(20 * giga, 4, {device(5000 * giga, 25 * giga, three)}), 4096, 512).with > 0, true);
    const auto none = for_gemm(machine(20 * giga, 4, {device(5000 * giga, 25 * giga, three - 1)}), 4096, 512);
    EXPECT_EQ(none.devices, 0u);
    EXPECT_EQ(none.with, 0);
}

TEST(DevicesOfACall, PayForWhatDoesNotFitEachTimeThatItIsUsed)
{
    const auto roomy = for_gemm(machine(20 * giga, 4, {device(5000 * giga, 5 * giga)}), 8192, 512);
    const auto small = for_gemm(machine(20 * giga, 4, {device(5000 * giga, 5 * giga, 50e6)}), 8192, 512);
    EXPECT_EQ(roomy.alone, small.alone);
    EXPECT_GT(small.with, 1.5 * roomy.with);
}

TEST(DevicesOfACall, AreNotMoreThanItHasWorkFor)
{
    // What is left when one device has most of it is the chain of panels, which no other one shortens.
    const std::vector<DeviceFigures> eight(8, device(5000 * giga, 25 * giga));
    EXPECT_EQ(for_potrf(machine(20 * giga, 4, eight), 2048, 512).devices, 1u);
    EXPECT_EQ(std::popcount(for_gemm(machine(20 * giga, 4, eight), 32768, 2048).devices), 8);
    EXPECT_EQ(for_gemm(machine(20 * giga, 4, {}), 1024, 256).devices, 0u);
}

TEST(DevicesOfACall, AreExpectedToLeaveUnitsIdleInTheEnd)
{
    // Nine tiles of which one unit has five: sums say four and a half.
    const UnitFigures alike = machine(20 * giga, 1, {device(20 * giga, 1e15, 16e9, 1e-9)});
    const Seconds one = 2.0 * 512 * 512 * 512 / (20 * giga);
    const Square A(1536, 512), B(512, 512), C(1536, 512);
    CallOutlook outlook(alike);
    const TileMatrix<double> rows = A.tiles(), cols = C.tiles();
    for (Index i = 0; i < 3; ++i)
        for (Index j = 0; j < 3; ++j) task::gemm(outlook, 1.0, rows(0, i), B.tiles()(0, 0), 0.0, cols(i, j));
    EXPECT_NEAR(outlook.choose().with, 5 * one, 0.01 * one);
    EXPECT_NEAR(outlook.choose().alone, 9 * one, 0.01 * one);
}

TEST(TasksInsideATask, AreTheWorkOfTheirCores)
{
    const Index n = 4096, nb = 1024;
    // One core does them one after the other: the same flops at the same rate.
    const UnitFigures one = machine(20 * giga, 1, {device(5000 * giga, 25 * giga)});
    EXPECT_NEAR(for_two_level(one, n, nb, 128).alone, for_potrf(one, n, nb).alone, 1e-9);
    // Eight share a diagonal tile of 1.07 / 3 Gflop, of which there are four one behind the other: there each is as long as
    // its tiles on eight cores, or as their own chain, instead of 18 ms.
    const UnitFigures eight = machine(20 * giga, 8, {device(5000 * giga, 25 * giga)});
    const auto whole = for_potrf(eight, n, nb), nested = for_two_level(eight, n, nb, 128);
    const double tile = operations::potrf(1024).flops<double>() / (20 * giga);
    EXPECT_GT(whole.with - nested.with, 4 * tile / 2);
    EXPECT_LT(whole.with - nested.with, 4 * tile * (1 - 1.0 / 8) + 1e-9);
    EXPECT_NEAR(for_two_level(eight, n, nb, nb).with, whole.with, 1e-12) << "a tile that is not cut up";
}

TEST(TasksInsideATask, AreNoDevices)
{
    // The tiles of 64 would be a device's; those of the diagonal are not, which are all of this matrix.
    const UnitFigures fast = machine(20 * giga, 4, {device(5000 * giga, 25 * giga)});
    EXPECT_EQ(for_two_level(fast, 4096, 4096, 64).with, 0);
    EXPECT_GT(for_potrf(fast, 4096, 64).with, 0);
}

TEST(DevicesOfACall, AreMeasuredAgainstTheTilesThatSuitCores)
{
    const UnitFigures one = machine(20 * giga, 4, {device(60 * giga, 25 * giga)});
    const Square A(4096, 2048);
    CallOutlook outlook(one);
    potrf(outlook, A.tiles()); // two tile rows, which four cores cannot share
    const auto own = outlook.choose(), better = outlook.choose(for_potrf(one, 4096, 256).alone);
    EXPECT_EQ(own.devices, 1u);
    EXPECT_EQ(better.devices, 0u);
    EXPECT_EQ(better.with, own.with);
    EXPECT_LT(better.alone, own.alone);
}

TEST(FactorsOfTiles, TakeTheirOwnTimeWhereItWasMeasured)
{
    UnitFigures one = machine(20 * giga, 1, {device(5000 * giga, 25 * giga)});
    const double before = for_potrf(one, 2048, 512).alone;
    one.factors = constant(10 * giga);
    EXPECT_NEAR(for_potrf(one, 2048, 512).alone - before, 4 * 512.0 * 512 * 512 / 3 / (20 * giga), 1e-4); // half as fast
}

TEST(KernelsOfADevice, TakeTheirOwnTimeWhereItWasMeasured)
{
    UnitFigures one = machine(1e-3 * giga, 1, {device(5000 * giga, 1e15, 16e9, 1e-9)});
    const auto with = [&] { return for_potrf(one, 2048, 1024).with; };
    const double before = with();
    one.devices[0].solves = constant(1000 * giga);
    EXPECT_NEAR(with() - before, std::pow(1024.0, 3) * (1 / 1e12 - 1 / 5e12), 1e-6);
    one.devices[0].updates = constant(2000 * giga);
    EXPECT_NEAR(with() - before, std::pow(1024.0, 3) * (1 / 1e12 + 1 / 2e12 - 2 / 5e12), 2e-6);
}

/// As of an NVIDIA H200, whose solves of 2048 take 0.92 ms and of 4096 2.8, products going at 54 TFlop/s.
TEST(KernelsOfADevice, LargerThanWhatWasMeasuredGoOnWithTheSpeedOfProducts)
{
    UnitFigures one = machine(1e-3 * giga, 1, {device(54000 * giga, 1e15, 1e12, 1e-9)});
    const double before = for_potrf(one, 8192, 4096).with;
    one.devices[0].solves = SpeedCurve({{std::pow(2048.0, 3), std::pow(2048.0, 3) / 0.92e-3}});
    EXPECT_NEAR(for_potrf(one, 8192, 4096).with - before + std::pow(4096.0, 3) / (54000 * giga), 2.8e-3, 0.1e-3);
}

TEST(ArraysOnADevice, AreNotMoved)
{
    const UnitFigures slow_link = machine(1e-3 * giga, 1, {device(5000 * giga, 1e6)});
    const Square A(4096, 1024), B(4096, 1024), C(4096, 1024);
    const auto with_all = [&](Homes homes) {
        CallOutlook outlook(slow_link, std::move(homes));
        gemm(outlook, 1.0, A.tiles(), B.tiles(), 0.0, C.tiles());
        return outlook.with_all();
    };
    EXPECT_NEAR(with_all([](const void*) { return 0; }), 2 * std::pow(4096.0, 3) / (5000 * giga), 1e-6);
    EXPECT_GT(with_all({}), 3 * 4096 * 4096 * 8 / 1e6);
    const auto in = [](const Square& X, const void* datum) {
        return datum >= X.memory.get() && datum < X.memory.get() + X.n * X.n;
    };
    const Seconds one_moves = with_all([&](const void* datum) { return in(B, datum) ? -1 : 0; });
    EXPECT_GT(one_moves, 4096 * 4096 * 8 / 1e6);
    EXPECT_LT(one_moves, 1.2 * 4096 * 4096 * 8 / 1e6) << "and a tile before and behind";
}

} // namespace
} // namespace trencadis::choices
