// The last error of libglt.so and its handler.
#include "harness.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>

namespace {

std::atomic<int> heard;

void listen(int, const char*) { ++heard; }

class Quiet {
public:
    Quiet() { glt_set_error_handler(listen); }
    ~Quiet() { glt_set_error_handler(nullptr); }
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;
};

} // namespace

TEST(LastError, BelongsToTheThreadThatMadeIt)
{
    Quiet quiet;
    glt_last_status();
    std::thread other([] {
        glt_mutex_lock(nullptr);
        EXPECT_NE(std::string(glt_last_message()).find("glt_mutex_lock"), std::string::npos);
        EXPECT_EQ(glt_last_status(), GLT_ERROR_STATE);
        EXPECT_EQ(glt_last_status(), GLT_SUCCESS);
    });
    other.join();
    EXPECT_EQ(glt_last_status(), GLT_SUCCESS);
}

TEST(LastError, IsEmptyInAThreadThatMadeNone)
{
    std::thread fresh([] {
        EXPECT_STREQ(glt_last_message(), "");
        EXPECT_EQ(glt_last_status(), GLT_SUCCESS);
    });
    fresh.join();
}

TEST(LastError, ReachesTheHandlerFromManyThreadsAtOnce)
{
    Quiet quiet;
    heard = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([t] {
            for (int i = 0; i < 1000; ++i) {
                glt_counter_create(-1 - t, nullptr);
                EXPECT_EQ(glt_last_status(), GLT_ERROR_STATE);
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(heard, 4000);
}

TEST(LastError, IsWrittenAsOneLineByTheStandardHandler)
{
    testing::internal::CaptureStderr();
    glt_yield();
    EXPECT_EQ(testing::internal::GetCapturedStderr(), std::string(glt_last_message()) + "\n");
    EXPECT_EQ(glt_last_status(), GLT_ERROR_STATE);
}

TEST(LastError, OfABackEndArrivesInTheSamePlace)
{
    for (const std::string& backend : glt_forms::backends()) {
        SCOPED_TRACE(backend);
        glt_forms::Errors errors;
        GLT_options options{};
        options.backend = backend.c_str();
        options.num_threads = 100000;
        EXPECT_EQ(glt_init_with(&options), GLT_ERROR_VALUE);
        EXPECT_EQ(errors.count(), 1u);
        EXPECT_EQ(errors.text(), glt_last_message());
        EXPECT_EQ(glt_last_status(), GLT_ERROR_VALUE);
    }
}

TEST(LastError, OnlyOneOfManyThreadsInitialises)
{
    for (const std::string& backend : glt_forms::backends()) {
        SCOPED_TRACE(backend);
        Quiet quiet;
        GLT_options options{};
        options.backend = backend.c_str();
        options.num_threads = 2;
        ASSERT_EQ(glt_init_with(&options), GLT_SUCCESS);
        std::atomic<int> refused{0};
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t) threads.emplace_back([&] { refused += glt_init_with(&options) == GLT_ERROR_STATE; });
        for (std::thread& thread : threads) thread.join();
        EXPECT_EQ(refused, 4);
        glt_finalize();
        EXPECT_EQ(glt_initialized(), 0);
    }
}
