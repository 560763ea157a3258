// Data whose copies outlast flows: what moves, and that nobody is answered with an old value.
#include "algorithms/gemm.hpp"
#include "base/testing/eventually.hpp"
#include "on_devices.hpp"
#include "queue_kernels.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>

namespace trencadis::testing {
namespace {

constexpr Index n = 240;
constexpr Bytes whole = double(n) * n * sizeof(double);

struct Square {
    explicit Square(unsigned seed) : at(std::size_t(n * n))
    {
        std::minstd_rand random(seed);
        std::uniform_int_distribution<int> digit(-4, 4); // products are exact in any order
        for (double& x : at) x = digit(random);
    }
    TileMatrix<double> tiles(Index nb) { return TileMatrix<double>(MatrixView<double>{at.data(), n, n, n}, nb, nb); }
    std::vector<double> at;
};

class KeptData : public ::testing::Test {
protected:
    OnDevices on{"emulated", "eager", 1};
    Square A{1}, B{2};
    trencadis::KeptData& kept() { return *on.engine().kept_data(); }
    std::vector<double> product(OnDevices& by, Index nb)
    {
        Square C(3);
        by.run([&](Flow& flow) { gemm(flow, 1.0, A.tiles(nb), B.tiles(nb), 0.0, C.tiles(nb)); });
        return C.at;
    }
    void expect_right(Index nb) { EXPECT_EQ(product(on, nb), product(cores_, nb)); }

private:
    OnDevices cores_{"", "eager", 1};
};

struct ReadArgs {
    Flops flops() const { return 1e3; }
    void run_on_device(TaskContext& context) const
    {
        static_cast<const QueueKernels*>(context.kernels())->queue->enqueue(flops(), [](const BlockMap&) {});
    }
};
constexpr Codelet reading = codelet_of<ReadArgs>("read");

TEST(KeptByADevice, GoesThereOnceAndAgainWhenItWasWrittenOrIsKeptNoLonger)
{
    EngineOnDevices on("emulated", "eager", 1, 2);
    constexpr Index tiles = 10, rows = 100, cols = 20;
    constexpr Bytes all = Bytes(tiles * rows * cols * sizeof(double));
    std::vector<double> data(std::size_t(tiles * rows * cols), 1);
    trencadis::KeptData& kept = *on.engine->kept_data();
    const auto moved_by_a_call = [&] {
        const Bytes before = on.engine->traffic()[0].to;
        on.engine->run({}, [&](Flow& flow) {
            for (Index t = 0; t < tiles; ++t)
                flow.submit(reading, ReadArgs{}, {read(Datum(data.data() + t * rows * cols, rows, cols, rows, sizeof(double)))});
        });
        return on.engine->traffic()[0].to - before;
    };
    EXPECT_FALSE(kept.keeps());
    EXPECT_EQ(moved_by_a_call(), all);
    EXPECT_EQ(moved_by_a_call(), all);
    kept.keep(data.data(), all / 2);
    EXPECT_TRUE(kept.keeps());
    EXPECT_EQ(moved_by_a_call(), all);
    EXPECT_EQ(moved_by_a_call(), all / 2) << "the half that is not kept";
    kept.touch(data.data(), sizeof(double));
    EXPECT_EQ(moved_by_a_call(), all);
    EXPECT_EQ(moved_by_a_call(), all / 2);
    kept.touch_kept(data.data());
    EXPECT_EQ(moved_by_a_call(), all);
    kept.leave(data.data());
    EXPECT_FALSE(kept.keeps());
    EXPECT_EQ(moved_by_a_call(), all);
}

TEST(KeptByADevice, IsForgottenWhereAnotherFlowHasTheSameMemoryInOtherTiles)
{
    EngineOnDevices on("emulated", "eager", 1, 2);
    constexpr Index rows = 100, cols = 20;
    std::vector<double> data(std::size_t(rows * cols), 1);
    on.engine->kept_data()->keep(data.data(), double(rows * cols) * sizeof(double));
    const auto part = [&](Index first, Index width) {
        return Datum(data.data() + first * rows, rows, width, rows, sizeof(double));
    };
    const auto moved_by_a_call = [&] { // in tiles that nobody else has
        const Bytes before = on.engine->traffic()[0].to;
        on.engine->run({}, [&](Flow& flow) { flow.submit(reading, ReadArgs{}, {read(part(5, 10))}); });
        return on.engine->traffic()[0].to - before;
    };
    constexpr Bytes once = Bytes(rows * 10 * sizeof(double));
    EXPECT_EQ(moved_by_a_call(), once);
    EXPECT_EQ(moved_by_a_call(), 0);
    const std::unique_ptr<Flow> open = on.engine->open_flow({});
    const Bytes before = on.engine->traffic()[0].to;
    open->submit(reading, ReadArgs{}, {read(part(0, 10))});
    while (on.engine->traffic()[0].to == before) std::this_thread::yield(); // ctest ends this if it never goes there
    EXPECT_EQ(moved_by_a_call(), once);
    EXPECT_EQ(moved_by_a_call(), once) << "the open flow might write there";
    open->wait();
    EXPECT_EQ(moved_by_a_call(), once);
    EXPECT_EQ(moved_by_a_call(), 0);
}

TEST(KeptByADevice, MakesWayWhereItBeginsLongBeforeWhatSharesItsMemory)
{
    EngineOnDevices on("emulated", "eager", 1, 2);
    constexpr Index rows = 100, cols = 20;
    std::vector<double> data(std::size_t(rows * cols), 1);
    on.engine->kept_data()->keep(data.data(), double(rows * cols) * sizeof(double));
    const auto moved = [&](Index first, Index width) { // in columns
        const Bytes before = on.engine->traffic()[0].to;
        const Datum part(data.data() + first * rows, rows, width, rows, sizeof(double));
        on.engine->run({}, [&](Flow& flow) { flow.submit(reading, ReadArgs{}, {read(part)}); });
        return (on.engine->traffic()[0].to - before) / Bytes(rows * sizeof(double));
    };
    for (const Index one : {11, 12, 13, 0}) EXPECT_EQ(moved(one, 1), 1);
    EXPECT_EQ(moved(1, 10), 10);
    EXPECT_EQ(moved(1, 10), 0);
    EXPECT_EQ(moved(9, 1), 1);
    for (const Index one : {11, 12, 13, 0}) EXPECT_EQ(moved(one, 1), 0) << "it shares no memory with any of these";
    EXPECT_EQ(moved(1, 10), 10) << "a part of it was used under another name";
    EXPECT_EQ(moved(9, 1), 1) << "it lies in the longer one";
}

/// Adds one to each element, on devices alone.
struct AddOneArgs {
    Index count;
    std::atomic<int>* done;
    Flops flops() const { return double(count); }
    void run_on_device(TaskContext& context) const
    {
        double* const block = static_cast<double*>(context.operand(0).data);
        static_cast<const QueueKernels*>(context.kernels())->queue->enqueue(flops(), [*this, block](const BlockMap& map) {
            double* const x = static_cast<double*>(map.at(block));
            for (Index i = 0; i < count; ++i) x[i] += 1;
            done->fetch_add(1);
        });
    }
};
constexpr Codelet adding = codelet_of<AddOneArgs>("add");

/// A tile takes 20 ms to come home, and the caller is asked as often. The first call brings all there, the second one's results
/// are ready at once.
TEST(KeptByADevice, IsForgottenWhereACallWasStoppedWhileItsResultsCameHome)
{
    constexpr Index tiles = 12, rows = 100, cols = 100, each = rows * cols;
    EngineOnDevices on("emulated,bandwidth=4MB/s", "eager", 1, 2);
    std::vector<double> data(std::size_t(tiles * each));
    trencadis::KeptData& kept = *on.engine->kept_data();
    kept.keep(data.data(), Bytes(data.size() * sizeof(double)));
    std::atomic<int> done{0};
    const auto add_one = [&](const std::function<bool()>& ask) {
        done = 0;
        on.engine->run({.interrupted = &ask}, [&](Flow& flow) {
            for (Index t = 0; t < tiles; ++t)
                flow.submit(adding, AddOneArgs{each, &done},
                            {Access{Datum(data.data() + t * each, rows, cols, rows, sizeof(double)), AccessMode::readwrite}});
        });
    };
    bool left_out = false;
    const Deadline deadline;
    while (!left_out && !deadline.passed()) {
        std::ranges::fill(data, 1);
        kept.touch_kept(data.data());
        add_one([] { return false; });
        EXPECT_THROW(add_one([&] { return done == tiles; }), Error);
        std::vector<double> expected = data;
        left_out = std::ranges::find(expected, 2) != expected.end();
        for (double& x : expected) x += 1;
        add_one([] { return false; });
        ASSERT_EQ(data, expected) << "what is there is what is at home, not what was on its way";
    }
    EXPECT_TRUE(left_out);
}

/// Begins to write, then gives up.
struct GiveUpArgs {
    Flops flops() const { return 1e3; }
    void run_on_device(TaskContext& context) const
    {
        static_cast<const QueueKernels*>(context.kernels())->queue->enqueue(flops(), [](const BlockMap&) {});
        throw std::runtime_error("half way");
    }
};
constexpr Codelet giving_up = codelet_of<GiveUpArgs>("give up");

TEST(KeptByADevice, IsForgottenWhenATaskThatWroteItFailed)
{
    EngineOnDevices on("emulated", "eager", 1, 2);
    constexpr Index rows = 100, cols = 20;
    constexpr Bytes whole = Bytes(rows * cols * sizeof(double));
    std::vector<double> data(std::size_t(rows * cols), 1);
    const Datum datum(data.data(), rows, cols, rows, sizeof(double));
    on.engine->kept_data()->keep(data.data(), whole);
    const auto moved_by_a_call = [&](const auto& codelet, const auto& args, const Access& access) {
        const Bytes before = on.engine->traffic()[0].to;
        on.engine->run({}, [&](Flow& flow) { flow.submit(codelet, args, {access}); });
        return on.engine->traffic()[0].to - before;
    };
    EXPECT_EQ(moved_by_a_call(reading, ReadArgs{}, read(datum)), whole);
    EXPECT_EQ(moved_by_a_call(reading, ReadArgs{}, read(datum)), 0);
    EXPECT_THROW(moved_by_a_call(giving_up, GiveUpArgs{}, readwrite(datum)), std::runtime_error);
    EXPECT_EQ(moved_by_a_call(reading, ReadArgs{}, read(datum)), whole) << "what is at home is the caller's to mend";
}

TEST_F(KeptData, IsBroughtAnewWhenItsOwnerHasWritten)
{
    kept().keep(A.at.data(), whole);
    for (int round = 0; round < 30; ++round) {
        expect_right(40);
        A.at[std::size_t(round * n)] += 1;
        if (round % 2) kept().touch_kept(A.at.data());
        else kept().touch(A.at.data() + n * n - 1, sizeof(double));
    }
}

TEST_F(KeptData, MakesWayForOtherTilesOfTheSameMemory)
{
    kept().keep(A.at.data(), whole);
    for (int round = 0; round < 30; ++round) {
        expect_right(40);
        expect_right(60);
        expect_right(n);
        // In place, by cores and devices, through other tiles than before.
        const std::vector<double> before = A.at;
        on.run([&](Flow& flow) { gemm(flow, 0.0, B.tiles(48), B.tiles(48), -1.0, A.tiles(48)); });
        for (std::size_t i = 0; i < before.size(); ++i) ASSERT_EQ(A.at[i], -before[i]);
    }
}

TEST_F(KeptData, IsNothingTwiceAndEndsWhereItBegan)
{
    kept().keep(A.at.data(), whole);
    EXPECT_THROW(kept().keep(A.at.data() + n, 8), Error);
    EXPECT_THROW(kept().keep(A.at.data(), whole), Error);
    EXPECT_THROW(kept().leave(A.at.data() + n), Error);
    EXPECT_THROW(kept().touch_kept(B.at.data()), Error);
    kept().touch(B.at.data(), whole); // nothing is kept there
    kept().leave(A.at.data());
    EXPECT_THROW(kept().leave(A.at.data()), Error);
    EXPECT_EQ(OnDevices("", "eager", 1).engine().kept_data(), nullptr);
}

} // namespace
} // namespace trencadis::testing
