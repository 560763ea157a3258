// Who joins: one at a time, and when that one is cut, the next.
#include "suite.hpp"

namespace trencadis::suite {
namespace {

GLT_SUITE(JoinTest);

/// `end` joins or frees a copy of the handle, in a unit that is cancelled about when the joined one ends.
template <class End> void cancel_the_joiner(int rounds, End&& end)
{
    for (int round = 0; round < rounds; ++round) {
        Event event;
        auto waits = [&] { event.wait(); };
        GLT_ult child = create(waits);
        std::atomic<bool> begun = false;
        auto joins = [&] {
            GLT_ult copy = child;
            begun = true;
            end(copy);
        };
        GLT_ult joiner = create(joins);
        yield_until([&] { return begun.load(); });
        for (int i = 0; i < round % 7; ++i) glt_yield();
        event.set();
        spin_for(1e-6 * (round * 37 % 100));
        glt_ult_cancel(joiner);
        glt_ult_free(&joiner);
        // It freed the unit, or left it to us: to be joined, ...
        GLT_ult copy = child;
        GLT_ult_id id = 0;
        glt_ult_get_id(&id, child);
        glt_last_status();
        if (take_reports().empty()) { // ... then it is alive, and freed by this
            glt_ult_free(&copy);
            EXPECT_EQ(copy, GLT_ult{}) << "round " << round << ": " << glt_last_message();
        }
    }
}

TEST_P(JoinTest, AUnitWhoseJoinerIsCancelledWhileItEndsIsFreedByTheNext)
{
    if (glt_can(GLT_CAN_CANCEL_WAITING) == GLT_CANNOT) return; // FinishTest has what is then
    cancel_the_joiner(scaled(200), [](GLT_ult& unit) { glt_ult_free(&unit); });
    cancel_the_joiner(scaled(200), [](GLT_ult& unit) { glt_ult_join(&unit); });
}

/// Another thread tries to free the unit, through a copy of its handle, from before it ends until its joiner has returned.
template <class End> void free_while_it_is_joined(int rounds, End&& end)
{
    for (int round = 0; round < rounds; ++round) {
        Event event;
        auto waits = [&] { event.wait(); };
        GLT_ult unit = create(waits);
        std::atomic<bool> begun = false;
        std::atomic<int> joined = -1;
        auto joins = [&] {
            GLT_ult copy = unit;
            begun = true;
            joined = end(copy);
        };
        GLT_ult joiner = create(joins);
        yield_until([&] { return begun.load(); });
        for (int i = 0; i < 20; ++i) glt_yield();
        spin_for(0.0005); // it waits by now
        GLT_ult copy = unit;
        event.set();
        for (int tries = 1; joined == -1 && copy != GLT_ult{}; ++tries) {
            glt_ult_free(&copy);
            if (tries % 16 == 0) glt_yield();
        }
        glt_ult_free(&joiner); // comes back in any case
        EXPECT_EQ(joined, GLT_SUCCESS) << "round " << round;
        if (copy != GLT_ult{}) glt_ult_free(&copy);
        take_reports(); // each refusal is one
        EXPECT_EQ(copy, GLT_ult{}) << "round " << round << ": free after the join";
    }
    glt_last_status();
}

TEST_P(JoinTest, AFreeIsRefusedAsLongAsAnotherJoins)
{
    if (std::string(glt_backend_name()) == "argobots") return; // whose handles have one user at a time
    free_while_it_is_joined(scaled(30), [](GLT_ult& unit) {
        glt_ult_join(&unit);
        return GLT_SUCCESS;
    });
    free_while_it_is_joined(scaled(30), [](GLT_ult& unit) { return glt_ult_join_for(&unit, 5.0); });
}

} // namespace
} // namespace trencadis::suite
