// Waits with a time: deadlocks end, times are kept, and a core is free while a unit waits.
#include <algorithm>
#include <fstream>
#include <limits>

#include "suite.hpp"

namespace trencadis::suite {
namespace {

GLT_SUITE(TimedTest);

/// How long a wait may take beyond its time where other programs share the cores.
constexpr double slack = 2.0;

TEST_P(TimedTest, TwoUnitsThatWaitForEachOtherEndByTheTimeOut)
{
    Event of_a, of_b;
    Counter left(2);
    std::atomic<int> timeouts = 0;
    const double began = glt_get_wtime();
    run_units(2, [&](int me) {
        Event& mine = me ? of_a : of_b;
        Event& other = me ? of_b : of_a;
        timeouts += glt_event_wait_for(other.handle, 0.02) == GLT_TIMEOUT;
        mine.set(); // too late for the other one, if that began at the same time
        left.add(-1);
    });
    left.wait();
    EXPECT_GE(timeouts, 1);
    EXPECT_LT(glt_get_wtime() - began, 0.02 + slack);
}

TEST_P(TimedTest, TwoUnitsThatJoinEachOtherEndByTheTimeOut)
{
    GLT_ult units[2] = {GLT_NULL, GLT_NULL};
    Event both_there;
    Counter left(2);
    std::atomic<int> timeouts = 0;
    struct Task {
        GLT_ult* other;
        Event* both_there;
        Counter* left;
        std::atomic<int>* timeouts;
        double seconds;
    } tasks[2] = {{&units[1], &both_there, &left, &timeouts, 0.02}, {&units[0], &both_there, &left, &timeouts, 1.0}};
    for (int i = 0; i < 2; ++i) {
        const auto body = [](void* argument) {
            Task& task = *static_cast<Task*>(argument);
            task.both_there->wait();
            const int status = glt_ult_join_for(task.other, task.seconds);
            if (status == GLT_TIMEOUT) ++*task.timeouts;
            else EXPECT_EQ(status, GLT_SUCCESS);
            task.left->add(-1);
        };
        glt_ult_create(body, &tasks[i], &units[i]);
    }
    both_there.set();
    left.wait();
    EXPECT_EQ(timeouts, 1) << "the first gives up, by which the second gets its join";
    for (GLT_ult& unit : units) glt_ult_free(&unit);
}

TEST_P(TimedTest, WaitsTakeTheirTimeAndLittleMore)
{
    Event never;
    Counter closed(1);
    auto sleep = [&] { never.wait(); };
    GLT_ult unit = create(sleep);
    for (double seconds : {0.0, 0.001, 0.01, 0.03}) {
        const auto check = [&](int status, double began) {
            const double took = glt_get_wtime() - began;
            EXPECT_EQ(status, GLT_TIMEOUT);
            EXPECT_GE(took, seconds * 0.999);
            EXPECT_LT(took, seconds + slack);
        };
        double began = glt_get_wtime();
        check(glt_event_wait_for(never.handle, seconds), began);
        began = glt_get_wtime();
        check(glt_counter_wait_for(closed.handle, seconds), began);
        began = glt_get_wtime();
        check(glt_ult_join_for(&unit, seconds), began);
        run_units(2, [&](int) {
            const double start = glt_get_wtime();
            check(glt_event_wait_for(never.handle, seconds), start);
        });
    }
    never.set();
    closed.add(-1);
    glt_ult_free(&unit);
}

TEST_P(TimedTest, OtherUnitsRunWhileOneWaits)
{
    Event never;
    std::atomic<bool> waited = false;
    std::atomic<long> rounds = 0;
    Units units(2 * threads(), [&](int i) {
        if (i % 2) {
            EXPECT_EQ(glt_event_wait_for(never.handle, 0.02), GLT_TIMEOUT);
            waited = true;
        } else {
            do {
                rounds++;
                glt_yield();
            } while (!waited);
        }
    });
    units.wait();
    EXPECT_GT(rounds, 2 * threads());
}

TEST_P(TimedTest, ManyTimesEndInTheirOrder)
{
    Event never;
    std::atomic<int> timeouts = 0;
    const double began = glt_get_wtime();
    run_units(50, [&](int i) {
        const double seconds = 0.0005 * ((i * 7) % 50);
        timeouts += glt_event_wait_for(never.handle, seconds) == GLT_TIMEOUT;
        EXPECT_GE(glt_get_wtime() - began, seconds * 0.999);
    });
    EXPECT_EQ(timeouts, 50);
    EXPECT_LT(glt_get_wtime() - began, 0.025 + slack);
}

TEST_P(TimedTest, AJoinWithATimeComesBackSoonAfterTheEnd)
{
    if (sanitized || threads() > 2) return; // nothing is soon there, nor where threads wait for a core
    constexpr double length = 0.003, soon = 0.005;
    double late = 1;
    for (int attempt = 0; late >= soon && attempt < 10; ++attempt) { // other programs may share the cores
        std::vector<double> all(11);
        for (double& each : all) {
            std::atomic<double> ended = 0;
            auto body = [&] {
                std::this_thread::sleep_for(std::chrono::duration<double>(length));
                ended = glt_get_wtime();
            };
            GLT_ult unit = create_to(body, threads() - 1);
            EXPECT_EQ(glt_ult_join_for(&unit, 10.0), GLT_SUCCESS);
            each = glt_get_wtime() - ended;
            glt_ult_free(&unit);
        }
        std::nth_element(all.begin(), all.begin() + 5, all.end());
        late = all[5];
    }
    EXPECT_LT(late, soon) << "median, in seconds, however often it was tried";
}

TEST_P(TimedTest, VeryLongTimesAreWaitsWithoutTime)
{
    for (double seconds : {1e6, 1e12, 1e300, std::numeric_limits<double>::infinity()}) {
        Event event;
        std::atomic<int> status = -1;
        Units waiter(1, [&](int) { status = glt_event_wait_for(event.handle, seconds); });
        for (int i = 0; i < 20; ++i) glt_yield();
        EXPECT_EQ(status, -1) << seconds;
        event.set();
        waiter.wait();
        EXPECT_EQ(status, GLT_SUCCESS) << seconds;
    }
}

TEST_P(TimedTest, ASetThatMeetsTheTimeOutIsNeverLost)
{
    const int rounds = scaled(300);
    for (int i = 0; i < rounds; ++i) {
        Event event;
        std::atomic<int> status = -1;
        Units waiter(1, [&](int) {
            status = glt_event_wait_for(event.handle, 2e-5);
            if (status == GLT_TIMEOUT) event.wait(); // comes through all the same
        });
        spin_for(1e-6 * (i % 40));
        event.set();
        waiter.wait();
        ASSERT_TRUE(status == GLT_SUCCESS || status == GLT_TIMEOUT) << status;
    }
}

/// Whether a thread of the system, by its number there, sleeps.
bool sleeps(int thread)
{
    std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
    std::string number, name, state; // a name of ours has no blanks
    return file >> number >> name >> state && state == "S";
}

TEST_P(TimedTest, WhoWasWokenMayFreeWhatAnotherGivesUpWaitingFor)
{
    constexpr double seconds = 0.002;
    for (int round = 0; round < scaled(50); ++round) {
        GLT_event event = GLT_NULL;
        glt_event_create(&event);
        std::atomic<int> waiter = 0;
        std::atomic<bool> gave_up = false, both = false;
        std::atomic<double> until = 0;
        auto gives_up = [&] {
            until = glt_get_wtime() + seconds;
            waiter = os_thread();
            const int status = glt_event_wait_for(event, seconds);
            EXPECT_TRUE(status == GLT_SUCCESS || status == GLT_TIMEOUT) << status;
            gave_up = true;
        };
        auto frees = [&] { // on the same thread, so that it begins when the other is in its wait
            while (unit_is_os_thread() && !gave_up && !sleeps(waiter)) glt_yield();
            both = true;
            EXPECT_EQ(glt_event_wait(event), GLT_SUCCESS);
            EXPECT_EQ(glt_event_free(&event), GLT_SUCCESS);
        };
        const int thread = threads() - 1;
        GLT_ult first = create_to(gives_up, thread);
        yield_until([&] { return waiter != 0; });
        GLT_ult second = create_to(frees, thread);
        yield_until([&] { return both.load(); });
        spin_for(until - glt_get_wtime() + 1e-6 * (round % 10 * 10 - 30)); // about when the time is over
        glt_event_set(event);
        glt_ult_free(&first);
        glt_ult_free(&second);
    }
}

TEST_P(TimedTest, ForeignThreadsWaitWithATime)
{
    if (glt_can(GLT_CAN_FOREIGN_WAIT) == GLT_CANNOT) return; // EventTest has the refusal
    Event never;
    auto sleep = [&] { never.wait(); };
    GLT_ult unit = create(sleep);
    Foreign([&] {
        const double began = glt_get_wtime();
        EXPECT_EQ(glt_event_wait_for(never.handle, 0.01), GLT_TIMEOUT);
        EXPECT_EQ(glt_ult_join_for(&unit, 0.01), GLT_TIMEOUT);
        EXPECT_GE(glt_get_wtime() - began, 0.02 * 0.999);
        EXPECT_LT(glt_get_wtime() - began, 0.02 + slack);
    });
    never.set();
    glt_ult_free(&unit);
}

} // namespace
} // namespace trencadis::suite
