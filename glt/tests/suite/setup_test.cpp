// Starting and ending the library: again and again, options, environment, what finalize does with units that are left.
#include <cstdlib>
#include <optional>

#include "suite.hpp"

namespace trencadis::suite {
namespace {

class SetupTest : public testing::Test {
protected:
    void SetUp() override
    {
        glt_set_error_handler([](int, const char*) {}); // these tests ask for the status
        glt_last_status();
    }
    void TearDown() override
    {
        if (glt_initialized()) glt_finalize();
        glt_last_status();
    }
    static int start(int threads)
    {
        GLT_options options{};
        options.num_threads = threads;
        return glt_init_with(&options);
    }
};

/// Sets an environment variable for the length of a scope.
class Variable {
public:
    Variable(const char* name, const char* value) : name_(name)
    {
        if (const char* old = std::getenv(name)) old_ = old;
        setenv(name, value, 1);
    }
    Variable(const Variable&) = delete;
    ~Variable()
    {
        if (old_) setenv(name_, old_->c_str(), 1);
        else unsetenv(name_);
    }

private:
    const char* name_;
    std::optional<std::string> old_;
};

void run_some_units(int count)
{
    std::atomic<int> runs = 0;
    run_units(count, [&](int) {
        glt_yield();
        runs++;
    });
    EXPECT_EQ(runs, count);
}

/// Threads vanish from /proc a moment after they were joined.
bool threads_come_down_to(int count)
{
    for (int i = 0; i < 1000 && os_threads_in_process() > count; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return os_threads_in_process() <= count;
}

TEST_F(SetupTest, StartsAndEndsAHundredTimesWithAnotherNumberOfThreadsEachTime)
{
    ASSERT_EQ(start(2), GLT_SUCCESS); // what a library keeps for good is there now
    glt_finalize();
    const int os_threads = os_threads_in_process();
    long resident = 0;
    for (int i = 0; i < 100; ++i) {
        const int threads = 1 + (i * 5) % 8;
        ASSERT_EQ(start(threads), GLT_SUCCESS) << "round " << i << ": " << glt_last_message();
        ASSERT_EQ(glt_get_num_threads(), threads);
        ASSERT_EQ(glt_get_thread_num(), 0);
        run_some_units(10);
        glt_finalize();
        ASSERT_EQ(glt_initialized(), 0);
        ASSERT_EQ(glt_last_status(), GLT_SUCCESS);
        if (i == 30) resident = resident_kib();
    }
    EXPECT_TRUE(threads_come_down_to(os_threads)) << os_threads_in_process() << " OS threads, were " << os_threads;
    if (!sanitized) {
        EXPECT_LT(resident_kib() - resident, 8192);
    }
}

TEST_F(SetupTest, PlainInitTakesTheEnvironment)
{
    const Variable threads("GLT_NUM_THREADS", "3");
    glt_init(0, nullptr);
    ASSERT_TRUE(glt_initialized()) << glt_last_message();
    EXPECT_EQ(glt_get_num_threads(), 3);
    EXPECT_STRNE(glt_backend_name(), "");
    run_some_units(10);
    glt_finalize();
    EXPECT_STREQ(glt_backend_name(), "");
    EXPECT_EQ(glt_get_num_threads(), 0);
}

TEST_F(SetupTest, OptionsComeBeforeTheEnvironment)
{
    const Variable threads("GLT_NUM_THREADS", "3"), bind("GLT_BIND", "0");
    ASSERT_EQ(start(2), GLT_SUCCESS);
    EXPECT_EQ(glt_get_num_threads(), 2);
    glt_finalize();
    ASSERT_EQ(start(0), GLT_SUCCESS) << "what is left open is the environment's";
    EXPECT_EQ(glt_get_num_threads(), 3);
    glt_finalize();
    ASSERT_EQ(glt_init_with(nullptr), GLT_SUCCESS);
    EXPECT_EQ(glt_get_num_threads(), 3);
}

TEST_F(SetupTest, TheStackSizeIsTakenFromTheEnvironmentWithAnEnding)
{
    for (const char* size : {"2m", "2048k", "2097152"}) {
        const Variable stack("GLT_STACK_SIZE", size);
        ASSERT_EQ(start(2), GLT_SUCCESS) << glt_last_message();
        run_units(2, [](int) { use_stack(sanitized ? 500 : 1500); });
        glt_finalize();
    }
}

TEST_F(SetupTest, AVariableThatCannotBeReadIsAnErrorAndNothingStarts)
{
    for (const auto& [name, value] :
         {std::pair{"GLT_NUM_THREADS", "many"}, std::pair{"GLT_NUM_THREADS", "-2"}, std::pair{"GLT_NUM_THREADS", "1000000"},
          std::pair{"GLT_STACK_SIZE", "12q"}, std::pair{"GLT_STACK_SIZE", "100"}, std::pair{"GLT_IDLE", "sometimes"},
          std::pair{"GLT_BIND", "perhaps"}}) {
        const Variable variable(name, value);
        EXPECT_EQ(glt_init_with(nullptr), GLT_ERROR_ENVIRONMENT) << name << "=" << value;
        EXPECT_EQ(glt_last_status(), GLT_ERROR_ENVIRONMENT);
        EXPECT_NE(std::string(glt_last_message()).find(name), std::string::npos) << glt_last_message();
        EXPECT_FALSE(glt_initialized());
        if (glt_initialized()) glt_finalize();
    }
}

TEST_F(SetupTest, BadOptionsAreRefusedAndNothingStarts)
{
    const auto refused = [](const GLT_options& options, int right) {
        EXPECT_EQ(glt_init_with(&options), right);
        EXPECT_EQ(glt_last_status(), right) << glt_last_message();
        EXPECT_FALSE(glt_initialized());
    };
    GLT_options options{};
    for (int threads : {-1, GLT_MAX_THREADS + 1}) {
        options.num_threads = threads;
        refused(options, GLT_ERROR_VALUE);
    }
    options = {};
    options.stack_size = GLT_STACK_MIN - 1;
    refused(options, GLT_ERROR_VALUE);
    options = {};
    options.idle = 4;
    refused(options, GLT_ERROR_VALUE);
    options.idle = -1;
    refused(options, GLT_ERROR_VALUE);
    options = {};
    options.bind = 2;
    refused(options, GLT_ERROR_VALUE);
    options = {};
    options.backend = "porridge";
    EXPECT_NE(glt_init_with(&options), GLT_SUCCESS);
    const int status = glt_last_status();
    EXPECT_TRUE(status == GLT_ERROR_VALUE || status == GLT_ERROR_MISSING) << status;
    EXPECT_NE(std::string(glt_last_message()).find("porridge"), std::string::npos) << glt_last_message();
    ASSERT_EQ(start(2), GLT_SUCCESS) << "a refusal leaves nothing behind";
    run_some_units(10);
}

TEST_F(SetupTest, TheSecondInitIsRefusedAndTheFirstGoesOn)
{
    ASSERT_EQ(start(2), GLT_SUCCESS);
    EXPECT_EQ(start(4), GLT_ERROR_STATE);
    EXPECT_EQ(glt_last_status(), GLT_ERROR_STATE);
    EXPECT_EQ(glt_get_num_threads(), 2);
    run_some_units(10);
    glt_finalize();
    glt_finalize();
    EXPECT_EQ(glt_last_status(), GLT_ERROR_STATE);
}

TEST_F(SetupTest, FinalizeRunsWhatIsReady)
{
    for (int threads : {1, 2, 4}) {
        ASSERT_EQ(start(threads), GLT_SUCCESS);
        std::atomic<int> runs = 0;
        auto body = [&] {
            glt_yield();
            runs++;
        };
        for (int i = 0; i < 100; ++i) {
            GLT_ult unit = create(body);
            glt_ult_detach(&unit);
        }
        glt_finalize();
        EXPECT_EQ(runs, 100);
        EXPECT_EQ(glt_last_status(), GLT_SUCCESS);
    }
}

TEST_F(SetupTest, FinalizeNamesUnitsThatWaitForEver)
{
    for (int threads : {1, 2}) {
        ASSERT_EQ(start(threads), GLT_SUCCESS);
        GLT_event never = GLT_NULL;
        ASSERT_EQ(glt_event_create(&never), GLT_SUCCESS);
        GLT_attributes attributes;
        glt_attributes_init(&attributes);
        attributes.name = "the_sleeper";
        attributes.detached = 1;
        ASSERT_EQ(
            glt_ult_create_with([](void* event) { glt_event_wait(static_cast<GLT_event>(event)); }, never, &attributes, GLT_NULL),
            GLT_SUCCESS);
        for (int i = 0; i < 100; ++i) glt_yield();
        glt_finalize();
        EXPECT_EQ(glt_last_status(), GLT_ERROR_STATE);
        EXPECT_NE(std::string(glt_last_message()).find("the_sleeper"), std::string::npos) << glt_last_message();
        EXPECT_FALSE(glt_initialized());
    }
    ASSERT_EQ(start(2), GLT_SUCCESS) << "and the library starts again";
    run_some_units(10);
}

TEST_F(SetupTest, OnlyTheThreadThatStartedItEndsIt)
{
    ASSERT_EQ(start(2), GLT_SUCCESS);
    Foreign([] {
        glt_finalize();
        EXPECT_EQ(glt_last_status(), GLT_ERROR_CONTEXT);
    });
    run_units(1, [](int) {
        glt_finalize();
        EXPECT_EQ(glt_last_status(), GLT_ERROR_CONTEXT);
    });
    EXPECT_TRUE(glt_initialized());
    run_some_units(10);
}

TEST_F(SetupTest, AnotherThreadMayBeTheMainProgramNextTime)
{
    for (int i = 0; i < 3; ++i)
        std::thread([] {
            EXPECT_EQ(start(2), GLT_SUCCESS);
            const int os = os_thread();
            run_some_units(20);
            EXPECT_EQ(os_thread(), os);
            EXPECT_EQ(glt_get_thread_num(), 0);
            glt_finalize();
            EXPECT_EQ(glt_last_status(), GLT_SUCCESS);
        }).join();
}

TEST_F(SetupTest, EveryIdlePolicyItCanWorksAndTheOthersAreRefused)
{
    constexpr int bits[] = {GLT_CAN_IDLE_SPIN, GLT_CAN_IDLE_SPIN_SLEEP, GLT_CAN_IDLE_SLEEP};
    for (int idle = GLT_IDLE_SPIN; idle <= GLT_IDLE_SLEEP; ++idle) {
        ASSERT_EQ(start(2), GLT_SUCCESS);
        const bool can = glt_can(bits[idle - GLT_IDLE_SPIN]) != GLT_CANNOT;
        glt_finalize();
        GLT_options options{};
        options.num_threads = 2;
        options.idle = idle;
        ASSERT_EQ(glt_init_with(&options), can ? GLT_SUCCESS : GLT_ERROR_UNSUPPORTED);
        if (!can) continue;
        run_some_units(50);
        std::this_thread::sleep_for(std::chrono::milliseconds(5)); // the others fall asleep, where they do
        run_some_units(50);
        glt_finalize();
    }
    glt_last_status();
}

TEST_F(SetupTest, StandardNumbersOfThreadsAreTheCoresOfThisProcess)
{
    unsetenv("GLT_NUM_THREADS");
    cpu_set_t mask, one;
    ASSERT_EQ(sched_getaffinity(0, sizeof(mask), &mask), 0);
    ASSERT_EQ(glt_init_with(nullptr), GLT_SUCCESS);
    EXPECT_EQ(glt_get_num_threads(), CPU_COUNT(&mask));
    glt_finalize();
    ASSERT_EQ(sched_getaffinity(0, sizeof(one), &one), 0);
    EXPECT_TRUE(CPU_EQUAL(&mask, &one)) << "finalize gives the caller its cores back";
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
        if (CPU_ISSET(cpu, &mask)) CPU_SET(cpu, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    ASSERT_EQ(glt_init_with(nullptr), GLT_SUCCESS);
    EXPECT_EQ(glt_get_num_threads(), 1);
    glt_finalize();
    ASSERT_EQ(start(3), GLT_SUCCESS) << "more threads than cores";
    run_some_units(20);
    glt_finalize();
    sched_setaffinity(0, sizeof(mask), &mask);
}

} // namespace
} // namespace trencadis::suite
