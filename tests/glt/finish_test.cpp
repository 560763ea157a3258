// The ways a unit ends before its function returns: exit, cancel.
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
