// Giving up the core: yield, yield_to, suspend and resume.
#include "suite.hpp"

namespace trencadis::suite {
namespace {

GLT_SUITE(YieldTest);

TEST_P(YieldTest, LetsTwoUnitsTakeTurns)
{
    std::atomic<int> turn = 0;
    run_units(2, [&](int me) {
        for (int round = 0; round < 200; ++round) {
            yield_until([&] { return turn.load() % 2 == me; });
            turn++;
        }
    });
    EXPECT_EQ(turn, 400);
}

TEST_P(YieldTest, SpinnersThatYieldDoNotStarveTheSetter)
{
    std::atomic<bool> set = false;
    Units spinners(4 * threads(), [&](int) { yield_until([&] { return set.load(); }); });
    auto body = [&] { set = true; };
    GLT_ult setter = create(body);
    glt_ult_free(&setter);
    spinners.wait();
}

TEST_P(YieldTest, TheMainProgramMaySpinWithYield)
{
    std::atomic<int> ran = 0;
    Units units(20, [&](int) { ran++; });
    yield_until([&] { return ran == 20; });
    units.wait();
}

TEST_P(YieldTest, AUnitThatYieldsAloneGoesOn)
{
    const auto who = [] {
        GLT_ult self = GLT_NULL;
        GLT_ult_id id = 0;
        glt_ult_self(&self);
        glt_ult_get_id(&id, self);
        return id;
    };
    const GLT_ult_id main_program = who();
    std::atomic<int> rounds = 0;
    for (int i = 0; i < 1000; ++i) glt_yield();
    EXPECT_EQ(who(), main_program);
    EXPECT_EQ(glt_get_thread_num(), 0) << "the main program stays on thread 0";
    run_units(1, [&](int) {
        const GLT_ult_id me = who();
        EXPECT_NE(me, main_program);
        for (int i = 0; i < 1000; ++i) {
            glt_yield();
            rounds += who() == me;
        }
    });
    EXPECT_EQ(rounds, 1000) << "as who it was";
}

TEST_P(YieldTest, YieldToRunsTheNamedUnitFirst)
{
    std::atomic<int> first = -1;
    auto body = [&](int me) {
        int nobody = -1;
        first.compare_exchange_strong(nobody, me);
    };
    Units units(5, body);
    if (can_or_refuses(GLT_CAN_YIELD_TO, [&] { glt_yield_to(units.handle(3)); })) {
        const int before = first;
        glt_yield_to(units.handle(3));
        // With more threads the unit may be running elsewhere already; and where creating is running, all are through.
        if (threads() == 1 && before == -1 && glt_can(GLT_CAN_YIELD_TO) == GLT_NATIVELY) {
            EXPECT_EQ(first, 3);
        }
    }
    units.wait();
}

TEST_P(YieldTest, YieldToAUnitThatIsNotReadyIsAPlainYield)
{
    if (glt_can(GLT_CAN_YIELD_TO) == GLT_CANNOT) return; // YieldToRunsTheNamedUnitFirst has the refusal
    Event gate;
    std::atomic<bool> waits = false;
    auto body = [&] {
        waits = true;
        gate.wait();
    };
    GLT_ult unit = create(body);
    yield_until([&] { return waits.load(); });
    for (int i = 0; i < 20; ++i) glt_yield_to(unit);
    gate.set();
    glt_ult_join(&unit);
    glt_yield_to(unit); // it has ended
    glt_ult_free(&unit);
    take_reports(); // whether a unit that has ended is worth an error is left open
    glt_last_status();
}

bool can_suspend()
{
    return can_or_refuses(GLT_CAN_SUSPEND, [] { glt_ult_suspend(); });
}

TEST_P(YieldTest, ASuspendedUnitStaysAwayUntilItIsResumed)
{
    if (!can_suspend()) return;
    std::atomic<int> stage = 0;
    auto body = [&] {
        stage = 1;
        EXPECT_EQ(glt_ult_suspend(), GLT_SUCCESS);
        stage = 2;
    };
    GLT_ult unit = create(body);
    yield_until([&] { return stage == 1; });
    for (int i = 0; i < 100; ++i) glt_yield();
    EXPECT_EQ(stage, 1);
    EXPECT_EQ(glt_ult_resume(unit), GLT_SUCCESS);
    glt_ult_free(&unit);
    EXPECT_EQ(stage, 2);
}

TEST_P(YieldTest, OneResumeThatComesFirstIsKept)
{
    if (!can_suspend()) return;
    std::atomic<int> stage = 0;
    Event gate;
    auto body = [&] {
        stage = 1;
        gate.wait();
        EXPECT_EQ(glt_ult_suspend(), GLT_SUCCESS);
        stage = 2;
        EXPECT_EQ(glt_ult_suspend(), GLT_SUCCESS);
        stage = 3;
    };
    GLT_ult unit = create(body);
    yield_until([&] { return stage == 1; });
    EXPECT_EQ(glt_ult_resume(unit), GLT_SUCCESS);
    EXPECT_EQ(glt_ult_resume(unit), GLT_SUCCESS) << "one is kept, and one more is no error";
    for (int i = 0; i < 50; ++i) glt_yield();
    EXPECT_EQ(stage, 1) << "a resume does not end another wait";
    gate.set();
    yield_until([&] { return stage >= 2; });
    for (int i = 0; i < 100; ++i) glt_yield();
    spin_for(0.002);
    EXPECT_EQ(stage, 2) << "the second resume was not kept";
    EXPECT_EQ(glt_ult_resume(unit), GLT_SUCCESS);
    glt_ult_free(&unit);
    EXPECT_EQ(stage, 3);
}

TEST_P(YieldTest, EverySuspendMeetsItsResumeUnderRandomDelays)
{
    if (!can_suspend()) return;
    const int rounds = scaled(3000);
    std::atomic<int> suspends = 0;
    auto body = [&] {
        for (int i = 0; i < rounds; ++i) {
            if (i % 3 == 0) spin_for(1e-7 * (i % 20));
            glt_ult_suspend();
            suspends++;
        }
    };
    GLT_ult unit = create(body);
    for (int i = 0; i < rounds; ++i) { // at most one resume is ahead of its suspend
        glt_ult_resume(unit);
        if (i % 5 == 0) spin_for(1e-7 * (i % 13));
        yield_until([&] { return suspends > i; });
    }
    glt_ult_free(&unit);
    EXPECT_EQ(suspends, rounds);
}

TEST_P(YieldTest, TheMainProgramSuspendsItself)
{
    if (!can_suspend()) return;
    GLT_ult self = GLT_NULL;
    glt_ult_self(&self);
    for (int i = 0; i < 50; ++i) {
        auto body = [&] { EXPECT_EQ(glt_ult_resume(self), GLT_SUCCESS); };
        GLT_ult unit = create(body);
        EXPECT_EQ(glt_ult_suspend(), GLT_SUCCESS);
        glt_ult_free(&unit);
    }
}

TEST_P(YieldTest, ForeignThreadsResumeUnits)
{
    if (!can_suspend()) return;
    GLT_ult self = GLT_NULL;
    glt_ult_self(&self);
    Foreign([&] { can_or_refuses(GLT_CAN_FOREIGN_RESUME, [&] { glt_ult_resume(self); }); });
    if (glt_can(GLT_CAN_FOREIGN_RESUME) == GLT_CANNOT) return;
    const int rounds = scaled(300);
    std::atomic<int> asked = 0;
    Foreign resumer([&] {
        for (int i = 1; i <= rounds; ++i) {
            while (asked.load() < i) std::this_thread::yield();
            EXPECT_EQ(glt_ult_resume(self), GLT_SUCCESS);
        }
    });
    for (int i = 0; i < rounds; ++i) {
        asked++;
        EXPECT_EQ(glt_ult_suspend(), GLT_SUCCESS);
    }
}

} // namespace
} // namespace trencadis::suite
