#include "graph/owner_computes.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>
#include <vector>

namespace trencadis {
namespace {

using Number = OwnerComputes::Number;
using Use = OwnerComputes::Use;

/// All processes side by side, with a number for each value: what a task reads must be what was written last.
class Together {
public:
    explicit Together(int size) : memory_(std::size_t(size))
    {
        for (int rank = 0; rank < size; ++rank) plans_.emplace_back(rank);
    }
    void task(std::int16_t executor, const std::vector<Use>& uses)
    {
        std::vector<OwnerComputes::Step> steps;
        for (OwnerComputes& plan : plans_) steps.push_back(plan.next(executor, uses));
        move(steps, &OwnerComputes::Step::before);
        std::map<Number, int>& here = memory_[std::size_t(executor)];
        for (const Use& use : uses) {
            if (use.mode != AccessMode::write && values_.contains(use.datum)) {
                EXPECT_EQ(here[use.datum], values_[use.datum]) << "datum " << use.datum;
            }
            if (is_writing(use.mode)) here[use.datum] = values_[use.datum] = ++written_;
        }
        move(steps, &OwnerComputes::Step::after);
        for (std::size_t rank = 0; rank < steps.size(); ++rank)
            for (const Number datum : steps[rank].dropped) memory_[rank].erase(datum);
    }
    int messages = 0;

private:
    void move(const std::vector<OwnerComputes::Step>& steps, std::vector<OwnerComputes::Move> OwnerComputes::Step::*part)
    {
        std::map<std::tuple<std::size_t, std::size_t, Number>, std::deque<int>> under_way;
        for (std::size_t rank = 0; rank < steps.size(); ++rank)
            for (const OwnerComputes::Move& one : steps[rank].*part) {
                if (!one.sends) continue;
                under_way[{rank, std::size_t(one.other), one.datum}].push_back(memory_[rank][one.datum]);
                ++messages;
            }
        for (std::size_t rank = 0; rank < steps.size(); ++rank)
            for (const OwnerComputes::Move& one : steps[rank].*part) {
                if (one.sends) continue;
                auto& sent = under_way[{std::size_t(one.other), rank, one.datum}];
                ASSERT_FALSE(sent.empty()) << "process " << rank << " waits for what nobody sends";
                memory_[rank][one.datum] = sent.front();
                sent.pop_front();
            }
        for (const auto& [way, sent] : under_way) EXPECT_TRUE(sent.empty()) << "nobody receives what was sent";
    }
    std::vector<OwnerComputes> plans_;
    std::vector<std::map<Number, int>> memory_;
    std::map<Number, int> values_;
    int written_ = 0;
};

TEST(OwnerComputing, ReadsEverywhereWhatWasWrittenLast)
{
    for (unsigned seed = 1; seed <= 30; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937 random(seed);
        const auto below = [&](int n) { return int(random() % unsigned(n)); };
        constexpr int size = 4, data = 7;
        std::vector<std::int16_t> owners(data);
        for (std::int16_t& owner : owners) owner = std::int16_t(below(size));
        Together all(size);
        for (int task = 0; task < 300; ++task) {
            const auto executor = std::int16_t(below(size));
            std::vector<Use> uses;
            for (int datum = 0; datum < data; ++datum) {
                if (below(3)) continue;
                constexpr AccessMode modes[] = {AccessMode::read, AccessMode::read, AccessMode::write, AccessMode::readwrite};
                const AccessMode mode = modes[below(4)];
                std::int16_t& owner = owners[std::size_t(datum)];
                if (is_writing(mode) && below(2)) owner = executor; // it moves there
                uses.push_back({Number(datum), owner, mode});
            }
            all.task(executor, uses);
        }
    }
}

TEST(OwnerComputing, SendsAValueOnceToEachProcessThatReadsIt)
{
    Together all(3);
    all.task(0, {{0, 0, AccessMode::write}});
    for (int times = 0; times < 2; ++times)
        for (const std::int16_t reader : {0, 1, 2})
            all.task(reader, {{0, 0, AccessMode::read}, {Number(1 + reader), reader, AccessMode::readwrite}});
    EXPECT_EQ(all.messages, 2);
    all.task(0, {{0, 0, AccessMode::readwrite}});
    all.task(1, {{0, 0, AccessMode::read}});
    EXPECT_EQ(all.messages, 3) << "it is another value now";
}

TEST(OwnerComputing, DropsCopiesAtTheLastReadAndWhatIsOverwritten)
{
    OwnerComputes reader(1);
    EXPECT_TRUE(reader.next(0, std::vector<Use>{{0, 0, AccessMode::write}}).dropped.empty());
    EXPECT_EQ(reader.next(1, std::vector<Use>{{0, 0, AccessMode::read}}).before.size(), 1u);
    EXPECT_EQ(reader.next(0, std::vector<Use>{{0, 0, AccessMode::readwrite}}).dropped, std::vector<Number>{0});
    EXPECT_EQ(reader.next(1, std::vector<Use>{{0, 0, AccessMode::read, true}}).dropped, std::vector<Number>{0});
}

TEST(OwnerComputing, KeepsWhatIsTheOwnersUnlessItOnlyPasses)
{
    OwnerComputes owner(0);
    owner.next(0, std::vector<Use>{{0, 0, AccessMode::write}, {1, 0, AccessMode::write}});
    const auto& step = owner.next(0, std::vector<Use>{{0, 0, AccessMode::read, true}, {1, 0, AccessMode::read, true, true}});
    EXPECT_EQ(step.dropped, std::vector<Number>{1});
}

TEST(OwnerComputing, RunsATaskWhereTheLastOfWhatItWritesLies)
{
    double a = 0, b = 0, c = 0;
    const Datum first = Datum(&a).owned_by(1), second = Datum(&b).owned_by(2), third = Datum(&c).owned_by(3);
    EXPECT_EQ(executor_of(std::vector{readwrite(first), readwrite(second), read(third)}), 2);
    EXPECT_EQ(executor_of(std::vector{read(first), read(second)}), 1);
    EXPECT_EQ(executor_of({}), 0);
}

} // namespace
} // namespace trencadis
