#pragma once
#include "memory/replicas.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace trencadis::testing {

inline const void* address(int datum) { return reinterpret_cast<const void*>(std::uintptr_t(64 * (datum + 1))); }
inline int number(const void* data) { return static_cast<int>(reinterpret_cast<std::uintptr_t>(data) / 64) - 1; }

struct Setting {
    std::uint64_t seed;
    int devices, data;
    bool equal_sizes, staged;
    int nodes;
    bool homes_anywhere = false; ///< some data are at home on devices
};

/// Memories with contents, and the events that change them. Those of a world in which nothing fails; one in which something does
/// says what ends without having run or brought anything.
class World {
public:
    explicit World(const Setting& setting)
        : random_(setting.seed), setting_(setting), replicas_(make_spaces(setting), environment(setting)), sizes_(setting.data),
          truth_(setting.data), lost_(setting.data), blocks_(replicas_.spaces()), at_home_(setting.data)
    {
        for (int d = 0; d < setting.data; ++d) {
            sizes_[d] = setting.equal_sizes ? 10 : 1 + below(20);
            replicas_.place(address(d), sizes_[d], below(setting.homes_anywhere ? replicas_.spaces() : setting.nodes));
        }
    }

    virtual ~World() = default;

    /// Runs `steps` random events, then lets everything end.
    void run(int steps)
    {
        for (int i = 0; i < steps && !::testing::Test::HasFatalFailure(); ++i) step();
        for (int i = 0; (!running_.empty() || !moving_.empty()) && !::testing::Test::HasFatalFailure(); ++i) {
            ASSERT_LT(i, 100000) << "what was begun does not end";
            switch (below(3)) {
            case 0: start_transfer(); break;
            case 1: end_transfer(); break;
            default: end_task();
            }
            more_steps();
        }
    }
    /// Reads at home whatever is not there; then all that was written must be.
    void bring_home()
    {
        for (const TaskDatum& datum : replicas_.away()) {
            const std::vector<TaskDatum> one{datum};
            const SpaceId home = replicas_.home(datum.data);
            if (!is_there(home)) continue;
            const Plan plan = replicas_.acquire(one, home);
            ASSERT_EQ(plan.verdict, Verdict::now);
            for (const Transfer& t : plan.transfers) {
                if (t.to_block != home_memory) make(t.to, t.to_block, sizes_[number(t.data)]);
                cell(t.to, t.to_block, number(t.data)) = cell(t.from, t.from_block, number(t.data));
                replicas_.complete(t.id);
            }
            replicas_.release(one, home);
        }
        for (const TaskDatum& datum : replicas_.away()) ASSERT_FALSE(is_there(replicas_.home(datum.data)));
        for (int d = 0; d < setting_.data; ++d)
            if (!lost_[d] && is_there(replicas_.home(address(d)))) {
                ASSERT_EQ(at_home_[d], truth_[d]) << "datum " << d;
            }
    }
    std::string log() const { return log_; }
    int tasks_run() const { return tasks_run_; }
    const Replicas& replicas() const { return replicas_; }

protected:
    struct Running {
        std::vector<TaskDatum> data;
        SpaceId space;
        std::vector<TransferId> wait_for;
        bool started = false;
    };
    struct Block {
        Bytes bytes;
        int value;
    };
    struct Moving {
        Transfer transfer;
        bool started = false;
        int value = 0;
    };

    static std::vector<Space> make_spaces(const Setting& setting)
    {
        std::vector<Space> spaces;
        for (int n = 0; n < setting.nodes; ++n) spaces.push_back({"node", 0, 0});
        for (int d = 0; d < setting.devices; ++d) spaces.push_back({"device", 70, -1});
        return spaces;
    }
    static MemoryEnvironment environment(const Setting& setting)
    {
        MemoryEnvironment e;
        e.cost = [setting](SpaceId from, SpaceId to, Bytes bytes) {
            const bool devices = from >= setting.nodes && to >= setting.nodes;
            return setting.staged && devices ? std::numeric_limits<double>::infinity() : bytes * (1 + (from * 7 + to * 3) % 5);
        };
        return e;
    }
    /// Is the memory as it was?
    virtual bool is_there(SpaceId) const { return true; }
    /// It will not begin.
    virtual bool is_left_out(const Transfer&) const { return false; }
    /// Can the task run, all that it waited for being over?
    virtual bool has_its_data(const Running&) const { return true; }
    /// One that cannot.
    virtual void drop(const Running&) {}
    virtual void more_steps() {}

