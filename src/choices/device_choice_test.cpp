#include "choices/device_choice.hpp"

#include "algorithms/gemm.hpp"
#include "algorithms/potrf.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <memory>

namespace trencadis::choices {
namespace {

constexpr double giga = 1e9;

SpeedCurve constant(double rate) { return SpeedCurve({{1e6, rate}}); }

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

} // namespace
} // namespace trencadis::choices
