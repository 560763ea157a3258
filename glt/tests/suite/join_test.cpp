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

} // namespace
} // namespace trencadis::suite
