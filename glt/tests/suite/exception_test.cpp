// Exceptions: inside a unit as ever, out of one through glt.hpp, where join throws them again.
#include <exception>
#include <stdexcept>

#include "suite.hpp"
#include "trencadis/glt.hpp"

namespace trencadis::suite {
namespace {

GLT_SUITE(ExceptionTest);

TEST_P(ExceptionTest, AreThrownAndCaughtInsideAUnit)
{
    std::atomic<int> caught = 0;
    run_units(50, [&](int i) {
        try {
            glt_yield();
            if (i >= 0) throw i;
        } catch (int value) {
            caught += value == i;
        }
    });
    EXPECT_EQ(caught, 50);
}

TEST_P(ExceptionTest, JoinThrowsWhatLeftTheUnit)
{
    for (int i = 0; i < 20; ++i) {
        glt::Ult unit([i] {
            if (i % 2) glt_yield();
            throw std::out_of_range("unit " + std::to_string(i));
        });
        try {
            unit.join();
            FAIL() << "join did not throw";
        } catch (const std::out_of_range& error) {
            EXPECT_EQ(error.what(), "unit " + std::to_string(i));
        }
        EXPECT_FALSE(unit.joinable());
    }
}

TEST_P(ExceptionTest, ManyAtOnceReachTheirOwnJoiners)
{
    std::vector<glt::Ult> units;
    for (int i = 0; i < 100; ++i)
        units.emplace_back([i] {
            for (int k = 0; k < i % 4; ++k) glt_yield();
            if (i % 3 == 0) throw i;
        });
    int thrown = 0;
    for (int i = 0; i < 100; ++i) {
        try {
            units[static_cast<std::size_t>(i)].join();
            EXPECT_NE(i % 3, 0);
        } catch (int value) {
            EXPECT_EQ(value, i);
            ++thrown;
        }
    }
    EXPECT_EQ(thrown, 34);
}

TEST_P(ExceptionTest, GoThroughSeveralUnits)
{
    glt::Ult outer([] {
        glt::Ult inner([] { throw std::runtime_error("from inside"); });
        inner.join();
        ADD_FAILURE() << "join did not throw";
    });
    EXPECT_THROW(outer.join(), std::runtime_error);
}

TEST_P(ExceptionTest, LeaveTaskletsTheSameWay)
{
    glt::Tasklet tasklet([] { throw std::logic_error("small"); });
    EXPECT_THROW(tasklet.join(), std::logic_error);
    glt::Tasklet quiet([] {});
    quiet.join();
}

TEST_P(ExceptionTest, AreLostWhereNobodyJoins)
{
    std::atomic<int> ran = 0;
    {
        glt::Ult unit([&] {
            ran++;
            throw 1;
        });
    }
    EXPECT_EQ(ran, 1);
}

// The language keeps the exceptions being handled per OS thread. A unit that waits in a handler takes its own along, and leaves
// none to others: whatever it waits by.

/// Throws and catches its number, lets `pause` run in the handler, and then throws what it has caught once more.
template <class Pause> bool keeps_its_own(int number, Pause&& pause)
{
    try {
        throw number;
    } catch (int) {
        pause();
        if (std::uncaught_exceptions() != 0) return false;
        try {
            throw;
        } catch (int value) {
            return value == number;
        }
    }
}

struct Unwinding { // runs in a destructor while an exception is on its way
    int& uncaught;
    ~Unwinding()
    {
        for (int k = 0; k < 3; ++k) glt_yield();
        uncaught = std::uncaught_exceptions();
    }
};

TEST_P(ExceptionTest, ACaughtOneBelongsToItsUnitAcrossYields)
{
    std::atomic<int> right = 0;
    run_units(20, [&](int i) {
        right += keeps_its_own(i, [] {
            for (int k = 0; k < 5; ++k) glt_yield();
        });
    });
    EXPECT_EQ(right, 20);
}

TEST_P(ExceptionTest, OneOnItsWayIsNotSeenByOthers)
{
    std::atomic<int> right = 0;
    run_units(20, [&](int i) {
        int uncaught = -1;
        try {
            Unwinding here{uncaught};
            if (i % 2) throw i;
        } catch (int) {
        }
        right += uncaught == i % 2;
    });
    EXPECT_EQ(right, 20);
}

TEST_P(ExceptionTest, ACaughtOneBelongsToItsUnitWhateverItWaitsBy)
{
    const int units = 12;
    Mutex mutex, guarded;
    GLT_cond changed = GLT_NULL;
    glt_cond_create(&changed);
    GLT_barrier barrier = GLT_NULL;
    glt_barrier_create(units, &barrier);
    Event event;
    Counter counter(1);
    int waiting = 0;
    std::atomic<int> arrived = 0, right = 0;
    Units all(units, [&](int i) {
        arrived++;
        right += keeps_its_own(100 + i, [&] { // held over a yield: the others wait for it
            mutex.lock();
            glt_yield();
            mutex.unlock();
        });
        right += keeps_its_own(200 + i, [&] { event.wait(); });
        right += keeps_its_own(300 + i, [&] { glt_barrier_wait(&barrier); });
        right += keeps_its_own(400 + i, [&] {
            guarded.lock();
            if (++waiting == units) glt_cond_broadcast(changed);
            while (waiting < units) glt_cond_wait(changed, guarded.handle);
            guarded.unlock();
        });
        right += keeps_its_own(500 + i, [&] { run_units(3, [](int) { glt_yield(); }); });
        right += keeps_its_own(600 + i, [&] { EXPECT_EQ(glt_counter_wait_for(counter.handle, 0.003), GLT_TIMEOUT); });
    });
    yield_until([&] { return arrived == units; });
    for (int k = 0; k < 20; ++k) glt_yield();
    event.set();
    all.wait();
    EXPECT_EQ(right, 6 * units);
    glt_cond_free(&changed);
    glt_barrier_free(&barrier);
}

TEST_P(ExceptionTest, ACaughtOneBelongsToItsUnitOverSuspendMigrationAndYieldTo)
{
    const int units = 8;
    std::atomic<int> right = 0, suspended = 0;
    Units all(units, [&](int i) {
        right += keeps_its_own(100 + i, [&] {
            suspended++;
            EXPECT_EQ(glt_ult_suspend(), GLT_SUCCESS);
        });
        right += keeps_its_own(200 + i, [&] { glt_ult_migrate_self_to(i % threads()); });
        right += keeps_its_own(300 + i, [&] { glt_yield(); });
    });
    yield_until([&] { return suspended == units; });
    const bool can_choose = glt_can(GLT_CAN_YIELD_TO) != GLT_CANNOT;
    EXPECT_TRUE(keeps_its_own(7, [&] {
        for (int i = 0; i < units; ++i) {
            EXPECT_EQ(glt_ult_resume(all.handle(i)), GLT_SUCCESS);
            if (can_choose) glt_yield_to(all.handle(i));
        }
    }));
    all.wait();
    EXPECT_EQ(right, 3 * units);
}

TEST_P(ExceptionTest, ATaskletJoinedInAHandlerOrADestructorSeesNone)
{
    std::atomic<int> clean = 0;
    auto body = [&] { clean += !std::current_exception() && std::uncaught_exceptions() == 0; };
    const auto run = [&] {
        GLT_tasklet tasklet = create_tasklet(body);
        glt_tasklet_join(&tasklet);
        glt_tasklet_free(&tasklet);
    };
    struct Frame {
        const decltype(run)& leave;
        ~Frame() { leave(); }
    };
    const int units = 10;
    std::atomic<int> right = 0;
    run_units(units, [&](int i) {
        right += keeps_its_own(i, run);
        try {
            const Frame frame{run};
            throw i;
        } catch (int value) {
            right += value == i && std::uncaught_exceptions() == 0;
        }
    });
    EXPECT_EQ(clean, 2 * units);
    EXPECT_EQ(right, 2 * units);
}

TEST_P(ExceptionTest, AUnitThatExitsInAHandlerLeavesNothingToTheNext)
{
    for (int i = 0; i < 20; ++i) {
        run_units(1, [](int) {
            try {
                throw 1;
            } catch (int) {
                glt_ult_exit();
            }
        });
        std::atomic<bool> clean = false;
        run_units(1, [&](int) { clean = !std::current_exception() && std::uncaught_exceptions() == 0; });
        EXPECT_TRUE(clean);
    }
}

TEST_P(ExceptionTest, TheFaceThrowsErrorsOfTheLibrary)
{
    glt::Counter counter(0);
    try {
        counter.add(-1);
        FAIL() << "add did not throw";
    } catch (const glt::Error& error) {
        EXPECT_EQ(error.status(), GLT_ERROR_VALUE);
        EXPECT_NE(std::string(error.what()).find("glt_counter_add"), std::string::npos);
    }
    EXPECT_EQ(taken_status(), GLT_ERROR_VALUE);
    glt::Ult nothing;
    EXPECT_THROW(nothing.join(), glt::Error);
    take_reports();
}

TEST_P(ExceptionTest, TheFaceLocksWaitsAndResumes)
{
    glt::Mutex mutex;
    glt::ConditionVariable changed;
    int stage = 0;
    glt::Ult unit([&] {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return stage == 1; });
        stage = 2;
        changed.notify_all();
    });
    {
        std::unique_lock lock(mutex);
        stage = 1;
        changed.notify_all();
        changed.wait(lock, [&] { return stage == 2; });
    }
    unit.join();
    glt::Event event;
    EXPECT_FALSE(event.wait_for(std::chrono::milliseconds(1)));
    glt::Ult setter([&] { event.set(); });
    event.wait();
    setter.join();
}

} // namespace
} // namespace trencadis::suite
