// Threads and where units run: numbers, placement, stealing, migration.
#include <map>
#include <mutex>

#include "suite.hpp"

namespace trencadis::suite {
namespace {

GLT_SUITE(PlacementTest);

TEST_P(PlacementTest, NumbersOfThreadsAreInRange)
{
    EXPECT_EQ(glt_get_num_threads(), threads());
    std::atomic<int> wrong = 0;
    run_units(200, [&](int) {
        GLT_thread_id id = -7;
        glt_workunit_get_thread_id(&id);
        wrong += id < 0 || id >= threads() || id != glt_get_thread_num();
    });
    EXPECT_EQ(wrong, 0);
}

TEST_P(PlacementTest, ANumberAlwaysMeansTheSameOSThread)
{
    if (unit_is_os_thread()) GTEST_SKIP() << "every unit is an OS thread of its own here";
    std::mutex mutex;
    std::map<int, int> os_thread_of = {{0, os_thread()}};
    std::atomic<int> changed = 0;
    run_units(64, [&](int) {
        for (int i = 0; i < 30; ++i) { // in one function, so that a compiler may remember what it must ask again
            const int number = glt_get_thread_num(), os = os_thread();
            {
                const std::lock_guard lock(mutex);
                changed += os_thread_of.try_emplace(number, os).first->second != os;
            }
            glt_yield();
        }
    });
    EXPECT_EQ(changed, 0);
    EXPECT_LE(static_cast<int>(os_thread_of.size()), threads());
}

TEST_P(PlacementTest, CreateToRunsWhereAsked)
{
    constexpr int rounds = 20;
    std::atomic<int> wrong = 0, ran = 0;
    struct Task {
        std::atomic<int>*wrong, *ran;
        int thread;
    };
    const auto body = [](void* argument) {
        const Task& task = *static_cast<Task*>(argument);
        for (int i = 0; i < 5; ++i) {
            *task.wrong += glt_get_thread_num() != task.thread;
            glt_yield();
        }
        ++*task.ran;
    };
    std::vector<Task> tasks;
    for (int i = 0; i < rounds * threads(); ++i) tasks.push_back({&wrong, &ran, i % threads()});
    std::vector<GLT_ult> units(tasks.size());
    const auto refused = [&] { glt_ult_create_to(body, &tasks.back(), &units.back(), threads() - 1); };
    if (!can_or_refuses(GLT_CAN_PLACE, refused)) return;
    for (std::size_t i = 0; i < tasks.size(); ++i) glt_ult_create_to(body, &tasks[i], &units[i], tasks[i].thread);
    for (GLT_ult& unit : units) glt_ult_free(&unit);
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(ran, rounds * threads());
}

TEST_P(PlacementTest, StrictPlacementHoldsAndAHintIsServedToo)
{
    std::atomic<int> wrong = 0, hinted = 0;
    for (int thread = 0; thread < threads(); ++thread) {
        GLT_attributes attributes;
        glt_attributes_init(&attributes);
        attributes.thread = thread;
        attributes.placement = GLT_PLACE_STRICT;
        GLT_ult unit = GLT_NULL;
        auto strict = [&] { wrong += glt_get_thread_num() != thread; };
        const auto make = [&] { return glt_ult_create_with(call_body<decltype(strict)>, &strict, &attributes, &unit); };
        if (!can_or_refuses(GLT_CAN_PLACE, make)) return;
        ASSERT_EQ(make(), GLT_SUCCESS);
        glt_ult_free(&unit);
        attributes.placement = GLT_PLACE_HINT;
        auto hint = [&] { hinted++; };
        ASSERT_EQ(glt_ult_create_with(call_body<decltype(hint)>, &hint, &attributes, &unit), GLT_SUCCESS);
        glt_ult_free(&unit);
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(hinted, threads());
}

TEST_P(PlacementTest, UnitsForABusyThreadWaitForIt)
{
    if (glt_can(GLT_CAN_PLACE) == GLT_CANNOT || threads() == 1) return; // nobody else could take them anyway
    std::atomic<bool> ran = false;
    auto body = [&] { ran = glt_get_thread_num() == 0; };
    GLT_ult unit = create_to(body, 0);
    if (!unit_is_os_thread()) {
        spin_for(0.005); // thread 0 is this one and does not yield
        EXPECT_FALSE(ran);
    }
    glt_ult_free(&unit);
    EXPECT_TRUE(ran);
}

TEST_P(PlacementTest, IdleThreadsTakeUnitsFromABusyOne)
{
    if (threads() == 1) return; // nobody to take them
    std::atomic<bool> taken = false;
    auto body = [&] { taken = true; };
    GLT_ult unit = create(body);
    if (glt_can(GLT_CAN_STEAL) != GLT_CANNOT)
        while (!taken) spin_for(0.001); // this thread does not yield: only another one can have run it
    glt_ult_free(&unit);
    EXPECT_TRUE(taken);
}

TEST_P(PlacementTest, WithoutStealingUnitsStayWhereTheyWereCreated)
{
    if (glt_can(GLT_CAN_STEAL) != GLT_CANNOT) return; // IdleThreadsTakeUnitsFromABusyOne is the test then
    std::atomic<int> elsewhere = 0;
    run_units(100, [&](int) { elsewhere += glt_get_thread_num() != 0; });
    EXPECT_EQ(elsewhere, 0);
}

TEST_P(PlacementTest, AUnitMigratesToEveryThread)
{
    std::atomic<int> wrong = 0;
    bool refused = false;
    auto body = [&] {
        if (!can_or_refuses(GLT_CAN_MIGRATE, [] { glt_ult_migrate_self_to(0); })) {
            refused = true;
            return;
        }
        for (int round = 0; round < 10; ++round)
            for (int thread = threads() - 1; thread >= 0; --thread) {
                glt_ult_migrate_self_to(thread);
                wrong += glt_get_thread_num() != thread;
            }
    };
    GLT_ult unit = create(body);
    glt_ult_free(&unit);
    EXPECT_EQ(wrong, 0);
    EXPECT_TRUE(refused == (glt_can(GLT_CAN_MIGRATE) == GLT_CANNOT));
}

TEST_P(PlacementTest, TheMainProgramStaysOnThreadZero)
{
    if (threads() == 1 || glt_can(GLT_CAN_MIGRATE) == GLT_CANNOT) return; // AUnitMigratesToEveryThread has the refusal
    const int os = os_thread();
    glt_ult_migrate_self_to(1);
    EXPECT_EQ(glt_last_status(), GLT_ERROR_CONTEXT);
    EXPECT_EQ(taken_status(), GLT_ERROR_CONTEXT);
    EXPECT_EQ(glt_get_thread_num(), 0);
    EXPECT_EQ(os_thread(), os);
}

} // namespace
} // namespace trencadis::suite
