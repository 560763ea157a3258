// Units: created once, run once, joined once, freed; their numbers and attributes.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <set>

#include "suite.hpp"

namespace trencadis::suite {
namespace {

GLT_SUITE(UnitTest);

TEST_P(UnitTest, EachRunsOnceWithItsArgument)
{
    constexpr int count = 1000;
    std::vector<std::atomic<int>> runs(count);
    std::vector<GLT_ult> units(count);
    for (int i = 0; i < count; ++i)
        glt_ult_create([](void* run) { static_cast<std::atomic<int>*>(run)->fetch_add(1); }, &runs[i], &units[i]);
    for (GLT_ult& unit : units) {
        ASSERT_NE(unit, GLT_ult{});
        glt_ult_join(&unit);
    }
    for (const auto& run : runs) ASSERT_EQ(run.load(), 1);
    for (GLT_ult& unit : units) {
        glt_ult_free(&unit);
        ASSERT_EQ(unit, GLT_ult{}) << "free sets the handle to null";
    }
}

TEST_P(UnitTest, CanBeMadeUnderThePublishedNames)
{
    std::atomic<int> runs{0};
    const auto body = [](void* counted) { static_cast<std::atomic<int>*>(counted)->fetch_add(1); };
    GLT_ult units[2];
    GLT_tasklet tasklets[2];
    glt_ult_creation(body, &runs, &units[0]);
    glt_ult_creation_to(body, &runs, &units[1], 0);
    glt_tasklet_creation(body, &runs, &tasklets[0]);
    glt_tasklet_creation_to(body, &runs, &tasklets[1], 0);
    for (GLT_ult& unit : units) {
        glt_ult_join(&unit);
        glt_ult_free(&unit);
    }
    for (GLT_tasklet& tasklet : tasklets) {
        glt_tasklet_join(&tasklet);
        glt_tasklet_free(&tasklet);
    }
    EXPECT_EQ(runs.load(), 4);
}

TEST_P(UnitTest, HandlesFromMallocAreNull)
{
    GLT_ult* units = glt_ult_malloc(100);
    GLT_tasklet* tasklets = glt_tasklet_malloc(100);
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(units[i], GLT_ult{});
        EXPECT_EQ(tasklets[i], GLT_tasklet{});
    }
    free(units);
    free(tasklets);
}

TEST_P(UnitTest, AreJoinedAndFreedInAnyOrder)
{
    constexpr int count = 300;
    std::atomic<int> runs = 0;
    auto body = [&] {
        if (runs.fetch_add(1) % 3 == 0) glt_yield();
    };
    std::vector<GLT_ult> units(count);
    for (GLT_ult& unit : units) unit = create(body);
    std::vector<int> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::mt19937 random(7);
    std::shuffle(order.begin(), order.end(), random);
    for (int i : order) glt_ult_join(&units[i]);
    EXPECT_EQ(runs, count);
    std::shuffle(order.begin(), order.end(), random);
    for (int i : order) glt_ult_free(&units[i]);
}

TEST_P(UnitTest, FreeJoinsAUnitThatWasNotJoined)
{
    std::atomic<bool> ended = false;
    auto body = [&] {
        for (int i = 0; i < 20; ++i) glt_yield();
        ended = true;
    };
    GLT_ult unit = create(body);
    glt_ult_free(&unit);
    EXPECT_TRUE(ended);
    EXPECT_EQ(unit, GLT_ult{});
}

TEST_P(UnitTest, AreJoinedByOtherUnits)
{
    constexpr int count = 50;
    std::vector<GLT_ult> first(count);
    std::vector<int> value(count, 0);
    std::atomic<int> next = 0;
    auto produce = [&] {
        const int i = next.fetch_add(1);
        glt_yield();
        value[i] = i + 1;
    };
    for (GLT_ult& unit : first) unit = create(produce);
    std::atomic<long> sum = 0;
    run_units(count, [&](int i) {
        glt_ult_join(&first[i]);
        glt_ult_free(&first[i]);
        sum += i + 1;
    });
    EXPECT_EQ(std::accumulate(value.begin(), value.end(), 0L), count * (count + 1) / 2) << "what a unit wrote, its joiner sees";
    EXPECT_EQ(sum, count * (count + 1) / 2);
}

TEST_P(UnitTest, TryJoinAnswersBusyUntilTheUnitHasEnded)
{
    Event gate;
    auto body = [&] { gate.wait(); };
    GLT_ult unit = create(body);
    for (int i = 0; i < 10; ++i) {
        ASSERT_EQ(glt_ult_try_join(&unit), GLT_BUSY);
        glt_yield();
    }
    gate.set();
    yield_until([&] { return glt_ult_try_join(&unit) == GLT_SUCCESS; });
    glt_ult_free(&unit);
}

TEST_P(UnitTest, JoinForTimesOutAndTheUnitIsStillToBeJoined)
{
    Event gate;
    auto body = [&] { gate.wait(); };
    GLT_ult unit = create(body);
    EXPECT_EQ(glt_ult_join_for(&unit, 0.0), GLT_TIMEOUT);
    EXPECT_EQ(glt_ult_join_for(&unit, 0.01), GLT_TIMEOUT);
    gate.set();
    EXPECT_EQ(glt_ult_join_for(&unit, 10.0), GLT_SUCCESS);
    glt_ult_free(&unit);
}

TEST_P(UnitTest, DetachedOnesRunAndNobodyJoinsThem)
{
    constexpr int count = 100;
    Counter left(count);
    Event gate;
    auto body = [&] {
        gate.wait();
        left.add(-1);
    };
    for (int i = 0; i < count; ++i) {
        GLT_ult unit = create(body);
        ASSERT_EQ(glt_ult_detach(&unit), GLT_SUCCESS);
        ASSERT_EQ(unit, GLT_ult{});
    }
    gate.set();
    left.wait();
    // One that has ended before it is detached goes the same way.
    auto empty = [] {};
    GLT_ult unit = create(empty);
    for (int i = 0; i < 100; ++i) glt_yield();
    EXPECT_EQ(glt_ult_detach(&unit), GLT_SUCCESS);
}

TEST_P(UnitTest, AreBornDetachedWithoutAHandle)
{
    Counter left(0);
    std::atomic<int> runs = 0;
    auto body = [&] { runs++; };
    GLT_attributes attributes;
    glt_attributes_init(&attributes);
    attributes.detached = 1;
    attributes.counter = left.handle;
    for (int i = 0; i < 100; ++i)
        ASSERT_EQ(glt_ult_create_with(call_body<decltype(body)>, &body, &attributes, GLT_NULL), GLT_SUCCESS);
    left.wait();
    EXPECT_EQ(runs, 100);
}

TEST_P(UnitTest, StandardAttributesAreThoseOfThePlainCall)
{
    GLT_attributes attributes;
    std::memset(&attributes, 0x5a, sizeof(attributes));
    glt_attributes_init(&attributes);
    EXPECT_EQ(attributes.stack_size, 0u);
    EXPECT_EQ(attributes.thread, GLT_ANY_THREAD);
    EXPECT_EQ(attributes.placement, GLT_PLACE_HINT);
    EXPECT_EQ(attributes.detached, 0);
    EXPECT_EQ(attributes.counter, GLT_counter{});
    EXPECT_EQ(attributes.name, nullptr);
    std::atomic<int> runs = 0;
    auto body = [&] { runs++; };
    GLT_ult unit = GLT_NULL;
    EXPECT_EQ(glt_ult_create_with(call_body<decltype(body)>, &body, &attributes, &unit), GLT_SUCCESS);
    glt_ult_free(&unit);
    EXPECT_EQ(glt_ult_create_with(call_body<decltype(body)>, &body, nullptr, &unit), GLT_SUCCESS)
        << "no attributes: standard ones";
    glt_ult_free(&unit);
    EXPECT_EQ(runs, 2);
}

TEST_P(UnitTest, HaveIdsThatAreNeverUsedTwice)
{
    std::set<GLT_ult_id> ids;
    GLT_ult self = GLT_NULL;
    GLT_ult_id id = 0;
    glt_ult_self(&self);
    glt_ult_get_id(&id, self);
    ids.insert(id);
    constexpr int rounds = 5, count = 100;
    for (int round = 0; round < rounds; ++round) {
        std::vector<GLT_ult_id> inside(count);
        Units units(count, [&](int i) {
            GLT_ult me = GLT_NULL;
            glt_ult_self(&me);
            glt_ult_get_id(&inside[i], me);
        });
        std::vector<GLT_ult_id> outside(count);
        for (int i = 0; i < count; ++i) glt_ult_get_id(&outside[i], units.handle(i));
        units.wait();
        EXPECT_EQ(inside, outside) << "a unit's own handle names the same unit as its creator's";
        ids.insert(inside.begin(), inside.end());
    }
    EXPECT_EQ(ids.size(), 1u + rounds * count);
}

TEST_P(UnitTest, TheMainProgramIsAUnitToo)
{
    GLT_ult self = GLT_NULL, again = GLT_NULL;
    glt_ult_self(&self);
    EXPECT_NE(self, GLT_ult{});
    run_units(10, [&](int) {
        GLT_ult unit = GLT_NULL;
        glt_ult_self(&unit);
        EXPECT_TRUE(unit != GLT_ult{} && unit != self);
    });
    glt_ult_self(&again);
    EXPECT_EQ(self, again);
    EXPECT_EQ(glt_get_thread_num(), 0);
    GLT_thread_id id = -7;
    glt_workunit_get_thread_id(&id);
    EXPECT_EQ(id, 0);
}

TEST_P(UnitTest, CreateUnitsThatCreateUnits)
{
    std::atomic<int> leaves = 0;
    run_units(8, [&](int) { run_units(8, [&](int) { run_units(4, [&](int) { leaves++; }); }); });
    EXPECT_EQ(leaves, 8 * 8 * 4);
}

TEST_P(UnitTest, GetTheStackTheyAskFor)
{
    GLT_attributes attributes;
    glt_attributes_init(&attributes);
    attributes.stack_size = 4 << 20;
    std::atomic<bool> ended = false;
    auto body = [&] {
        use_stack(sanitized ? 1000 : 3000);
        ended = true;
    };
    GLT_ult unit = GLT_NULL;
    const auto make = [&] { return glt_ult_create_with(call_body<decltype(body)>, &body, &attributes, &unit); };
    if (!can_or_refuses(GLT_CAN_STACK_SIZE, make)) return;
    ASSERT_EQ(make(), GLT_SUCCESS);
    glt_ult_free(&unit);
    EXPECT_TRUE(ended);
}

} // namespace
} // namespace trencadis::suite
