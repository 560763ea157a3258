// Without memory for the stack of the next unit: who wanted to leave to it goes on itself, or waits, and goes on where it was.
#define GLT_STATIC native
#include "trencadis/glt.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

namespace trencadis::ult {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

constexpr std::size_t large = std::size_t{1} << 30;

/// Addresses for no large stack, until `end`.
class Shortage {
public:
    Shortage()
    {
        long pages = 0;
        std::FILE* sizes = std::fopen("/proc/self/statm", "r");
        if (!sizes || std::fscanf(sizes, "%ld", &pages) != 1) _exit(9);
        std::fclose(sizes);
        getrlimit(RLIMIT_AS, &before_);
        rlimit less = before_;
        less.rlim_cur = static_cast<rlim_t>(pages) * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + large / 16;
        setrlimit(RLIMIT_AS, &less);
    }
    void end() { setrlimit(RLIMIT_AS, &before_); }

private:
    rlimit before_{};
};

std::atomic<int> reports, large_ones, begun;

void must(bool holds, int code)
{
    if (!holds) _exit(code);
}

GLT_ult create_large()
{
    GLT_attributes attributes;
    GLT_ult unit = nullptr;
    glt_attributes_init(&attributes);
    attributes.stack_size = large;
    must(glt_ult_create_with([](void*) { ++large_ones; }, nullptr, &attributes, &unit) == GLT_SUCCESS, 8);
    return unit;
}

/// Runs `body` in a unit, on one thread, in the child of a test; its exit status is 0 when all was right.
[[noreturn]] void run(void (*body)(void*))
{
    alarm(20);
    GLT_options options{};
    options.num_threads = 1;
    must(glt_init_with(&options) == GLT_SUCCESS, 7);
    glt_set_error_handler([](int status, const char*) { reports += status == GLT_ERROR_MEMORY; });
    GLT_ult unit = nullptr;
    glt_ult_create(body, nullptr, &unit);
    glt_ult_free(&unit);
    must(large_ones == 1 && begun == 1 && reports == 1, 6);
    glt_finalize();
    _exit(0);
}

/// Leaves its frame on the stack as it was where it yielded.
[[gnu::noinline]] void yield_deep_down()
{
    volatile char frame[5000];
    frame[0] = 1;
    frame[4999] = 2;
    glt_yield();
    must(frame[0] + frame[4999] == 3, 5); // this call has returned, and is gone on with
}

void yields(void*)
{
    must(++begun == 1, 4);
    GLT_ult other = nullptr;
    glt_ult_create([](void*) {}, nullptr, &other);
    yield_deep_down();
    glt_ult_free(&other);
    GLT_ult unit = create_large();
    Shortage shortage;
    glt_yield();
    glt_yield(); // as often as it likes
    must(large_ones == 0, 3);
    shortage.end();
    glt_ult_free(&unit);
}

void joins(void*)
{
    ++begun;
    std::atomic<Shortage*> shortage = nullptr;
    std::thread ends([&] {
        while (!shortage) std::this_thread::sleep_for(std::chrono::milliseconds(20));
        shortage.load()->end();
    });
    GLT_ult unit = create_large();
    Shortage here;
    shortage = &here;
    glt_ult_free(&unit);
    ends.join();
}

void waits(void*)
{
    ++begun;
    GLT_event event = nullptr;
    glt_event_create(&event);
    std::atomic<bool> waiting = false;
    std::thread sets([&] {
        while (!waiting) std::this_thread::sleep_for(std::chrono::milliseconds(20));
        glt_event_set(event);
    });
    GLT_ult unit = create_large();
    Shortage shortage;
    waiting = true;
    glt_event_wait(event); // the only one who can end the shortage
    must(large_ones == 0, 3);
    shortage.end();
    sets.join();
    glt_ult_free(&unit);
    glt_event_free(&event);
}

class ShortageDeathTest : public testing::Test {
protected:
    void SetUp() override
    {
        testing::FLAGS_gtest_death_test_style = "threadsafe";
        if (sanitized) GTEST_SKIP() << "a sanitizer needs more addresses than any limit leaves";
    }
};

TEST_F(ShortageDeathTest, AYieldComesBackToWhereItWas) { EXPECT_EXIT(run(yields), testing::ExitedWithCode(0), ""); }

TEST_F(ShortageDeathTest, AJoinWaitsForTheMemoryToo) { EXPECT_EXIT(run(joins), testing::ExitedWithCode(0), ""); }

TEST_F(ShortageDeathTest, AUnitThatIsWokenGoesOnWithoutIt) { EXPECT_EXIT(run(waits), testing::ExitedWithCode(0), ""); }

} // namespace
} // namespace trencadis::ult
