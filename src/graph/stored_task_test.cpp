#include "graph/stored_task.hpp"

#include "base/error.hpp"
#include "graph/task_context.hpp"

#include <gmock/gmock.h>

#include <cfenv>
#include <memory>
#include <vector>

namespace trencadis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Keeps what it is given.
class Keeper final : public Flow {
public:
    std::vector<std::unique_ptr<StoredTask>> tasks;
    void wait() override {}
    void cancel() override {}
    bool cancelled() const override { return false; }

private:
    void take(const Codelet& codelet, const Arguments& arguments, std::span<const Access> accesses,
              const TaskOptions& options) override
    {
        tasks.push_back(std::make_unique<StoredTask>(codelet, arguments, accesses, options));
    }
};

struct Scale {
    double by;
    Index count;
    void run(TaskContext& context)
    {
        const Operand to = context.operand(0);
        while (const Chunks chunks = context.team().next())
            for (Index i = chunks.begin; i < chunks.end; ++i) static_cast<double*>(to.data)[i * to.ld] *= by;
    }
    Flops flops() const { return double(count); }
    Index chunks() const { return count; }
};
constexpr Codelet scale = codelet_of<Scale>("scale");

TEST(StoredTasks, RunWhereTheirOperandsAre)
{
    double home[3] = {1, 2, 3}, copy[6] = {1, -1, 2, -1, 3, -1};
    Keeper flow;
    flow.submit(scale, Scale{10, 3}, {readwrite(home, sizeof home)}, {.label = "ten", .priority = 4});
    StoredTask& task = *flow.tasks.front();
    EXPECT_STREQ(task.label(), "ten");
    EXPECT_EQ(task.priority(), 4);
    EXPECT_EQ(task.flops(), 3);
    const Operand elsewhere{copy, 2};
    task.run(ComputeUnit{}, 0, {&elsewhere, 1}, flow);
    EXPECT_THAT(copy, ElementsAre(10, -1, 20, -1, 30, -1));
    EXPECT_THAT(home, ElementsAre(1, 2, 3));
}

TEST(StoredTasks, KeepWhatMovedInUntilTheyEnd)
{
    const auto kept = std::make_shared<int>(1);
    Keeper flow;
    flow.submit("task", [kept] { ++*kept; }, {});
    EXPECT_EQ(kept.use_count(), 2);
    flow.tasks.front()->run(ComputeUnit{}, 0, {}, flow);
    EXPECT_EQ(*kept, 2);
    flow.tasks.clear();
    EXPECT_EQ(kept.use_count(), 1);
}

TEST(StoredTasks, NameEachDatumOnceInTheStrongerMode)
{
    double a = 0, b = 0;
    Keeper flow;
    flow.submit("task", [] {}, {read(&a), commute(&b), write(&a), commute(&b)});
    std::vector<std::pair<const void*, AccessMode>> seen;
    flow.tasks.front()->for_each_datum([&](const Datum& datum, AccessMode mode) { seen.emplace_back(datum.address, mode); });
    EXPECT_THAT(seen, ElementsAre(std::pair<const void*, AccessMode>(&a, AccessMode::readwrite),
                                  std::pair<const void*, AccessMode>(&b, AccessMode::commute)));
}

TEST(StoredTasks, NameADatumAsLargeAsTheOperandThatHoldsTheOthers)
{
    double a = 0;
    const auto part = [&a](Index rows, Index cols) { return Datum(&a, rows, cols, 8, sizeof a); };
    Keeper flow;
    flow.submit("task", [] {}, {read(part(7, 8)), read(part(8, 8)), read(part(1, 8))});
    flow.submit("across", [] {}, {read(part(7, 8)), read(part(8, 7))});
    flow.submit("opaque", [] {}, {read(&a, 8), read(&a, 16)});
    std::vector<Bytes> seen;
    for (const auto& task : flow.tasks)
        task->for_each_datum([&](const Datum& datum, AccessMode) { seen.push_back(datum.bytes()); });
    EXPECT_THAT(seen, ElementsAre(512, 448, 16));
}

