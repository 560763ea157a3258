#pragma once
#include "base/error.hpp"
#include "graph/flow.hpp"
#include "graph/task_context.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace trencadis {

/// Runs each task when it is submitted, on the submitting thread alone, tasks inside it as well: what an algorithm does without
/// workers, engine and dependences. A task's exception leaves `submit`. Nothing is kept between tasks and no memory is taken for
/// usual arguments.
class ImmediateFlow final : public Flow {
public:
    /// `parent`: the flow of the task in which it is made; what cancels that one ends this one's submissions too.
    explicit ImmediateFlow(const Kernels* kernels, const Flow* parent = nullptr) : kernels_(kernels), parent_(parent) {}

    void wait() override {}
    void cancel() override { cancelled_ = true; }
    bool cancelled() const override { return cancelled_ || (parent_ && parent_->cancelled()); }
    const Flow* parent() const override { return parent_; }

private:
    class Context final : public TaskContext {
    public:
        Context(Team& team, ImmediateFlow& flow, std::span<const Access> accesses)
            : TaskContext(team, 0), flow_(flow), accesses_(accesses)
        {
        }
        Operand operand(int access) const override
        {
            const Datum& datum = accesses_[std::size_t(access)].datum;
            return {const_cast<void*>(datum.address), datum.ld, datum.rows, datum.cols};
        }
        const Kernels* kernels() const override { return flow_.kernels_; }
        Info& outcome() override { return flow_.outcome(); }
        const Flow* own_flow() const override { return &flow_; }
        Flow& flow() override { return flow_; }
        /// One of its own, since it may be something else than the datum that it is combined with.
        void* part(int access) override
        {
            const Access& of = accesses_[std::size_t(access)];
            if (!of.reduction)
                throw Error(ErrorCode::bad_argument, "access " + std::to_string(access) + " of a task is not a reduce access");
            for (const Part& part : parts_)
                if (part.access == &of) return part.memory.get();
            std::unique_ptr<std::byte[]> memory = std::make_unique<std::byte[]>(of.reduction->bytes);
            of.reduction->initialise(memory.get());
            parts_.push_back({&of, std::move(memory)});
            return parts_.back().memory.get();
        }
        void combine_parts()
        {
            for (const Part& part : parts_)
                part.access->reduction->combine(const_cast<void*>(part.access->datum.address), part.memory.get());
        }

    private:
        struct Part {
            const Access* access;
            std::unique_ptr<std::byte[]> memory;
        };
        ImmediateFlow& flow_;
        std::span<const Access> accesses_;
        std::vector<Part> parts_;
    };

    void take(const Codelet& codelet, const Arguments& arguments, std::span<const Access> accesses, const TaskOptions&) override
    {
        if (cancelled_) return;
        if (cancelled()) throw Error(ErrorCode::cancelled, "the flow was cancelled");
        constexpr std::size_t usual = 512;
        alignas(std::max_align_t) std::byte here[usual];
        std::unique_ptr<std::byte[]> elsewhere;
        if (arguments.bytes > usual) elsewhere = std::make_unique_for_overwrite<std::byte[]>(arguments.bytes);
        std::byte* const args = elsewhere ? elsewhere.get() : here;
        arguments.move(args, arguments.data);
        struct Destroyed {
            const Codelet& codelet;
            std::byte* args;
            ~Destroyed()
            {
                if (codelet.destroy) codelet.destroy(args);
            }
        } const destroyed{codelet, args};
        if (!codelet.core) throw Error(ErrorCode::missing_backend, std::string(codelet.name) + " has no kernel for cores");
        const Index chunks = codelet.chunks ? codelet.chunks(args, kernels_) : 1;
        SharedWork work(chunks, chunks); // a lone core takes all at once
        Team team(work);
        Context context(team, *this, accesses);
        codelet.core(args, context);
        context.combine_parts();
    }

    const Kernels* const kernels_;
    const Flow* const parent_;
    bool cancelled_ = false;
};

} // namespace trencadis
