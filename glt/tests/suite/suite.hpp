/// What the tests of GLT share: a session per test, the errors it reported, units and foreign threads from callables.
#pragma once

#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "trencadis/glt.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define GLT_SUITE_SANITIZED 1
#else
#define GLT_SUITE_SANITIZED 0
#endif

namespace trencadis::suite {

/// The header-only form leaves out checks of arguments, so tests of bad input ask this first.
#ifdef GLT_STATIC
inline constexpr bool checked_form = false;
#else
inline constexpr bool checked_form = true;
#endif
inline constexpr bool sanitized = GLT_SUITE_SANITIZED != 0;

/// Counts of the short version, made larger by GLT_SUITE_LONG=1 and smaller under sanitizers.
int scaled(int count);
bool long_version();

/// Every test ends within its limit or the program is aborted with its name; a longer limit is asked for at a test's start.
void set_time_limit(double seconds);

struct Report {
    int status;
    std::string message;
};
/// The errors handed to the error handler since the last question.
std::vector<Report> take_reports();
/// The status of the errors since the last question, which must all be the same and have a message each; success when none.
int taken_status();

/// The number the system gives the calling thread. Not pthread_self, which compilers may remember across a switch.
int os_thread();
int os_threads_in_process();
/// Resident memory in KiB.
long resident_kib();
/// Seconds of processor time this process has used.
double processor_seconds();
/// Where a unit is an OS thread of its own, numbers of threads are names only and a thousand units are many.
bool unit_is_os_thread();

/// Keeps the processor busy for about so long, without a call a back end could see.
void spin_for(double seconds);

/// Uses about so many KiB of the caller's stack.
int use_stack(int kib);

/// GLT with GetParam() threads for the length of a test. Errors that no test took are failures.
class Session : public testing::TestWithParam<int> {
protected:
    void SetUp() override;
    void TearDown() override;
    int threads() const { return GetParam(); }
};
#define GLT_SUITE(fixture)                                                                                                       \
    class fixture : public Session {};                                                                                           \
    INSTANTIATE_TEST_SUITE_P(Threads, fixture, testing::Values(1, 2, 4), testing::PrintToStringParamName())

/// Ends the session of a test early and starts another one with these options.
void restart(const GLT_options& options);

/// True when the back end can. When it cannot, the call must say so, and the rest of the test is left out for that reason.
template <class Call> bool can_or_refuses(int capability, Call&& call)
{
    if (glt_can(capability) != GLT_CANNOT) return true;
    glt_last_status();
    call();
    EXPECT_EQ(glt_last_status(), GLT_ERROR_UNSUPPORTED) << "capability " << capability << " cannot, so the call must say so";
    EXPECT_EQ(taken_status(), GLT_ERROR_UNSUPPORTED);
    return false;
}

/// Yields until the condition holds; the test's time limit ends a wait for ever.
template <class Condition> void yield_until(Condition&& condition)
{
    while (!condition()) glt_yield();
}

template <class Body> void call_body(void* body) { (*static_cast<Body*>(body))(); }

/// A unit that runs `body`, which must outlive it.
template <class Body> GLT_ult create(Body& body)
{
    GLT_ult unit = GLT_NULL;
    glt_ult_create(call_body<Body>, &body, &unit);
    return unit;
}
template <class Body> GLT_ult create_to(Body& body, int thread)
{
    GLT_ult unit = GLT_NULL;
    glt_ult_create_to(call_body<Body>, &body, &unit, thread);
    return unit;
}
template <class Body> GLT_tasklet create_tasklet(Body& body)
{
    GLT_tasklet tasklet = GLT_NULL;
    glt_tasklet_create(call_body<Body>, &body, &tasklet);
    return tasklet;
}

/// Units 0 .. count - 1 that run body(index), all joined and freed when wait() or the destructor is through.
template <class Body> class Units {
public:
    Units(int count, Body body) : body_(std::move(body)), tasks_(count), handles_(count)
    {
        for (int i = 0; i < count; ++i) {
            tasks_[i] = {&body_, i};
            glt_ult_create(run, &tasks_[i], &handles_[i]);
        }
    }
    Units(const Units&) = delete;
    ~Units() { wait(); }
    void wait()
    {
        for (GLT_ult& unit : handles_) glt_ult_join(&unit);
        for (GLT_ult& unit : handles_) glt_ult_free(&unit);
        handles_.clear();
    }
    GLT_ult handle(int index) const { return handles_[index]; }

private:
    struct Task {
        Body* body;
        int index;
    };
    static void run(void* task) { (*static_cast<Task*>(task)->body)(static_cast<Task*>(task)->index); }
    Body body_;
    std::vector<Task> tasks_;
    std::vector<GLT_ult> handles_;
};
template <class Body> void run_units(int count, Body body) { Units<Body>(count, std::move(body)).wait(); }

/// An OS thread that GLT did not create. Waiting for it lets units run, which it may itself be waiting for.
class Foreign {
public:
    template <class Body>
    explicit Foreign(Body body)
        : thread_([this, body = std::move(body)] {
              body();
              done_.store(true, std::memory_order_release);
          })
    {
    }
    ~Foreign()
    {
        yield_until([&] { return done_.load(std::memory_order_acquire); });
        thread_.join();
    }

private:
    std::atomic<bool> done_{false};
    std::thread thread_; // after done_, which it sets
};

/// RAII for what tests make often.
struct Mutex {
    GLT_mutex handle = GLT_NULL;
    Mutex() { glt_mutex_create(&handle); }
    Mutex(const Mutex&) = delete;
    ~Mutex() { glt_mutex_free(&handle); }
    void lock() { glt_mutex_lock(handle); }
    void unlock() { glt_mutex_unlock(handle); }
};
struct Event {
    GLT_event handle = GLT_NULL;
    Event() { EXPECT_EQ(glt_event_create(&handle), GLT_SUCCESS); }
    Event(const Event&) = delete;
    ~Event() { EXPECT_EQ(glt_event_free(&handle), GLT_SUCCESS); }
    void set() { EXPECT_EQ(glt_event_set(handle), GLT_SUCCESS); }
    void wait() { EXPECT_EQ(glt_event_wait(handle), GLT_SUCCESS); }
};
struct Counter {
    GLT_counter handle = GLT_NULL;
    explicit Counter(long count) { EXPECT_EQ(glt_counter_create(count, &handle), GLT_SUCCESS); }
    Counter(const Counter&) = delete;
    ~Counter() { EXPECT_EQ(glt_counter_free(&handle), GLT_SUCCESS); }
    void add(long change) { EXPECT_EQ(glt_counter_add(handle, change), GLT_SUCCESS); }
    void wait() { EXPECT_EQ(glt_counter_wait(handle), GLT_SUCCESS); }
};

} // namespace trencadis::suite