TEST(StoredTasks, SubmitInsideThemselves)
{
    std::vector<int> order;
    Keeper flow;
    flow.submit("outer",
                [&](TaskContext& context) {
                    context.flow().submit("inner", [&] { order.push_back(1); }, {});
                    order.push_back(2);
                },
                {});
    flow.tasks.front()->run(ComputeUnit{}, 0, {}, flow);
    EXPECT_THAT(order, ElementsAre(1, 2));
}

TEST(StoredTasks, ComputeInTheModesOfTheirSubmitterAndSayWhatTheyRaised)
{
    Keeper flow;
    volatile double third = 0;
    std::fesetround(FE_UPWARD);
    flow.submit("divide", [&] { third = 1.0 / (3.0 + 0 * third); }, {});
    std::fesetround(FE_TONEAREST);
    EXPECT_NE(flow.tasks.front()->run(ComputeUnit{}, 0, {}, flow), FloatModes::Raised{0}) << "inexact";
    EXPECT_GT(third, 1.0 / 3.0);
}

struct OnDevices {
    int* ran;
    void run_on_device(TaskContext&) { ++*ran; }
    bool can_run_on(const ComputeUnit& unit) const { return unit.memory > 0; }
};
constexpr Codelet on_devices = codelet_of<OnDevices>("on_devices");

TEST(StoredTasks, RunOnUnitsThatTheirCodeletHasAnImplementationFor)
{
    int ran = 0;
    Keeper flow;
    flow.submit(on_devices, OnDevices{&ran}, std::initializer_list<Access>{});
    StoredTask& task = *flow.tasks.front();
    const ComputeUnit core, other{UnitKind::device, 0}, able{UnitKind::device, 1};
    EXPECT_FALSE(task.can_run_on(core));
    EXPECT_FALSE(task.can_run_on(other)) << "the codelet says which devices";
    ASSERT_TRUE(task.can_run_on(able));
    task.run(able, 0, {}, flow);
    EXPECT_EQ(ran, 1);
    try {
        task.run(core, 0, {}, flow);
        FAIL() << "there is no implementation for it";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::missing_backend);
        EXPECT_THAT(error.what(), HasSubstr("'on_devices' cannot run on a core"));
    }
}

TEST(StoredTasks, AreNoneOfDataThatAreNamesAlone)
{
    Keeper flow;
    double x = 0;
    try {
        flow.submit("reader", [] {}, {read(Datum(&x, Bytes(sizeof x)).at_home(named_only))});
        FAIL() << "nothing lies there";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_argument);
        EXPECT_THAT(error.what(), HasSubstr("task 'reader' names a datum that has no memory behind it"));
    }
    EXPECT_TRUE(flow.tasks.empty());
}

struct LooksAround {
    static constexpr bool at_home = true;
    const int* somewhere;
    void run(TaskContext&) {}
};
constexpr Codelet looks_around = codelet_of<LooksAround>("looks_around");

TEST(StoredTasks, StayAtHomeIfTheyHoldAddresses)
{
    const int datum = 0;
    Keeper flow;
    flow.submit(looks_around, LooksAround{&datum}, std::initializer_list<Access>{});
    flow.submit("callable", [&datum] { EXPECT_EQ(datum, 0); }, {});
    const ComputeUnit home, away{.memory = 1};
    for (const auto& task : flow.tasks) {
        EXPECT_TRUE(task->can_run_on(home)) << task->label();
        EXPECT_FALSE(task->can_run_on(away)) << task->label();
    }
    try {
        flow.tasks.front()->run(away, 0, {}, flow);
        FAIL() << "it would have looked where nothing is";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::missing_backend);
        EXPECT_THAT(error.what(), HasSubstr("'looks_around' cannot run on a core outside the process's memory"));
    }
}

} // namespace
} // namespace trencadis
