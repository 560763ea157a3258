// With the sleeping policy a program that waits uses next to no processor time.
#include "suite.hpp"

namespace trencadis::suite {
namespace {

/// Seconds of processor time per second while `wait` runs.
template <class Wait> double load(Wait&& wait)
{
    const double began = glt_get_wtime(), used = processor_seconds();
    wait();
    return (processor_seconds() - used) / (glt_get_wtime() - began);
}

class IdleTest : public testing::Test {
protected:
    void SetUp() override
    {
        ASSERT_EQ(glt_init_with(nullptr), GLT_SUCCESS);
        sleeps_ = glt_can(GLT_CAN_IDLE_SLEEP) != GLT_CANNOT;
        glt_finalize();
        GLT_options options{};
        options.num_threads = 4;
        options.idle = sleeps_ ? GLT_IDLE_SLEEP : GLT_IDLE_STANDARD;
        ASSERT_EQ(glt_init_with(&options), GLT_SUCCESS);
        run_units(100, [](int) { glt_yield(); }); // all threads have worked once
    }
    void TearDown() override { glt_finalize(); }
    bool sleeps_ = false;
};

constexpr double bound = sanitized ? 0.2 : 0.05;

TEST_F(IdleTest, WaitingForATimeSleeps)
{
    if (!sleeps_) GTEST_SKIP() << "this back end cannot sleep; SetupTest has the refusal";
    Event never;
    EXPECT_LT(load([&] { EXPECT_EQ(glt_event_wait_for(never.handle, 0.5), GLT_TIMEOUT); }), bound);
    EXPECT_LT(load([&] { run_units(5, [&](int) { EXPECT_EQ(glt_event_wait_for(never.handle, 0.5), GLT_TIMEOUT); }); }), bound);
}

TEST_F(IdleTest, WaitingForAForeignThreadSleeps)
{
    if (!sleeps_ || glt_can(GLT_CAN_FOREIGN_RESUME) == GLT_CANNOT)
        GTEST_SKIP() << "this back end cannot; its refusals are tested";
    Event event, inner;
    Foreign setter([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        event.set();
    });
    Units waiters(5, [&](int) { event.wait(); });
    EXPECT_LT(load([&] { waiters.wait(); }), bound);
}

TEST_F(IdleTest, AMainProgramInTheSystemLeavesTheOthersAsleep)
{
    if (!sleeps_) GTEST_SKIP() << "this back end cannot sleep; SetupTest has the refusal";
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_LT(load([] { std::this_thread::sleep_for(std::chrono::milliseconds(500)); }), bound);
}

TEST_F(IdleTest, ASleeperWakesQuickly)
{
    Event there, back;
    std::atomic<bool> end = false;
    Units echo(1, [&](int) {
        for (;;) {
            there.wait();
            glt_event_reset(there.handle);
            if (end) return;
            back.set();
        }
    });
    for (int i = 0; i < 5; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10)); // all are asleep
        const double began = glt_get_wtime();
        there.set();
        back.wait();
        glt_event_reset(back.handle);
        EXPECT_LT(glt_get_wtime() - began, 1.0);
    }
    end = true;
    there.set();
    echo.wait();
}

} // namespace
} // namespace trencadis::suite
