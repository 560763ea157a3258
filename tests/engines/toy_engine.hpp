#pragma once
#include "base/error.hpp"
#include "engines/engine.hpp"
#include "graph/stored_task.hpp"
#include "memory/replicas.hpp"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

namespace trencadis::testing {

/// The least that is an engine of its own: it finds dependences by a map from addresses to their last users, needs a region
/// around the body (its threads live no longer), and every second unit computes in a memory of its own, to and from which it
/// copies what the plans of Replicas say. First come, first served; what others let overlap is taken one after the other.
class ToyEngine final : public Engine {
public:
    static constexpr Capabilities abilities{.parallel = true, .schedules_itself = true, .nesting = true, .cancellation = true};

    explicit ToyEngine(const EngineParts& parts) : recorder_(int(parts.workers.size())), times_(parts.workers.size())
    {
        for (std::size_t i = 0; i < parts.workers.size(); ++i)
            units_.push_back({.memory = i % 2 ? 1 : process_memory, .kernels = parts.kernels});
    }
    Index run(const RunOptions& options, const std::function<void(Flow&)>& body) override
    {
        OwnFlow flow(*this, options);
        body(flow);
        flow.wait();
        return flow.outcome().value();
    }
    std::unique_ptr<Flow> open_flow(const FlowOptions& options) override
    {
        return std::make_unique<OwnFlow>(*this, RunOptions{options});
    }
    std::span<const ComputeUnit> units() const override { return units_; }
    std::vector<WorkerTime> times() const override { return times_; }
    Recorder& recorder() override { return recorder_; }
    const Capabilities& capabilities() const override { return abilities; }

    Bytes copied = 0; ///< to and from the second memory, in the last flow that has ended
private:
    struct Entry {
        template <class... Submitted> explicit Entry(const Submitted&... submitted) : task(submitted...) {}
        StoredTask task;
        std::vector<TaskDatum> data; ///< each datum once, in the modes that are left
        std::vector<Entry*> successors;
        std::size_t order = 0;
        int unmet = 0;
        bool done = false, doomed = false;
    };
    struct LastUse {
        Entry* writer = nullptr;
        std::vector<Entry*> readers;
    };
    /// A flow and the region around it. Everything is under one mutex, but the tasks themselves.
    class OwnFlow final : public Flow {
    public:
        OwnFlow(ToyEngine& engine, const RunOptions& options) : engine_(engine), options_(options)
        {
            for (std::size_t unit = 0; unit < engine.units_.size(); ++unit) threads_.emplace_back([this, unit] { work(unit); });
        }
        ~OwnFlow() override
        {
            cancel();
            std::unique_lock lock(mutex_);
            await_all(lock);
            closing_ = true;
            changed_.notify_all();
            lock.unlock();
            threads_.clear();
        }
        void wait() override
        {
            std::unique_lock lock(mutex_);
            await_all(lock);
            for (const TaskDatum& datum : replicas_.away()) {
                carry_out(replicas_.acquire({&datum, 1}, process_memory));
                replicas_.release({&datum, 1}, process_memory);
            }
            engine_.copied = std::exchange(copied_, 0);
            replicas_ = Replicas({{"home"}, {"other"}});
            blocks_.clear();
            last_.clear();
            entries_.clear();
            raise_quietly(std::exchange(raised_, 0));
            const bool cancelled = cancelled_.exchange(false);
            if (std::exception_ptr failure = std::exchange(failure_, nullptr)) std::rethrow_exception(failure);
            if (cancelled) throw Error(ErrorCode::cancelled, "the flow was cancelled");
        }
        void cancel() override { cancelled_ = true; }
        bool cancelled() const override { return cancelled_; }