    int below(int bound) { return static_cast<int>(random_() % bound); }

    void step()
    {
        switch (below(20) == 0 ? 6 : below(6)) {
        case 0:
        case 1: begin_task(); break;
        case 2:
        case 3: start_transfer(); break;
        case 4: end_transfer(); break;
        case 5: end_task(); break;
        default: give_up_task();
        }
        more_steps();
        for (SpaceId s = setting_.nodes; s < replicas_.spaces(); ++s) ASSERT_LE(replicas_.used(s), replicas_.space(s).capacity);
    }

    /// Dependences: a datum has one writer or several readers at a time, or concurrent writers.
    bool allowed(const TaskDatum& use) const
    {
        for (const Running& other : running_)
            for (const TaskDatum& theirs : other.data) {
                if (theirs.data != use.data) continue;
                const bool both_read = !is_writing(theirs.mode) && !is_writing(use.mode);
                const bool concurrent = theirs.mode == use.mode && use.mode == AccessMode::concurrent_write;
                if (!both_read && !concurrent) return false;
            }
        return true;
    }

    void begin_task()
    {
        static constexpr AccessMode modes[] = {
            AccessMode::read,   AccessMode::read, AccessMode::write, AccessMode::readwrite, AccessMode::concurrent_write,
            AccessMode::commute};
        Running task{{}, below(replicas_.spaces()), {}};
        if (!is_there(task.space)) return;
        std::set<int> chosen;
        while (static_cast<int>(chosen.size()) < 1 + below(4)) chosen.insert(below(setting_.data));
        for (const int d : chosen) {
            TaskDatum use{address(d), sizes_[d], modes[below(6)]};
            if (use.mode == AccessMode::write && !setting_.equal_sizes && below(2))
                use.bytes = std::min<Bytes>(20, use.bytes + below(5));
            if (allowed(use)) task.data.push_back(use);
        }
        if (task.data.empty()) return;
        const std::string before = state();
        Plan plan = replicas_.acquire(task.data, task.space);
        if (plan.verdict != Verdict::now) {
            ASSERT_EQ(before, state()) << "a refusal changed something";
            ASSERT_TRUE(plan.transfers.empty());
            ASSERT_FALSE(plan.verdict == Verdict::never && replicas_.fits(task.data, task.space));
            ASSERT_FALSE(plan.verdict == Verdict::later && running_.empty() && moving_.empty()) << "nothing to wait for";
            return;
        }
        for (const TaskDatum& use : task.data) sizes_[number(use.data)] = use.bytes;
        for (const Transfer& t : plan.transfers) {
            log_ += std::to_string(number(t.data)) + ":" + std::to_string(t.from) + ">" + std::to_string(t.to) + " ";
            for (const TransferId id : t.after) ASSERT_LT(id, t.id);
            moving_.emplace(t.id, Moving{t});
        }
        given_up_.insert(given_up_.end(), plan.released.begin(), plan.released.end());
        give_up_blocks();
        task.wait_for = plan.wait_for;
        for (const TransferId id : task.wait_for) ASSERT_TRUE(moving_.contains(id));
        running_.push_back(std::move(task));
    }

    SpaceId place(const TaskDatum& use, SpaceId space) const
    {
        const SpaceId home = replicas_.home(use.data);
        return space < setting_.nodes && home < setting_.nodes ? home : space;
    }

    void start_transfer()
    {
        std::vector<Moving*> able;
        for (auto& [id, m] : moving_)
            if (!m.started && !any_under_way(m.transfer.after) && !is_left_out(m.transfer)) able.push_back(&m);
        if (able.empty()) return;
        Moving& m = *able[below(static_cast<int>(able.size()))];
        const int d = number(m.transfer.data);
        m.started = true;
        m.value = cell(m.transfer.from, m.transfer.from_block, d);
        if (m.transfer.to_block != home_memory) make(m.transfer.to, m.transfer.to_block, sizes_[d]);
    }

