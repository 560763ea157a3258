#include "engines/devices/staging.hpp"

#include "devices/emulated/device.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace trencadis {
namespace {

using devices::EmulatedDevice;
using devices::Extent;
using devices::Queue;
using devices::Status;

/// Of bytes, so large that copies go in pieces.
struct Case {
    Extent extent;
    std::size_t pitch;
};
const Case cases[] = {
    {{1000, 7}, 1024},                                       // one piece
    {{std::size_t(9) << 20, 3}, (std::size_t(9) << 20) + 8}, // a column each
    {{std::size_t(40) << 20, 1}, 0},                         // parts of one
    {{20000, 2000}, 20008},                                  // many columns each
};

class StagingThere : public ::testing::Test {
protected:
    explicit StagingThere(long fail_copy = 0)
        : device([&] {
              devices::EmulatedTraits traits;
              traits.memory = std::size_t(128) << 20;
              traits.fail_copy = fail_copy;
              return traits;
          }())
    {
    }
    /// There and back: the status of either way, as its pieces and its mark have it.
    Status there_and_back(const Case& its, std::vector<char>& from, std::vector<char>& to)
    {
        devices::Block block = nullptr;
        const std::size_t bytes = its.extent.bytes * its.extent.columns;
        EXPECT_TRUE(device.allocate(bytes, block).ok());
        Staging staging(device);
        Status pieces, in, out;
        const auto note = [&](const Status& how) {
            if (pieces.ok()) pieces = how;
        };
        EXPECT_TRUE(staging.has_room(Queue::in, its.extent));
        in = staging.copy_in({from.data(), its.pitch}, {block, its.extent.bytes}, its.extent, note);
        const devices::Event there = device.mark(Queue::in, {});
        staging.sealed(Queue::in, there);
        if (const Status how = device.wait(there); in.ok()) in = how;
        EXPECT_TRUE(staging.has_room(Queue::out, its.extent));
        out = staging.copy_out({block, its.extent.bytes}, {to.data(), its.pitch}, its.extent, note);
        const devices::Event back = device.mark(Queue::out, {});
        staging.sealed(Queue::out, back);
        if (const Status how = device.wait(back); out.ok()) out = how;
        staging.land(back);
        EXPECT_TRUE(device.release(block).ok());
        return !pieces.ok() ? pieces : !in.ok() ? in : out;
    }
    EmulatedDevice device;
};

TEST_F(StagingThere, AndBackIsWhatWasThere)
{
    for (const Case& its : cases) {
        const std::size_t span = (its.extent.columns - 1) * its.pitch + its.extent.bytes;
        std::vector<char> from(span), to(span, 'x');
        for (std::size_t i = 0; i < span; ++i) from[i] = static_cast<char>(i % 251);
        const Status status = there_and_back(its, from, to);
        EXPECT_TRUE(status.ok()) << status.what;
        for (std::size_t i = 0; i < span; ++i) {
            const bool between = its.pitch && i % its.pitch >= its.extent.bytes;
            ASSERT_EQ(to[i], between ? 'x' : from[i]) << "byte " << i << " of columns of " << its.extent.bytes;
        }
    }
}

class StagingThatFails : public StagingThere {
protected:
    StagingThatFails() : StagingThere(5) {}
};

/// The fifth copy is the second piece of three on the way back.
TEST_F(StagingThatFails, SaysSoAndWritesNothingThere)
{
    const Case& its = cases[1];
    const std::size_t span = (its.extent.columns - 1) * its.pitch + its.extent.bytes;
    std::vector<char> from(span, 1), to(span, 'x');
    EXPECT_EQ(there_and_back(its, from, to).fault, devices::Fault::copy);
    EXPECT_EQ(to[0], 1);
    EXPECT_EQ(to[its.pitch], 'x') << "the piece that failed";
}

} // namespace
} // namespace trencadis