    private:
        void take(const Codelet& codelet, const Arguments& arguments, std::span<const Access> accesses,
                  const TaskOptions& options) override
        {
            for (const Access& access : accesses)
                if (access.datum.owner != 0)
                    throw Error(ErrorCode::bad_argument, std::string("engine 'toy' works in one process, and '") + codelet.name +
                                                             "' names a datum of process " + std::to_string(access.datum.owner));
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [&] { return pending_ < options_.flow.window; });
            Entry& entry = *entries_.emplace_back(std::make_unique<Entry>(codelet, arguments, accesses, options));
            entry.order = entries_.size();
            if (std::ranges::none_of(engine_.units_, [&](const auto& unit) { return entry.task.can_run_on(unit); })) {
                entries_.pop_back();
                throw Error(ErrorCode::missing_backend, std::string("no unit here runs the kernel '") + codelet.name + "'");
            }
            entry.task.for_each_datum([&](const Datum& datum, AccessMode mode) { name(entry, datum, mode); });
            ++pending_;
            if (entry.unmet == 0) ready_.push_back(&entry);
            changed_.notify_all();
        }
        void name(Entry& entry, const Datum& datum, AccessMode mode)
        {
            if (is_shared(mode) && is_writing(mode)) mode = AccessMode::readwrite;
            entry.data.push_back({datum.address, datum.bytes(), mode, process_memory, shape_of(datum)});
            LastUse& last = last_[datum.address];
            if (last.writer) follow(entry, *last.writer);
            if (!is_writing(mode)) return last.readers.push_back(&entry);
            for (Entry* reader : last.readers) follow(entry, *reader);
            last = {&entry, {}};
        }
        static void follow(Entry& entry, Entry& before)
        {
            entry.doomed |= before.done && before.doomed;
            if (before.done || &before == &entry) return;
            before.successors.push_back(&entry);
            ++entry.unmet;
        }
        bool can_run(const Entry& entry, const ComputeUnit& unit) const
        {
            const bool known = std::ranges::all_of(entry.data, [](const TaskDatum& datum) { return datum.bytes > 0; });
            return entry.task.can_run_on(unit) && (unit.memory == process_memory || known);
        }
        void work(std::size_t number)
        {
            const ComputeUnit& unit = engine_.units_[number];
            std::unique_lock lock(mutex_);
            while (true) {
                auto mine = ready_.end();
                changed_.wait(lock, [&] {
                    mine = std::ranges::find_if(ready_, [&](const Entry* entry) { return can_run(*entry, unit); });
                    return closing_ || mine != ready_.end();
                });
                if (closing_) return;
                Entry& entry = **mine;
                ready_.erase(mine);
                execute(entry, number, lock);
                finish(entry);
            }
        }
        void execute(Entry& entry, std::size_t number, std::unique_lock<std::mutex>& lock)
        {
            if (entry.doomed || cancelled_) return;
            const ComputeUnit& unit = engine_.units_[number];
            bool acquired = false;
            try {
                const Plan plan = replicas_.acquire(entry.data, unit.memory);
                if (plan.verdict != Verdict::now) throw Error(ErrorCode::environment, "dependences keep such tasks apart");
                acquired = true;
                carry_out(plan);
                std::vector<Operand> operands;
                for (const Access& access : entry.task.accesses()) operands.push_back(operand(access.datum, unit.memory));
                lock.unlock();
                const FloatModes::Raised raised = entry.task.run(unit, WorkerId(number), operands, *this);
                lock.lock();
                raised_ |= raised;
                ++engine_.times_[number].tasks;
            } catch (...) {
                if (!lock.owns_lock()) lock.lock();
                entry.doomed = true;
                if (!failure_ || entry.order < failure_order_) failure_ = std::current_exception(), failure_order_ = entry.order;
            }
            if (acquired) replicas_.release(entry.data, unit.memory);
        }
        void finish(Entry& entry)
        {
            entry.done = true;
            for (Entry* successor : entry.successors) {
                successor->doomed |= entry.doomed;
                if (--successor->unmet == 0) ready_.push_back(successor);
            }
            --pending_;
            changed_.notify_all();
        }
        void await_all(std::unique_lock<std::mutex>& lock)
        {
            const bool asks = options_.interrupted && *options_.interrupted;
            while (!changed_.wait_for(lock, std::chrono::milliseconds(50), [&] { return pending_ == 0; }))
                if (asks && (*options_.interrupted)()) cancel();
        }
        std::byte* place(const void* home, SpaceId space, BlockId block, Bytes bytes)
        {
            if (block == home_memory) return static_cast<std::byte*>(const_cast<void*>(home));
            std::vector<std::byte>& memory = blocks_[{space, block}];
            if (memory.empty()) memory.resize(std::size_t(bytes));
            return memory.data();
        }
        Operand operand(const Datum& datum, SpaceId space)
        {
            const BlockId block = replicas_.block(datum.address, space);
            const DatumShape shape = replicas_.shape(datum.address);
            void* const at = place(datum.address, space, block, datum.bytes());
            return {at, block == home_memory || !shape.element ? datum.ld : shape.rows, datum.rows, datum.cols};
        }
        void carry_out(const Plan& plan)
        {
            for (const Transfer& transfer : plan.transfers) {
                std::byte* to = place(transfer.data, transfer.to, transfer.to_block, transfer.bytes);
                const std::byte* from = place(transfer.data, transfer.from, transfer.from_block, transfer.bytes);
                const auto element = std::size_t(transfer.shape.element);
                if (!element) std::memcpy(to, from, std::size_t(transfer.bytes));
                for (std::size_t j = 0; element && j < std::size_t(transfer.shape.cols); ++j)
                    std::memcpy(to + j * std::size_t(transfer.to_ld()) * element,
                                from + j * std::size_t(transfer.from_ld()) * element, std::size_t(transfer.shape.rows) * element);
                copied_ += transfer.bytes;
                replicas_.complete(transfer.id);
            }
        }

        ToyEngine& engine_;
        const RunOptions options_;
        std::mutex mutex_;
        std::condition_variable changed_;
        std::vector<std::unique_ptr<Entry>> entries_; ///< in the order of submission, until the next wait
        std::map<const void*, LastUse> last_;
        std::vector<Entry*> ready_;
        std::int64_t pending_ = 0;
        std::atomic<bool> cancelled_{false};
        bool closing_ = false;
        std::exception_ptr failure_;
        std::size_t failure_order_ = 0;
        FloatModes::Raised raised_ = 0;
        Replicas replicas_{{{"home"}, {"other"}}};
        std::map<std::pair<SpaceId, BlockId>, std::vector<std::byte>> blocks_;
        Bytes copied_ = 0;
        std::vector<std::jthread> threads_;
    };

    std::vector<ComputeUnit> units_;
    Recorder recorder_;
    std::vector<WorkerTime> times_;
};

} // namespace trencadis::testing