    void end_transfer()
    {
        std::vector<TransferId> able;
        for (auto& [id, m] : moving_)
            if (m.started) able.push_back(id);
        if (able.empty()) return;
        end_transfer(able[below(static_cast<int>(able.size()))]);
    }
    virtual void end_transfer(TransferId id)
    {
        const Moving m = moving_.at(id);
        const int d = number(m.transfer.data);
        if (!lost_[d]) {
            ASSERT_EQ(cell(m.transfer.from, m.transfer.from_block, d), m.value) << "the source changed while it was read";
        }
        cell(m.transfer.to, m.transfer.to_block, d) = m.value;
        moving_.erase(id);
        replicas_.complete(id);
        give_up_blocks();
    }

    void end_task()
    {
        std::vector<std::size_t> able;
        for (std::size_t i = 0; i < running_.size(); ++i)
            if (!any_under_way(running_[i].wait_for)) able.push_back(i);
        if (able.empty()) return;
        const std::size_t i = able[below(static_cast<int>(able.size()))];
        const Running task = running_[i];
        running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
        if (!has_its_data(task)) return drop(task);
        for (const TaskDatum& use : task.data) {
            const int d = number(use.data);
            const SpaceId where = place(use, task.space);
            const BlockId block = replicas_.block(use.data, where);
            if (use.mode == AccessMode::write && block != home_memory) make(where, block, sizes_[d]);
            if (use.mode != AccessMode::write && !lost_[d]) {
                ASSERT_EQ(cell(where, block, d), truth_[d]) << "an old version was read";
            }
            if (!is_writing(use.mode)) continue;
            cell(where, block, d) = truth_[d] = ++version_;
            lost_[d] = false;
        }
        replicas_.release(task.data, task.space);
        ++tasks_run_;
    }

    /// Cancelled before it ran, perhaps while its data are on their way.
    void give_up_task()
    {
        if (running_.empty()) return;
        const std::size_t i = below(static_cast<int>(running_.size()));
        const Running task = running_[i];
        const auto lost = [](const TaskDatum& use) { return use.mode == AccessMode::write; }; // its previous value is gone
        if (std::any_of(task.data.begin(), task.data.end(), lost)) return;
        running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
        replicas_.release(task.data, task.space, false);
    }

    bool any_under_way(const std::vector<TransferId>& ids) const
    {
        return std::any_of(ids.begin(), ids.end(), [&](TransferId id) { return moving_.contains(id); });
    }

    /// What lies in a block, or in the datum's own memory at its home.
    int& cell(SpaceId space, BlockId block, int d)
    {
        if (block == home_memory) {
            EXPECT_EQ(space, replicas_.home(address(d)));
            return at_home_[d];
        }
        EXPECT_TRUE(blocks_[space].contains(block)) << "block " << block << " of space " << space << " was never made";
        return blocks_[space][block].value;
    }

    /// A block exists from its first use until it is given up; together they never exceed the capacity.
    void make(SpaceId space, BlockId block, Bytes bytes)
    {
        const auto [made, is_new] = blocks_[space].try_emplace(block, Block{bytes, -1});
        ASSERT_EQ(made->second.bytes, bytes) << "a block is used again for the same size";
        if (!is_new || space < setting_.nodes) return;
        Bytes sum = 0;
        for (const auto& [id, existing] : blocks_[space]) sum += existing.bytes;
        ASSERT_LE(sum, replicas_.space(space).capacity) << "space " << space;
    }

    void give_up_blocks()
    {
        std::erase_if(given_up_, [&](const ReleasedBlock& released) {
            if (moving_.contains(released.reader)) return false;
            blocks_[released.space].erase(released.block);
            return true;
        });
    }

    std::string state() const
    {
        std::string text;
        for (SpaceId s = 0; s < replicas_.spaces(); ++s) {
            text += std::to_string(replicas_.used(s)) + " ";
            for (int d = 0; d < setting_.data; ++d) text += replicas_.holds(address(d), s) ? '1' : '0';
        }
        return text;
    }

    std::mt19937_64 random_;
    Setting setting_;
    Replicas replicas_;
    std::vector<Bytes> sizes_;
    std::vector<int> truth_;                       ///< the value that the last writer of each datum wrote
    std::vector<char> lost_;                       ///< is it known that it is gone?
    std::vector<std::map<BlockId, Block>> blocks_; ///< by space
    std::vector<int> at_home_;
    std::vector<ReleasedBlock> given_up_;
    std::map<TransferId, Moving> moving_;
    std::vector<Running> running_;
    int version_ = 0, tasks_run_ = 0;
    std::string log_;
};

} // namespace trencadis::testing
