// OS threads that GLT did not create: they create, join, lock and resume as far as the back end says so.
#include "suite.hpp"

namespace trencadis::suite {
namespace {

GLT_SUITE(ForeignTest);

TEST_P(ForeignTest, AreOnNoThreadAndNoUnit)
{
    Foreign([] {
        EXPECT_EQ(glt_get_thread_num(), -1);
        GLT_thread_id id = 7;
        glt_workunit_get_thread_id(&id);
        EXPECT_EQ(id, -1);
        GLT_ult unit;
        glt_ult_self(&unit);
        EXPECT_EQ(unit, GLT_ult{});
        GLT_tasklet tasklet;
        glt_tasklet_self(&tasklet);
        EXPECT_EQ(tasklet, GLT_tasklet{});
        glt_yield();
        EXPECT_GT(glt_get_wtime(), 0);
    });
    EXPECT_EQ(glt_get_thread_num(), 0);
}

TEST_P(ForeignTest, MayNotSuspendOrMigrate)
{
    Foreign([] {
        const int right = glt_can(GLT_CAN_SUSPEND) == GLT_CANNOT ? GLT_ERROR_UNSUPPORTED : GLT_ERROR_CONTEXT;
        EXPECT_EQ(glt_ult_suspend(), right);
        EXPECT_EQ(glt_last_status(), right);
        EXPECT_EQ(taken_status(), right);
        glt_ult_migrate_self_to(0);
        EXPECT_EQ(glt_last_status(), glt_can(GLT_CAN_MIGRATE) == GLT_CANNOT ? GLT_ERROR_UNSUPPORTED : GLT_ERROR_CONTEXT);
        take_reports();
    });
}

/// Where a foreign thread may not create units, it says so for ULTs and for tasklets.
bool can_create()
{
    auto body = [] {};
    bool can = true;
    Foreign([&] {
        GLT_ult unit = GLT_NULL;
        GLT_tasklet tasklet = GLT_NULL;
        can = can_or_refuses(GLT_CAN_FOREIGN_CREATE, [&] { glt_ult_create(call_body<decltype(body)>, &body, &unit); });
        if (can) return;
        can_or_refuses(GLT_CAN_FOREIGN_CREATE, [&] { glt_tasklet_create(call_body<decltype(body)>, &body, &tasklet); });
        EXPECT_EQ(unit, GLT_ult{});
        EXPECT_EQ(tasklet, GLT_tasklet{});
    });
    return can;
}

TEST_P(ForeignTest, CreateUnitsThatOthersJoin)
{
    if (!can_create()) return;
    constexpr int count = 200;
    std::atomic<int> runs = 0, on_threads = 0;
    auto body = [&] {
        runs++;
        on_threads += glt_get_thread_num() >= 0 && glt_get_thread_num() < threads();
    };
    std::vector<GLT_ult> units(count);
    Foreign([&] {
        for (GLT_ult& unit : units) unit = create(body);
    });
    for (GLT_ult& unit : units) glt_ult_free(&unit);
    EXPECT_EQ(runs, count);
    EXPECT_EQ(on_threads, count);
}

TEST_P(ForeignTest, CreateAndJoinSeveralAtOnce)
{
    if (!can_create()) return;
    bool can_wait = true;
    Counter zero(0);
    Foreign([&] { can_wait = can_or_refuses(GLT_CAN_FOREIGN_WAIT, [&] { glt_counter_wait(zero.handle); }); });
    if (!can_wait) return;
    std::atomic<int> runs = 0;
    const int rounds = scaled(40);
    const auto work = [&] {
        auto body = [&] { runs++; };
        for (int i = 0; i < rounds; ++i) {
            GLT_ult unit = create(body);
            GLT_tasklet tasklet = create_tasklet(body);
            glt_ult_join(&unit);
            glt_ult_free(&unit);
            glt_tasklet_free(&tasklet);
        }
    };
    {
        Foreign one(work), two(work), three(work);
    }
    EXPECT_EQ(runs, 3 * 2 * rounds);
}

TEST_P(ForeignTest, CreateWhileTheMainProgramWaits)
{
    if (!can_create()) return;
    Counter left(100);
    Foreign creator([&] {
        for (int i = 0; i < 100; ++i) {
            const auto body = [](void* counter) {
                EXPECT_EQ(glt_counter_add(static_cast<Counter*>(counter)->handle, -1), GLT_SUCCESS);
            };
            GLT_attributes attributes;
            glt_attributes_init(&attributes);
            attributes.detached = 1;
            EXPECT_EQ(glt_ult_create_with(body, &left, &attributes, GLT_NULL), GLT_SUCCESS);
            if (i % 10 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200)); // all may go to sleep meanwhile
        }
    });
    left.wait();
}

TEST_P(ForeignTest, AskForUnitsWithoutWaiting)
{
    Event gate;
    auto body = [&] { gate.wait(); };
    GLT_ult unit = create(body);
    Foreign([&] {
        GLT_ult_id id = 0;
        glt_ult_get_id(&id, unit);
        EXPECT_NE(id, 0u);
        if (glt_can(GLT_CAN_FOREIGN_WAIT) != GLT_CANNOT) {
            EXPECT_EQ(glt_ult_try_join(&unit), GLT_BUSY);
        }
    });
    gate.set();
    glt_ult_free(&unit);
}

} // namespace
} // namespace trencadis::suite
