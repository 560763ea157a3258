// The ways a unit ends before its function returns: exit, cancel.
#include <mutex>

#include "suite.hpp"

namespace trencadis::suite {
namespace {

GLT_SUITE(FinishTest);

struct Destroyed {
    std::atomic<int>& count;
    ~Destroyed() { count++; }
};

void exit_deep_inside(int depth, std::atomic<int>& destroyed)
{
    const Destroyed frame{destroyed};
    if (depth == 0) glt_ult_exit();
    else exit_deep_inside(depth - 1, destroyed);
}

/// The back ends that say in the header that they unwind; C libraries leave a stack as it is.
bool exit_unwinds()
{
    const std::string name = glt_backend_name();
    return name == "native" || name == "os";
}

TEST_P(FinishTest, ExitEndsTheUnitWhereItIs)
{
    std::atomic<int> destroyed = 0;
    std::atomic<bool> went_on = false, refused = false;
    auto body = [&] {
        if (!can_or_refuses(GLT_CAN_EXIT, [] { glt_ult_exit(); })) {
            refused = true;
            return;
        }
        exit_deep_inside(5, destroyed);
        went_on = true;
    };
    for (int i = 0; i < 50; ++i) {
        GLT_ult unit = create(body);
        glt_ult_join(&unit);
        glt_ult_free(&unit);
    }
    EXPECT_FALSE(went_on);
    EXPECT_EQ(refused, glt_can(GLT_CAN_EXIT) == GLT_CANNOT);
    if (!refused && exit_unwinds()) {
        EXPECT_EQ(destroyed, 50 * 6);
    }
}

TEST_P(FinishTest, ExitCountsTheCounterDownAndHandsOverWhatWasWritten)
{
    if (glt_can(GLT_CAN_EXIT) == GLT_CANNOT) return; // ExitEndsTheUnitWhereItIs has the refusal
    constexpr int count = 40;
    Counter left(0);
    int value[count] = {};
    struct Task {
        int* value;
    };
    std::vector<Task> tasks;
    for (int& v : value) tasks.push_back({&v});
    GLT_attributes attributes;
    glt_attributes_init(&attributes);
    attributes.detached = 1;
    attributes.counter = left.handle;
    for (Task& task : tasks) {
        const auto body = [](void* argument) {
            *static_cast<Task*>(argument)->value = 1;
            glt_yield();
            glt_ult_exit();
        };
        ASSERT_EQ(glt_ult_create_with(body, &task, &attributes, GLT_NULL), GLT_SUCCESS);
    }
    left.wait();
    for (int v : value) EXPECT_EQ(v, 1);
}

TEST_P(FinishTest, AUnitCancelledBeforeItBeginsNeverRuns)
{
    std::atomic<int> began = 0;
    auto body = [&] { began++; };
    GLT_ult unit = create(body);
    if (!can_or_refuses(GLT_CAN_CANCEL, [&] { glt_ult_cancel(unit); })) {
        glt_ult_free(&unit);
        EXPECT_EQ(began, 1);
        return;
    }
    glt_ult_free(&unit);
    // Busy threads cannot begin it, so the cancel surely comes first. Where creating is running it comes too late.
    if (threads() > 1 && glt_can(GLT_CAN_PLACE) == GLT_CANNOT) return;
    std::atomic<int> busy = 0;
    std::atomic<bool> release = false;
    auto occupy = [&] {
        busy++;
        while (!release) spin_for(1e-5);
    };
    std::vector<GLT_ult> occupiers;
    for (int thread = 1; thread < threads(); ++thread) occupiers.push_back(create_to(occupy, thread));
    yield_until([&] { return busy == threads() - 1; });
    began = 0;
    unit = create(body);
    const bool too_late = began != 0;
    glt_ult_cancel(unit);
    release = true;
    glt_ult_join(&unit);
    glt_ult_free(&unit);
    if (!too_late && !unit_is_os_thread()) {
        EXPECT_EQ(began, 0);
    }
    for (GLT_ult& occupier : occupiers) glt_ult_free(&occupier);
}

TEST_P(FinishTest, AUnitCancelledEndsAtItsNextYield)
{
    if (glt_can(GLT_CAN_CANCEL) == GLT_CANNOT) return; // AUnitCancelledBeforeItBeginsNeverRuns has the refusal
    std::atomic<int> rounds = 0;
    auto body = [&] {
        for (;;) {
            rounds++;
            glt_yield();
        }
    };
    std::vector<GLT_ult> units(10);
    for (GLT_ult& unit : units) unit = create(body);
    yield_until([&] { return rounds > 20; });
    for (GLT_ult unit : units) glt_ult_cancel(unit);
    for (GLT_ult& unit : units) glt_ult_join(&unit);
    const int after = rounds;
    for (int i = 0; i < 100; ++i) glt_yield();
    EXPECT_EQ(rounds, after);
    for (GLT_ult& unit : units) glt_ult_free(&unit);
}

/// Units that wait for something that never comes; each is cancelled, ends, and its frames are unwound where the library can.
template <class Wait> void cancel_while_it_waits(Wait&& wait)
{
    const int count = 6;
    std::atomic<int> arrived = 0, went_on = 0;
    auto body = [&] {
        arrived++;
        wait();
        went_on++;
    };
    std::vector<GLT_ult> units(count);
    for (GLT_ult& unit : units) unit = create(body);
    yield_until([&] { return arrived == count; });
    for (int i = 0; i < 50; ++i) glt_yield();
    spin_for(0.002);
    for (GLT_ult unit : units) glt_ult_cancel(unit);
    for (GLT_ult& unit : units) glt_ult_free(&unit);
    EXPECT_EQ(went_on, 0);
}

TEST_P(FinishTest, AUnitThatIsSuspendedEndsWhenItIsCancelled)
{
    if (glt_can(GLT_CAN_CANCEL) == GLT_CANNOT) return; // AUnitCancelledBeforeItBeginsNeverRuns has the refusal
    cancel_while_it_waits([] { glt_ult_suspend(); });
}

TEST_P(FinishTest, AUnitCancelledBeforeItSuspendsItselfEndsThere)
{
    if (glt_can(GLT_CAN_CANCEL) == GLT_CANNOT || threads() == 1) return; // only one of two threads can come in between
    for (int round = 0; round < 20; ++round) {
        std::atomic<bool> begun = false, cancelled = false, went_on = false;
        auto body = [&] {
            begun = true;
            while (!cancelled) spin_for(1e-6);
            glt_ult_suspend();
            went_on = true;
        };
        GLT_ult unit = create_to(body, 1);
        yield_until([&] { return begun.load(); });
        if (round % 2) glt_ult_cancel(unit);
        cancelled = true;
        if (round % 2 == 0) glt_ult_cancel(unit); // about when it suspends itself
        glt_ult_free(&unit);
        EXPECT_FALSE(went_on);
    }
}

TEST_P(FinishTest, AUnitThatWaitsForAnEventOrACounterEndsWhenItIsCancelled)
{
    if (glt_can(GLT_CAN_CANCEL) == GLT_CANNOT) return;
    Event event;
    cancel_while_it_waits([&] { glt_event_wait(event.handle); });
    cancel_while_it_waits([&] { glt_event_wait_for(event.handle, 100); });
    Counter counter(1);
    cancel_while_it_waits([&] { glt_counter_wait(counter.handle); });
    event.set(); // nobody is left in the lists
    counter.add(-1);
    event.wait();
    counter.wait();
}

TEST_P(FinishTest, AUnitThatWaitsForAMutexEndsWhenItIsCancelled)
{
    if (glt_can(GLT_CAN_CANCEL_WAITING) == GLT_CANNOT) return;
    Mutex mutex;
    mutex.lock();
    cancel_while_it_waits([&] { glt_mutex_lock(mutex.handle); });
    mutex.unlock();
    EXPECT_EQ(glt_mutex_trylock(mutex.handle), 1) << "nobody of those has it";
    mutex.unlock();
}

TEST_P(FinishTest, ACancelThatCannotEndAWaitSaysSoAndTheUnitEndsAfterIt)
{
    if (glt_can(GLT_CAN_CANCEL_WAITING) != GLT_CANNOT) return; // the tests before and after
    Mutex mutex;
    mutex.lock();
    std::atomic<bool> begun = false;
    auto body = [&] {
        begun = true;
        mutex.lock();
    };
    GLT_ult unit = create(body);
    yield_until([&] { return begun.load(); });
    for (int i = 0; i < 50; ++i) glt_yield();
    spin_for(0.01);
    glt_ult_cancel(unit);
    EXPECT_EQ(taken_status(), GLT_ERROR_UNSUPPORTED);
    EXPECT_EQ(glt_last_status(), GLT_ERROR_UNSUPPORTED);
    mutex.unlock();
    glt_ult_free(&unit);
    glt_mutex_trylock(mutex.handle); // the unit may have got it and kept it
    mutex.unlock();
}

TEST_P(FinishTest, AUnitThatWaitsForAConditionHasTheMutexWhenItsFramesAreUnwound)
{
    if (glt_can(GLT_CAN_CANCEL_WAITING) == GLT_CANNOT) return;
    Mutex mutex;
    GLT_cond cond = GLT_NULL;
    glt_cond_create(&cond);
    cancel_while_it_waits([&] {
        const std::lock_guard hold(mutex);
        glt_cond_wait(cond, mutex.handle);
    });
    EXPECT_EQ(glt_mutex_trylock(mutex.handle), 1) << "each had it, and gave it back";
    mutex.unlock();
    glt_cond_broadcast(cond);
    glt_cond_free(&cond);
}

TEST_P(FinishTest, AUnitThatWaitsAtABarrierNoLongerCountsWhenItIsCancelled)
{
    if (glt_can(GLT_CAN_CANCEL_WAITING) == GLT_CANNOT) return;
    GLT_barrier barrier = GLT_NULL;
    glt_barrier_create(8, &barrier);
    cancel_while_it_waits([&] { glt_barrier_wait(&barrier); });
    std::atomic<int> arrived = 0, early = 0;
    run_units(8, [&](int) {
        arrived++;
        glt_barrier_wait(&barrier);
        early += arrived != 8;
    });
    EXPECT_EQ(early, 0);
    glt_barrier_free(&barrier);
}

TEST_P(FinishTest, AUnitThatJoinsEndsWhenItIsCancelledAndTheOtherIsStillToBeJoined)
{
    if (glt_can(GLT_CAN_CANCEL_WAITING) == GLT_CANNOT) return;
    Event event;
    auto waits = [&] { event.wait(); };
    GLT_ult other = create(waits);
    std::atomic<bool> begun = false, went_on = false;
    auto joins = [&] {
        GLT_ult copy = other;
        begun = true;
        glt_ult_join(&copy);
        went_on = true;
    };
    GLT_ult unit = create(joins);
    yield_until([&] { return begun.load(); });
    for (int i = 0; i < 50; ++i) glt_yield();
    spin_for(0.002);
    glt_ult_cancel(unit);
    glt_ult_free(&unit);
    EXPECT_FALSE(went_on);
    event.set();
    glt_ult_free(&other);
}

TEST_P(FinishTest, AUnitThatIsCancelledAndWokenAtTheSameTimeEndsOnceAndLosesNoWake)
{
    if (glt_can(GLT_CAN_CANCEL_WAITING) == GLT_CANNOT) return;
    Mutex mutex;
    GLT_cond cond = GLT_NULL;
    glt_cond_create(&cond);
    for (int round = 0; round < scaled(300); ++round) {
        Event event;
        int waiting = 0, tickets = 0;
        auto waits = [&] {
            const std::lock_guard hold(mutex);
            waiting++;
            while (tickets == 0) glt_cond_wait(cond, mutex.handle);
            tickets--;
        };
        auto listens = [&] { event.wait(); };
        GLT_ult first = create(waits), second = create(waits), third = create(listens);
        yield_until([&] {
            const std::lock_guard hold(mutex);
            return waiting == 2;
        });
        auto cancels = [&] {
            glt_ult_cancel(first);
            glt_ult_cancel(third);
        };
        GLT_ult canceller = create(cancels);
        if (round % 2) glt_yield();
        mutex.lock();
        tickets = 2; // enough for both; the one signal each must reach who is left
        glt_cond_signal(cond);
        glt_cond_signal(cond);
        mutex.unlock();
        event.set();
        glt_ult_free(&canceller);
        glt_ult_free(&first);
        glt_ult_free(&second);
        glt_ult_free(&third);
    }
    glt_cond_free(&cond);
}

/// While its frames are unwound a unit waits as ever, however often it is cancelled: `wait`, in a destructor, ends by `open`
/// alone.
template <class Wait, class Open> void cancel_while_it_is_unwound(Wait&& wait, Open&& open)
{
    std::atomic<bool> unwinding = false, opened = false, early = false;
    struct Frame {
        Wait& wait;
        std::atomic<bool>&unwinding, &opened, &early;
        ~Frame()
        {
            unwinding = true;
            wait();
            early = !opened;
        }
    };
    auto body = [&] {
        const Frame frame{wait, unwinding, opened, early};
        glt_ult_exit();
    };
    GLT_ult unit = create(body);
    yield_until([&] { return unwinding.load(); });
    for (int times = 0; times < 2; ++times) {
        for (int i = 0; i < 50; ++i) glt_yield();
        spin_for(0.002);
        glt_ult_cancel(unit);
    }
    for (int i = 0; i < 50; ++i) glt_yield();
    spin_for(0.002);
    EXPECT_FALSE(early);
    opened = true;
    open();
    glt_ult_free(&unit);
    EXPECT_FALSE(early);
}

TEST_P(FinishTest, ACancelEndsNoWaitInADestructorOfAUnitThatEnds)
{
    if (glt_can(GLT_CAN_CANCEL_WAITING) == GLT_CANNOT) return;
    Mutex mutex;
    mutex.lock();
    cancel_while_it_is_unwound(
        [&] {
            mutex.lock();
            mutex.unlock();
        },
        [&] { mutex.unlock(); });
    Event event;
    cancel_while_it_is_unwound([&] { event.wait(); }, [&] { event.set(); });
    GLT_ult unit = GLT_NULL;
    cancel_while_it_is_unwound(
        [&] {
            glt_ult_self(&unit);
            glt_ult_suspend();
        },
        [&] { glt_ult_resume(unit); });
    Event of_child;
    auto waits = [&] { of_child.wait(); };
    GLT_ult child = create(waits);
    cancel_while_it_is_unwound([&] { glt_ult_free(&child); }, [&] { of_child.set(); });
    EXPECT_EQ(child, GLT_ult{}) << "was joined";
}

TEST_P(FinishTest, AUnitWokenByASignalHasTheMutexWhenItIsCancelledOnItsWayToIt)
{
    if (glt_can(GLT_CAN_CANCEL_WAITING) == GLT_CANNOT) return;
    Mutex mutex;
    GLT_cond cond = GLT_NULL;
    glt_cond_create(&cond);
    bool waits = false; // guarded by the mutex
    std::atomic<bool> unwound = false;
    auto body = [&] {
        const std::lock_guard hold(mutex);
        waits = true;
        struct Frame {
            std::atomic<bool>& unwound;
            ~Frame() { unwound = true; }
        } frame{unwound};
        for (;;) glt_cond_wait(cond, mutex.handle);
    };
    GLT_ult unit = create(body);
    yield_until([&] {
        const std::lock_guard hold(mutex);
        return waits;
    });
    mutex.lock();
    glt_cond_signal(cond); // it now waits for the mutex
    for (int times = 0; times < 2; ++times) {
        for (int i = 0; i < 50; ++i) glt_yield();
        spin_for(0.002);
        glt_ult_cancel(unit);
    }
    for (int i = 0; i < 50; ++i) glt_yield();
    EXPECT_FALSE(unwound) << "it has the mutex first, which is ours";
    mutex.unlock();
    glt_ult_free(&unit);
    EXPECT_TRUE(unwound);
    EXPECT_EQ(glt_mutex_trylock(mutex.handle), 1) << "it gave the mutex back once";
    mutex.unlock();
    glt_cond_free(&cond);
}

TEST_P(FinishTest, CancellingAUnitThatHasEndedDoesNothing)
{
    if (glt_can(GLT_CAN_CANCEL) == GLT_CANNOT) return; // AUnitCancelledBeforeItBeginsNeverRuns has the refusal
    std::atomic<bool> ran = false;
    auto body = [&] { ran = true; };
    GLT_ult unit = create(body);
    yield_until([&] { return ran.load(); });
    for (int i = 0; i < 50; ++i) glt_yield();
    glt_ult_cancel(unit);
    glt_ult_join(&unit);
    glt_ult_free(&unit);
}

} // namespace
} // namespace trencadis::suite
