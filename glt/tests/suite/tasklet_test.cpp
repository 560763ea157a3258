// Tasklets: units without a stack where the library has such.
#include "suite.hpp"

namespace trencadis::suite {
namespace {

GLT_SUITE(TaskletTest);

TEST_P(TaskletTest, EachRunsOnceWithItsArgument)
{
    constexpr int count = 1000;
    std::vector<std::atomic<int>> runs(count);
    std::vector<GLT_tasklet> tasklets(count);
    for (int i = 0; i < count; ++i)
        glt_tasklet_create([](void* run) { static_cast<std::atomic<int>*>(run)->fetch_add(1); }, &runs[i], &tasklets[i]);
    for (GLT_tasklet& tasklet : tasklets) glt_tasklet_join(&tasklet);
    for (const auto& run : runs) ASSERT_EQ(run.load(), 1);
    for (GLT_tasklet& tasklet : tasklets) {
        glt_tasklet_free(&tasklet);
        ASSERT_EQ(tasklet, GLT_tasklet{});
    }
}

TEST_P(TaskletTest, FreeJoins)
{
    std::atomic<int> runs = 0;
    auto body = [&] {
        spin_for(1e-5);
        runs++;
    };
    for (int i = 1; i <= 50; ++i) {
        GLT_tasklet tasklet = create_tasklet(body);
        glt_tasklet_free(&tasklet);
        ASSERT_EQ(runs, i);
    }
}

TEST_P(TaskletTest, RunWhereAsked)
{
    std::atomic<int> wrong = 0;
    for (int thread = 0; thread < threads(); ++thread) {
        auto body = [&] { wrong += glt_get_thread_num() != thread; };
        GLT_tasklet tasklet = GLT_NULL;
        const auto make = [&] { glt_tasklet_create_to(call_body<decltype(body)>, &body, &tasklet, thread); };
        if (!can_or_refuses(GLT_CAN_PLACE, make)) return;
        make();
        glt_tasklet_free(&tasklet);
    }
    EXPECT_EQ(wrong, 0);
}

TEST_P(TaskletTest, AreAskedForTheirEndAndJoinedWithinATime)
{
    std::atomic<bool> release = false;
    auto body = [&] {
        while (!release) spin_for(1e-5);
    };
    if (threads() > 1 && glt_can(GLT_CAN_STEAL) != GLT_CANNOT) { // else it would keep this thread from asking
        GLT_tasklet tasklet = create_tasklet(body);
        EXPECT_EQ(glt_tasklet_try_join(&tasklet), GLT_BUSY);
        release = true;
        EXPECT_EQ(glt_tasklet_join_for(&tasklet, 10.0), GLT_SUCCESS);
        glt_tasklet_free(&tasklet);
    }
    release = true;
    GLT_tasklet tasklet = create_tasklet(body);
    yield_until([&] { return glt_tasklet_try_join(&tasklet) == GLT_SUCCESS; });
    glt_tasklet_free(&tasklet);
}

TEST_P(TaskletTest, DetachedOnesRun)
{
    Counter left(0);
    std::atomic<int> runs = 0;
    auto body = [&] { runs++; };
    GLT_attributes attributes;
    glt_attributes_init(&attributes);
    attributes.counter = left.handle;
    for (int i = 0; i < 100; ++i) {
        GLT_tasklet tasklet = GLT_NULL;
        attributes.detached = i % 2;
        ASSERT_EQ(glt_tasklet_create_with(call_body<decltype(body)>, &body, &attributes, i % 2 ? nullptr : &tasklet),
                  GLT_SUCCESS);
        if (i % 2 == 0) {
            ASSERT_EQ(glt_tasklet_detach(&tasklet), GLT_SUCCESS);
            EXPECT_EQ(tasklet, GLT_tasklet{});
        }
    }
    left.wait();
    EXPECT_EQ(runs, 100);
}

TEST_P(TaskletTest, KnowThemselvesAndTheirThread)
{
    std::atomic<int> wrong = 0;
    auto body = [&] {
        GLT_tasklet self = GLT_NULL;
        glt_tasklet_self(&self);
        wrong += self == GLT_tasklet{};
        wrong += glt_get_thread_num() < 0 || glt_get_thread_num() >= threads();
    };
    for (int i = 0; i < 20; ++i) {
        GLT_tasklet tasklet = create_tasklet(body);
        glt_tasklet_free(&tasklet);
    }
    EXPECT_EQ(wrong, 0);
    GLT_tasklet outside = create_tasklet(body);
    glt_tasklet_free(&outside);
    glt_tasklet_self(&outside);
    EXPECT_EQ(outside, GLT_tasklet{}) << "the main program is no tasklet";
}

TEST_P(TaskletTest, CreateResumeSetAndCountDown)
{
    Event done;
    Counter left(20);
    std::atomic<int> runs = 0;
    auto leaf = [&] {
        runs++;
        left.add(-1);
    };
    std::vector<GLT_ult> units(20);
    auto body = [&] {
        for (GLT_ult& unit : units) unit = create(leaf);
        done.set();
    };
    GLT_tasklet tasklet = create_tasklet(body);
    done.wait();
    left.wait();
    glt_tasklet_free(&tasklet);
    for (GLT_ult& unit : units) glt_ult_free(&unit);
    EXPECT_EQ(runs, 20);
}

TEST_P(TaskletTest, MayNotSuspendThemselves)
{
    std::atomic<int> answer = -1;
    auto body = [&] { answer = glt_ult_suspend(); };
    GLT_tasklet tasklet = create_tasklet(body);
    glt_tasklet_free(&tasklet);
    const int right = glt_can(GLT_CAN_SUSPEND) == GLT_CANNOT ? GLT_ERROR_UNSUPPORTED : GLT_ERROR_CONTEXT;
    EXPECT_EQ(answer, right);
    EXPECT_EQ(taken_status(), right);
}

TEST_P(TaskletTest, ThatWouldWaitAreToldSo)
{
    if (glt_can(GLT_CAN_TASKLET) != GLT_NATIVELY) return; // with a stack they may wait
    Event never;
    std::atomic<int> answer = -1;
    auto body = [&] { answer = glt_event_wait(never.handle); };
    GLT_tasklet tasklet = create_tasklet(body);
    glt_tasklet_free(&tasklet);
    EXPECT_EQ(answer, GLT_ERROR_CONTEXT);
    EXPECT_EQ(taken_status(), GLT_ERROR_CONTEXT);
}

TEST_P(TaskletTest, CancelledBeforeTheyBeginNeverRun)
{
    std::atomic<int> began = 0;
    auto body = [&] { began++; };
    GLT_tasklet tasklet = create_tasklet(body);
    const bool begun = began != 0;
    if (can_or_refuses(GLT_CAN_CANCEL, [&] { glt_tasklet_cancel(tasklet); })) {
        glt_tasklet_cancel(tasklet);
        glt_tasklet_free(&tasklet);
        if (threads() == 1 && !begun && !unit_is_os_thread()) {
            EXPECT_EQ(began, 0);
        }
    } else {
        glt_tasklet_free(&tasklet);
        EXPECT_EQ(began, 1);
    }
}

} // namespace
} // namespace trencadis::suite
