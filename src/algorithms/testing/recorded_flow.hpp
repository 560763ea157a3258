#pragma once
#include "base/error.hpp"
#include "graph/flow.hpp"
#include "graph/task_context.hpp"

#include <string>
#include <vector>

namespace trencadis::testing {

/// The least that takes submissions itself: it records them, finds no dependences, and can run what it has, in order, on memory
/// that is `shift` bytes from where the data are.
class RecordedFlow final : public Flow {
public:
    struct Submission {
        const Codelet* codelet;
        std::string name;
        std::vector<std::byte> args;
        std::vector<Access> accesses;
    };
    std::vector<Submission> submissions;

    void replay(const Kernels* kernels, std::ptrdiff_t shift)
    {
        for (Submission& task : submissions) {
            SharedWork work(task.codelet->chunks ? task.codelet->chunks(task.args.data(), kernels) : 1);
            Team team(work);
            Context context(team, *this, task, kernels, shift);
            task.codelet->core(task.args.data(), context);
            if (task.codelet->destroy) task.codelet->destroy(task.args.data());
        }
    }
    void wait() override {}
    void cancel() override {}
    bool cancelled() const override { return false; }

private:
    class Context final : public TaskContext {
    public:
        Context(Team& team, RecordedFlow& flow, const Submission& task, const Kernels* kernels, std::ptrdiff_t shift)
            : TaskContext(team, 0), flow_(flow), task_(task), kernels_(kernels), shift_(shift)
        {
        }
        Operand operand(int access) const override
        {
            const Datum& datum = task_.accesses[std::size_t(access)].datum;
            return {static_cast<std::byte*>(const_cast<void*>(datum.address)) + shift_, datum.ld, datum.rows, datum.cols};
        }
        const Kernels* kernels() const override { return kernels_; }
        Info& outcome() override { return flow_.outcome(); }
        Flow& flow() override { throw Error(ErrorCode::bad_argument, "no task submits inside"); }
        void* part(int) override { throw Error(ErrorCode::bad_argument, "no reductions"); }

    private:
        RecordedFlow& flow_;
        const Submission& task_;
        const Kernels* const kernels_;
        const std::ptrdiff_t shift_;
    };

    void take(const Codelet& codelet, const Arguments& arguments, std::span<const Access> accesses,
              const TaskOptions& options) override
    {
        Submission& task = submissions.emplace_back();
        task = {&codelet, options.label ? options.label : codelet.name, {}, {accesses.begin(), accesses.end()}};
        task.args.resize(arguments.bytes);
        arguments.move(task.args.data(), arguments.data);
    }
};

} // namespace trencadis::testing
