// The main program is a unit, and yet stays where it is: on its OS thread and on its stack.
#include <cerrno>

#include "suite.hpp"

namespace trencadis::suite {
namespace {

GLT_SUITE(MainProgramTest);

/// Where a function finds itself. Not inlined, so that nothing about it is remembered from an earlier call.
struct Place {
    int os_thread;
    const void* thread_local_data;
    bool operator==(const Place&) const = default;
};
[[gnu::noinline]] Place here() { return {os_thread(), &errno}; }

/// Far less than the distance between any two stacks.
bool on_stack_of(const char* local)
{
    const char mine = 0;
    const std::ptrdiff_t distance = &mine - local;
    return distance > -65536 && distance < 65536;
}

/// The main program and a unit, which wait for each other in every way that there is.
struct Meeting {
    Mutex mutex;
    GLT_cond cond = GLT_NULL;
    GLT_barrier barrier = GLT_NULL;
    GLT_ult main = GLT_NULL;
    Event begun, done;
    Counter counter{1};
    bool signalled = false;
    const bool suspends = glt_can(GLT_CAN_SUSPEND) != GLT_CANNOT;

    Meeting()
    {
        glt_cond_create(&cond);
        glt_barrier_create(2, &barrier);
        glt_ult_self(&main);
    }
    ~Meeting()
    {
        glt_cond_free(&cond);
        glt_barrier_free(&barrier);
    }
    void unit()
    {
        mutex.lock();
        begun.set();
        for (int k = 0; k < 3; ++k) glt_yield();
        mutex.unlock();
        glt_barrier_wait(&barrier);
        glt_yield();
        done.set();
        glt_yield();
        counter.add(-1);
        mutex.lock();
        signalled = true;
        glt_cond_signal(cond);
        mutex.unlock();
        if (suspends) glt_ult_resume(main);
    }
    template <class Check> void main_program(Check&& check)
    {
        begun.wait();
        check("event");
        mutex.lock();
        check("lock");
        mutex.unlock();
        glt_barrier_wait(&barrier);
        check("barrier");
        done.wait();
        counter.wait();
        check("counter");
        mutex.lock();
        while (!signalled) glt_cond_wait(cond, mutex.handle);
        mutex.unlock();
        check("condition");
        if (suspends) glt_ult_suspend();
        check("suspend");
    }
};

TEST_P(MainProgramTest, KeepsItsIdentityOverHundredsOfBlockingCalls)
{
    const char local = 0;
    const Place place = here();
    const auto check = [&](const char* after) {
        ASSERT_EQ(here().os_thread, place.os_thread) << after;
        ASSERT_EQ(here(), place) << after;
        ASSERT_EQ(glt_get_thread_num(), 0) << after;
        if (!sanitized) { // whose frames may lie elsewhere
            ASSERT_TRUE(on_stack_of(&local)) << after;
        }
    };
    const int rounds = scaled(60);
    for (int i = 0; i < rounds; ++i) {
        Meeting meeting;
        Units other(1, [&](int) { meeting.unit(); });
        meeting.main_program(check);
        other.wait();
        check("join");
        glt_yield();
        check("yield");
        EXPECT_EQ(glt_event_reset(meeting.done.handle), GLT_SUCCESS);
        EXPECT_EQ(glt_event_wait_for(meeting.done.handle, 1e-4), GLT_TIMEOUT);
        check("timed wait");
    }
}

TEST_P(MainProgramTest, IsNeverRunByAnotherThreadWhileItSpins)
{
    const Place place = here();
    Units busy(4 * threads(), [](int) {
        for (int i = 0; i < 100; ++i) glt_yield();
    });
    for (int i = 0; i < 500; ++i) {
        glt_yield();
        ASSERT_EQ(here(), place);
    }
    busy.wait();
}

} // namespace
} // namespace trencadis::suite
