// Counters, which open at zero, and events, which stay set until they are reset.
#include "suite.hpp"

namespace trencadis::suite {
namespace {

GLT_SUITE(CounterTest);
GLT_SUITE(EventTest);

TEST_P(CounterTest, AtZeroIsOpen)
{
    Counter counter(0);
    counter.wait();
    EXPECT_EQ(glt_counter_wait_for(counter.handle, 0.0), GLT_SUCCESS);
}

TEST_P(CounterTest, JoinsAThousandUnitsAtOnce)
{
    Counter counter(0);
    constexpr int count = 1000;
    std::vector<int> value(count, 0);
    GLT_attributes attributes;
    glt_attributes_init(&attributes);
    attributes.counter = counter.handle;
    std::vector<GLT_ult> units(count);
    for (int i = 0; i < count; ++i)
        ASSERT_EQ(glt_ult_create_with([](void* v) { *static_cast<int*>(v) = 1; }, &value[i], &attributes, &units[i]),
                  GLT_SUCCESS);
    counter.wait();
    for (int v : value) ASSERT_EQ(v, 1) << "what units wrote before they ended, the waiter sees";
    for (GLT_ult& unit : units) glt_ult_free(&unit);
}

TEST_P(CounterTest, LetsAllWaitersGoAndClosesAgain)
{
    Counter counter(3);
    for (int round = 0; round < 20; ++round) {
        std::atomic<int> through = 0;
        Units waiters(10, [&](int) {
            counter.wait();
            through++;
        });
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 5; ++j) glt_yield();
            EXPECT_EQ(through, 0);
            counter.add(-1);
        }
        waiters.wait();
        EXPECT_EQ(through, 10);
        counter.add(3);
        EXPECT_EQ(glt_counter_wait_for(counter.handle, 0.0), GLT_TIMEOUT);
    }
    counter.add(-3);
}

TEST_P(CounterTest, BelowZeroIsRefusedAndNothingChanges)
{
    Counter counter(2);
    EXPECT_EQ(glt_counter_add(counter.handle, -3), GLT_ERROR_VALUE);
    EXPECT_EQ(taken_status(), GLT_ERROR_VALUE);
    EXPECT_EQ(glt_counter_wait_for(counter.handle, 0.001), GLT_TIMEOUT);
    counter.add(-2);
    counter.wait();
    GLT_counter negative = GLT_NULL;
    EXPECT_EQ(glt_counter_create(-1, &negative), GLT_ERROR_VALUE);
    EXPECT_EQ(taken_status(), GLT_ERROR_VALUE);
}

TEST_P(CounterTest, CountsFromManyUnitsAtOnce)
{
    constexpr int units = 16, rounds = 200;
    Counter counter(units * rounds);
    Units workers(units, [&](int) {
        for (int i = 0; i < rounds; ++i) {
            counter.add(-1);
            if (i % 50 == 0) glt_yield();
        }
    });
    counter.wait();
    EXPECT_EQ(glt_counter_add(counter.handle, -1), GLT_ERROR_VALUE) << "it stands at zero";
    EXPECT_EQ(taken_status(), GLT_ERROR_VALUE);
    workers.wait();
}

TEST_P(CounterTest, ForeignThreadsCountAndWait)
{
    Counter counter(1);
    Foreign([&] {
        if (can_or_refuses(GLT_CAN_FOREIGN_RESUME, [&] { glt_counter_add(counter.handle, -1); })) counter.add(-1);
    });
    if (glt_can(GLT_CAN_FOREIGN_RESUME) == GLT_CANNOT) counter.add(-1);
    counter.wait();
    Foreign([&] {
        if (can_or_refuses(GLT_CAN_FOREIGN_WAIT, [&] { glt_counter_wait(counter.handle); })) counter.wait();
    });
    if (glt_can(GLT_CAN_FOREIGN_WAIT) == GLT_CANNOT) return;
    counter.add(1);
    std::atomic<bool> timed_out = false, through = false;
    Foreign waiter([&] {
        EXPECT_EQ(glt_counter_wait_for(counter.handle, 0.001), GLT_TIMEOUT);
        timed_out = true;
        counter.wait();
        through = true;
    });
    yield_until([&] { return timed_out.load(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_FALSE(through);
    run_units(1, [&](int) { counter.add(-1); });
}

TEST_P(EventTest, StaysSetUntilReset)
{
    Event event;
    EXPECT_EQ(glt_event_wait_for(event.handle, 0.0), GLT_TIMEOUT);
    event.set();
    event.set();
    for (int i = 0; i < 3; ++i) event.wait();
    EXPECT_EQ(glt_event_reset(event.handle), GLT_SUCCESS);
    EXPECT_EQ(glt_event_wait_for(event.handle, 0.001), GLT_TIMEOUT);
}

TEST_P(EventTest, LetsAllWaitersGo)
{
    Event event;
    std::atomic<int> through = 0;
    Units waiters(50, [&](int i) {
        if (i % 2) event.wait();
        else EXPECT_EQ(glt_event_wait_for(event.handle, 10.0), GLT_SUCCESS);
        through++;
    });
    for (int i = 0; i < 50; ++i) glt_yield();
    EXPECT_EQ(through, 0);
    event.set();
    waiters.wait();
    EXPECT_EQ(through, 50);
}

TEST_P(EventTest, HandsOverWhatWasWrittenBefore)
{
    const int rounds = scaled(200);
    for (int i = 0; i < rounds; ++i) {
        Event event;
        int value = 0;
        Units writer(1, [&](int) {
            value = i + 1;
            event.set();
        });
        event.wait();
        ASSERT_EQ(value, i + 1);
        writer.wait();
    }
}

TEST_P(EventTest, PingPongsBetweenUnits)
{
    const int rounds = scaled(500);
    Event there, back;
    Units echo(1, [&](int) {
        for (int i = 0; i < rounds; ++i) {
            there.wait();
            glt_event_reset(there.handle);
            back.set();
        }
    });
    for (int i = 0; i < rounds; ++i) {
        there.set();
        back.wait();
        glt_event_reset(back.handle);
    }
    echo.wait();
}

TEST_P(EventTest, ForeignThreadsSetAndWait)
{
    Event event;
    Foreign([&] {
        if (can_or_refuses(GLT_CAN_FOREIGN_RESUME, [&] { glt_event_set(event.handle); })) event.set();
    });
    if (glt_can(GLT_CAN_FOREIGN_RESUME) == GLT_CANNOT) event.set();
    event.wait();
    Foreign([&] {
        if (can_or_refuses(GLT_CAN_FOREIGN_WAIT, [&] { glt_event_wait(event.handle); })) event.wait();
    });
    if (glt_can(GLT_CAN_FOREIGN_WAIT) == GLT_CANNOT || glt_can(GLT_CAN_FOREIGN_RESUME) == GLT_CANNOT) return;
    Event there, back;
    const int rounds = scaled(100);
    Foreign echo([&] {
        for (int i = 0; i < rounds; ++i) {
            there.wait();
            glt_event_reset(there.handle);
            back.set();
        }
    });
    for (int i = 0; i < rounds; ++i) {
        there.set();
        back.wait(); // units and this thread's core are free meanwhile
        glt_event_reset(back.handle);
    }
}

TEST_P(EventTest, WakesAMainProgramThatSleeps)
{
    if (glt_can(GLT_CAN_FOREIGN_RESUME) == GLT_CANNOT) return; // ForeignThreadsSetAndWait has the refusal
    for (int i = 0; i < 5; ++i) {
        Event event;
        Foreign setter([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(i));
            event.set();
        });
        event.wait();
    }
}

} // namespace
} // namespace trencadis::suite
