// Exceptions: inside a unit as ever, out of one through glt.hpp, where join throws them again.
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

TEST_P(ExceptionTest, ACaughtOneBelongsToItsUnitAcrossYields)
{
    // The language keeps the chain of caught exceptions per OS thread. Units that yield inside a handler mix them up, unless the
    // back end keeps a chain for each, as ours do.
    const std::string name = glt_backend_name();
    if (name != "native" && name != "os") GTEST_SKIP() << name << " keeps one chain of caught exceptions per OS thread";
    std::atomic<int> right = 0;
    run_units(20, [&](int i) {
        try {
            throw i;
        } catch (int) {
            for (int k = 0; k < 5; ++k) glt_yield();
            try {
                throw; // the one this unit caught
            } catch (int value) {
                right += value == i;
            }
        }
    });
    EXPECT_EQ(right, 20);
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
