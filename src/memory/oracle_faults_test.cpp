// The same where memories are lost, copies fail and tasks end halfway: every reader sees what the last writer wrote, or its value
// is known to be lost, which no value is that is somewhere.
#include "memory/testing.hpp"

#include <gtest/gtest.h>

namespace trencadis {
namespace {

using testing::address, testing::number, testing::Setting;

class FaultyWorld final : public testing::World {
public:
    using World::World;

    struct Seen {
        int lost = 0;     ///< values that were nowhere else
        int in_vain = 0;  ///< copies whose source did not come
        int survived = 0; ///< losses of memories and copies after which all was elsewhere
    };
    Seen seen() const { return seen_; }

private:
    bool is_there(SpaceId space) const override { return !dead_.contains(space); }
    bool is_left_out(const Transfer& transfer) const override
    {
        return !is_there(transfer.from) || !is_there(transfer.to) || replicas_.brings_nothing(transfer.id);
    }
    bool has_its_data(const Running& task) const override
    {
        return is_there(task.space) && replicas_.has_all(task.data, task.space);
    }
    /// Given back without having run. What it was only to write has no value until somebody else writes it.
    void drop(const Running& task) override
    {
        for (const TaskDatum& use : task.data) {
            if (use.mode != AccessMode::write) continue;
            lost_[number(use.data)] = true;
            const BlockId block = replicas_.block(use.data, task.space);
            if (block != home_memory && is_there(task.space)) make(task.space, block, sizes_[number(use.data)]);
        }
        replicas_.release(task.data, task.space, false);
    }

    void more_steps() override
    {
        switch (below(16)) {
        case 0:
        case 1:
        case 2: leave_out_one(); break;
        case 3: refuse_one(); break;
        case 4: spoil_one(); break;
        case 5:
            if (below(8) == 0) lose_one();
        }
    }
    /// Data whose value lies whole in a memory other than this one.
    std::vector<char> elsewhere(SpaceId but) const
    {
        std::vector<char> all(lost_.size(), false);
        for (int d = 0; d < setting_.data; ++d)
            for (SpaceId s = 0; s < replicas_.spaces(); ++s)
                if (s != but && is_there(s) && replicas_.has_all(std::vector<TaskDatum>{{address(d), 0, AccessMode::read}}, s))
                    all[std::size_t(d)] = true;
        return all;
    }
    void note_lost(const std::vector<const void*>& data, const std::vector<char>& elsewhere)
    {
        for (const void* const datum : data) {
            EXPECT_FALSE(elsewhere[std::size_t(number(datum))] && is_there(replicas_.home(datum))) << "nothing is lost";
            lost_[std::size_t(number(datum))] = true;
        }
        seen_.lost += int(data.size());
        seen_.survived += data.empty();
    }
    void fail(TransferId id)
    {
        const void* const data = moving_.at(id).transfer.data;
        const std::vector<char> others = elsewhere(-1);
        moving_.erase(id);
        const bool lost = replicas_.fail(id);
        note_lost(lost ? std::vector{data} : std::vector<const void*>{}, others);
        give_up_blocks();
    }
    template <class Such> void fail_one(Such&& such)
    {
        std::vector<TransferId> able;
        for (auto& [id, m] : moving_)
            if (!m.started && !any_under_way(m.transfer.after) && such(m.transfer)) able.push_back(id);
        if (!able.empty()) fail(able[std::size_t(below(int(able.size())))]);
    }
    void leave_out_one()
    {
        fail_one([&](const Transfer& transfer) {
            const bool in_vain = replicas_.brings_nothing(transfer.id);
            seen_.in_vain += in_vain;
            return in_vain || is_left_out(transfer);
        });
    }
    /// There is no memory for what it should bring.
    void refuse_one()
    {
        fail_one([&](const Transfer& transfer) { return transfer.to_block != home_memory; });
    }
    /// Of what was begun when a memory was lost some comes and some does not.
    void end_transfer(TransferId id) override
    {
        const Transfer& transfer = moving_.at(id).transfer;
        if (is_left_out(transfer) && below(2)) fail(id);
        else World::end_transfer(id);
    }
    void spoil_one()
    {
        if (running_.empty()) return;
        const auto one = running_.begin() + below(int(running_.size()));
        if (any_under_way(one->wait_for) || !has_its_data(*one) || one->space == 0) return;
        const Running task = *one;
        running_.erase(one);
        const std::vector<char> others = elsewhere(task.space);
        for (const TaskDatum& use : task.data) {
            const BlockId block = replicas_.block(use.data, task.space);
            if (use.mode == AccessMode::write && block != home_memory) make(task.space, block, sizes_[number(use.data)]);
            if (is_writing(use.mode)) cell(task.space, block, number(use.data)) = -2;
        }
        note_lost(replicas_.spoil(task.data, task.space), others);
        drop(task);
    }
    void lose_one()
    {
        const SpaceId space = setting_.nodes + below(setting_.devices);
        if (!is_there(space)) return;
        const std::vector<char> others = elsewhere(space);
        dead_.insert(space);
        note_lost(replicas_.lose(space), others);
    }

    std::set<SpaceId> dead_;
    Seen seen_;
};

void every_value_is_right_or_lost(bool homes_anywhere)
{
    int tasks = 0;
    FaultyWorld::Seen seen;
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Setting setting{seed, int(2 + seed % 3), int(6 + seed % 17), seed % 3 != 0, seed % 5 == 0, 1, homes_anywhere};
        FaultyWorld world(setting);
        world.run(400);
        world.bring_home();
        if (::testing::Test::HasFailure()) return;
        tasks += world.tasks_run();
        seen.lost += world.seen().lost;
        seen.in_vain += world.seen().in_vain;
        seen.survived += world.seen().survived;
    }
    // Else the runs above would not have shown much.
    EXPECT_GT(tasks, 10000);
    EXPECT_GT(seen.lost, 1000);
    EXPECT_GT(seen.in_vain, 20);
    EXPECT_GT(seen.survived, 1000);
}

TEST(ReplicasWithFaults, EveryReaderSeesTheLastWriterOrTheValueIsKnownToBeLost) { every_value_is_right_or_lost(false); }

TEST(ReplicasWithFaults, AndSoItIsWhereSomeDataAreAtHomeOnDevices) { every_value_is_right_or_lost(true); }

} // namespace
} // namespace trencadis
