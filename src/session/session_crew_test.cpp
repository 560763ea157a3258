#include "engines/engine.hpp"
#include "session/session.hpp"
#include "session/session_crew.hpp"

#include <gtest/gtest.h>

namespace trencadis {
namespace {

/// An engine's answers, as a test wants them.
struct Answers final : CallSharing {
    bool room = true, crowded = false;
    int awake = 1;

    bool attend(TaskFlow&, const std::function<void()>&) override { return false; }
    bool share_out(Index, const std::function<void(Team&)>&, Flops) override { return false; }
    bool shares(Flops) const override { return false; }
    bool is_wary() const override { return false; }
    std::int64_t line_ns() const override { return 15; }
    double flops_per_ns() const override { return 50; }
    void rouse(int, std::int64_t) override {}
    bool is_worth_waking(Flops) const override { return false; }
    bool has_room() const override { return room; }
    bool are_others_crowded() const override { return crowded; }
    int spinning() const override { return awake; }
};

TEST(SessionCrew, LeavesACallToItsCallerWhereNobodyHasTimeForIt)
{
    constexpr Flops some = 1e7;
    Session session;
    Answers answers;
    SessionCrew crew(session, &answers, nullptr, nullptr);
    EXPECT_EQ(crew.outlook(some), Crew::Outlook::ready);
    answers.crowded = true;
    EXPECT_EQ(crew.outlook(some), Crew::Outlook::busy) << "neighbours want the others' cores";
    answers.crowded = false;
    answers.room = false;
    EXPECT_EQ(crew.outlook(some), Crew::Outlook::busy) << "all are at work";
    answers.room = true;
    EXPECT_EQ(crew.outlook(some), Crew::Outlook::ready);
}

} // namespace
} // namespace trencadis
