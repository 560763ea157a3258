// Bad input: a status and a message, never a crash or a silent nothing; the same status in both forms, over every back end.
#include "suite.hpp"

#include <limits>
#include <set>

namespace trencadis::suite {
namespace {

GLT_SUITE(BadInputTest);

/// Calls any function of the list with zeros and null pointers for arguments.
template <class Result, class... Arguments> void call_with_nothing(Result (*function)(Arguments...))
{
    (void)function(Arguments{}...);
}

struct Call {
    const char* name;
    void (*call)();
};
const Call calls[] = {
#define GLT_FUNCTION(result, name, parameters, arguments) {#name, [] { call_with_nothing(glt_##name); }},
#define GLT_PROCEDURE(name, parameters, arguments) {#name, [] { call_with_nothing(glt_##name); }},
#include "trencadis/glt/functions.def"
#undef GLT_FUNCTION
#undef GLT_PROCEDURE
};

/// Those that need no library, and those that start one.
const std::set<std::string> always = {
    "initialized", "backend_name",        "last_status",          "last_message",         "status_text",    "set_error_handler",
    "get_wtime",   "get_num_threads",     "get_thread_num",       "ult_malloc",           "tasklet_malloc", "init",
    "init_with",   "can_event_functions", "can_future_functions", "can_manage_scheduler", "can_scheduler",  "can_malleability"};

/// What a call answers to zeros and null pointers: null where an answer or something new goes and null functions are wrong
/// values, all else are handles.
int status_of_nothing(const std::string& name)
{
    const bool makes = name.find("create") != std::string::npos, asks = name.find("self") != std::string::npos;
    const std::set<std::string> values = {"attributes_init", "ult_get_id", "workunit_get_thread_id", "key_get", "timer_get_secs"};
    if (name == "ult_migrate_self_to") return GLT_ERROR_UNSUPPORTED;
    return makes || asks || values.count(name) ? GLT_ERROR_VALUE : GLT_ERROR_HANDLE;
}

TEST(BadInput, EveryCallBeforeInitAndAfterFinalizeAnswersSo)
{
    for (int round = 0; round < 2; ++round) {
        ASSERT_FALSE(glt_initialized());
        take_reports();
        for (const Call& call : calls) {
            if (always.count(call.name) || (!checked_form && std::string(call.name) == "can")) continue; // it knows what it is
            glt_set_error_handler([](int, const char*) {});
            glt_last_status();
            call.call();
            const int status = glt_last_status();
            EXPECT_EQ(status, GLT_ERROR_STATE) << "glt_" << call.name;
            EXPECT_NE(std::string(glt_last_message()).find("glt_" + std::string(call.name)), std::string::npos)
                << glt_last_message();
        }
        if (round == 1) break;
        glt_init(0, nullptr);
        ASSERT_TRUE(glt_initialized());
        glt_finalize();
    }
}

TEST_P(BadInputTest, EveryCallWithNothingAnswersSoAndChangesNothing)
{
    // With zeros these are right, or would end this very test.
    std::set<std::string> right = always;
    right.insert({"finalize", "can", "yield", "ult_suspend", "ult_exit", "counter_create"});
    if (glt_can(GLT_CAN_MIGRATE) != GLT_CANNOT) right.insert("ult_migrate_self_to"); // to thread 0, where it is
    for (const Call& call : calls) {
        if (right.count(call.name)) continue;
        take_reports();
        glt_last_status();
        call.call();
        EXPECT_EQ(glt_last_status(), status_of_nothing(call.name)) << "glt_" << call.name;
        const std::vector<Report> reports = take_reports();
        ASSERT_EQ(reports.size(), 1u) << "glt_" << call.name;
        EXPECT_NE(reports[0].message.find("glt_" + std::string(call.name)), std::string::npos) << reports[0].message;
    }
    std::atomic<int> runs = 0;
    run_units(20, [&](int) { runs++; });
    EXPECT_EQ(runs, 20);
}

void expect(int status, const char* what)
{
    EXPECT_EQ(glt_last_status(), status) << what << ": " << glt_last_message();
    EXPECT_EQ(taken_status(), status) << what;
}

TEST_P(BadInputTest, DoubleJoinsAndFreesAreFound)
{
    // Its handles are the library's own, for which a second join is none.
    if (!checked_form && std::string(glt_backend_name()) == "argobots") GTEST_SKIP() << "only libglt.so sees a second join";
    auto body = [] {};
    GLT_ult unit = create(body);
    glt_ult_join(&unit);
    glt_ult_join(&unit);
    expect(GLT_ERROR_HANDLE, "join twice");
    EXPECT_EQ(glt_ult_try_join(&unit), GLT_ERROR_HANDLE);
    expect(GLT_ERROR_HANDLE, "try_join after join");
    EXPECT_EQ(glt_ult_join_for(&unit, 0.1), GLT_ERROR_HANDLE);
    expect(GLT_ERROR_HANDLE, "join_for after join");
    EXPECT_EQ(glt_ult_detach(&unit), GLT_ERROR_HANDLE);
    expect(GLT_ERROR_HANDLE, "detach after join");
    glt_ult_free(&unit);
    glt_ult_free(&unit);
    expect(GLT_ERROR_HANDLE, "free twice");
    GLT_tasklet tasklet = create_tasklet(body);
    glt_tasklet_join(&tasklet);
    glt_tasklet_join(&tasklet);
    expect(GLT_ERROR_HANDLE, "join a tasklet twice");
    glt_tasklet_free(&tasklet);
    glt_tasklet_free(&tasklet);
    expect(GLT_ERROR_HANDLE, "free a tasklet twice");
}

TEST_P(BadInputTest, DoubleJoinsThroughACopyOfTheHandleAreFound)
{
    auto body = [] {};
    GLT_ult unit = create(body), copy = unit;
    glt_ult_join(&unit);
    glt_ult_join(&copy);
    if (std::string(glt_backend_name()) == "argobots") // its handles are the library's own, for which a second join is none
        EXPECT_EQ(taken_status(), GLT_SUCCESS);
    else expect(GLT_ERROR_HANDLE, "join a copy of a joined handle");
    glt_ult_free(&unit);
}

TEST_P(BadInputTest, AUnitThatJoinsItselfIsTold)
{
    std::atomic<bool> gone_on = false;
    auto body = [&] {
        GLT_ult self = GLT_NULL;
        glt_ult_self(&self);
        glt_ult_join(&self);
        EXPECT_EQ(glt_last_status(), GLT_ERROR_CONTEXT);
        gone_on = true;
    };
    GLT_ult unit = create(body);
    yield_until([&] { return gone_on.load(); }); // a join from here, meanwhile, would be the first
    glt_ult_free(&unit);
    EXPECT_EQ(taken_status(), GLT_ERROR_CONTEXT);
}

TEST_P(BadInputTest, NumbersOutOfTheirRangeAreRefused)
{
    std::atomic<int> runs = 0;
    auto body = [&] { runs++; };
    for (int thread : {-2, -1, threads(), 1 << 30}) {
        GLT_ult unit = create_to(body, thread);
        EXPECT_EQ(unit, GLT_ult{});
        expect(GLT_ERROR_VALUE, "create_to");
        GLT_tasklet tasklet = GLT_NULL;
        glt_tasklet_create_to(call_body<decltype(body)>, &body, &tasklet, thread);
        expect(GLT_ERROR_VALUE, "tasklet_create_to");
        glt_ult_migrate_self_to(thread);
        expect(GLT_ERROR_VALUE, "migrate");
    }
    GLT_attributes attributes;
    GLT_ult unit = GLT_NULL;
    const auto refused = [&](const char* what) {
        EXPECT_EQ(glt_ult_create_with(call_body<decltype(body)>, &body, &attributes, &unit), GLT_ERROR_VALUE) << what;
        expect(GLT_ERROR_VALUE, what);
        EXPECT_EQ(unit, GLT_ult{});
        glt_attributes_init(&attributes);
    };
    glt_attributes_init(&attributes);
    attributes.stack_size = GLT_STACK_MIN - 1;
    refused("a stack too small");
    attributes.thread = threads();
    refused("a thread that is not there");
    attributes.placement = 7;
    refused("an unknown placement");
    attributes.placement = GLT_PLACE_STRICT;
    refused("a strict placement without a thread");
    EXPECT_EQ(runs, 0);
}

TEST_P(BadInputTest, ATaskletHasNoStackWhoseSizeCouldBeWrong)
{
    std::atomic<int> runs = 0;
    auto body = [&] { runs++; };
    GLT_attributes attributes;
    glt_attributes_init(&attributes);
    attributes.stack_size = GLT_STACK_MIN - 1;
    GLT_tasklet tasklet = GLT_NULL;
    ASSERT_EQ(glt_tasklet_create_with(call_body<decltype(body)>, &body, &attributes, &tasklet), GLT_SUCCESS);
    glt_tasklet_join(&tasklet);
    glt_tasklet_free(&tasklet);
    EXPECT_EQ(runs, 1);
}

TEST_P(BadInputTest, TimesThatAreNoneAreRefused)
{
    Event event;
    Counter counter(1);
    Event gate;
    auto body = [&] { gate.wait(); };
    GLT_ult unit = create(body);
    for (double seconds : {-1.0, -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
        EXPECT_EQ(glt_event_wait_for(event.handle, seconds), GLT_ERROR_VALUE);
        expect(GLT_ERROR_VALUE, "event");
        EXPECT_EQ(glt_counter_wait_for(counter.handle, seconds), GLT_ERROR_VALUE);
        expect(GLT_ERROR_VALUE, "counter");
        EXPECT_EQ(glt_ult_join_for(&unit, seconds), GLT_ERROR_VALUE);
        expect(GLT_ERROR_VALUE, "join");
    }
    gate.set();
    glt_ult_free(&unit);
}

TEST_P(BadInputTest, BarriersForNobodyAreRefused)
{
    for (int waiters : {0, -3}) {
        GLT_barrier barrier = GLT_NULL;
        glt_barrier_create(waiters, &barrier);
        EXPECT_EQ(barrier, GLT_barrier{});
        expect(GLT_ERROR_VALUE, "barrier");
    }
    EXPECT_EQ(glt_ult_malloc(-1), nullptr);
    expect(GLT_ERROR_VALUE, "malloc");
}

TEST_P(BadInputTest, FreedThingsAreNullAndRefused)
{
    GLT_mutex mutex = GLT_NULL;
    glt_mutex_create(&mutex);
    glt_mutex_free(&mutex);
    EXPECT_EQ(mutex, GLT_mutex{});
    glt_mutex_lock(mutex);
    expect(GLT_ERROR_HANDLE, "lock");
    EXPECT_EQ(glt_mutex_trylock(mutex), 0);
    expect(GLT_ERROR_HANDLE, "trylock");
    glt_mutex_free(&mutex);
    expect(GLT_ERROR_HANDLE, "free");
    GLT_event event = GLT_NULL;
    ASSERT_EQ(glt_event_create(&event), GLT_SUCCESS);
    ASSERT_EQ(glt_event_free(&event), GLT_SUCCESS);
    EXPECT_EQ(event, GLT_event{});
    EXPECT_EQ(glt_event_free(&event), GLT_ERROR_HANDLE);
    expect(GLT_ERROR_HANDLE, "free");
}

} // namespace
} // namespace trencadis::suite
