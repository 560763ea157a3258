#pragma once
#include "base/error.hpp"
#include "base/sanitized.hpp"
#include "graph/flow.hpp"
#include "graph/task_context.hpp"

#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <sys/mman.h>
#include <vector>

namespace trencadis::testing {

/// Pages of memory that can be made unreadable.
class Pages {
public:
    explicit Pages(std::size_t bytes) : bytes_((bytes + page) / page * page)
    {
        void* const got = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (got == MAP_FAILED) throw std::bad_alloc();
        begin_ = static_cast<std::byte*>(got);
    }
    ~Pages() { munmap(begin_, bytes_); }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;

    std::byte* begin() const { return begin_; }
    std::size_t size() const { return bytes_; }
    void close() const { mprotect(begin_, bytes_, PROT_NONE); }
    void open() const { mprotect(begin_, bytes_, PROT_READ | PROT_WRITE); }

private:
    static constexpr std::size_t page = 4096;
    std::size_t bytes_;
    std::byte* begin_;
};

/// While it is there, an access to closed pages ends the task that made it, instead of the program.
class TrappedAccesses {
public:
    TrappedAccesses()
    {
        struct sigaction trap = {};
        trap.sa_handler = [](int) { siglongjmp(back(), 1); };
        trap.sa_flags = SA_NODEFER;
        for (std::size_t i = 0; i < 2; ++i) sigaction(signals[i], &trap, &before_[i]);
    }
    ~TrappedAccesses()
    {
        for (std::size_t i = 0; i < 2; ++i) sigaction(signals[i], &before_[i], nullptr);
    }
    TrappedAccesses(const TrappedAccesses&) = delete;
    TrappedAccesses& operator=(const TrappedAccesses&) = delete;
    static sigjmp_buf& back()
    {
        static sigjmp_buf where;
        return where;
    }

private:
    static constexpr int signals[] = {SIGSEGV, SIGBUS};
    struct sigaction before_[2];
};

enum class Operands {
    at_home, ///< where the data are: what a sequential engine does
    isolated ///< each in a block of its own
};

/// Keeps what is submitted until `wait`, finds no dependences, and runs it in order, tasks inside a task when its body has
/// returned.
/// Isolated, every datum of a task lies in a block of its own, at its own alignment and leading dimension, between guards; it is
/// copied
/// there before and back after, and meanwhile the memory that the flow is about (`home`) cannot be touched. A task that breaks
/// its
/// contract throws Error{bad_argument}: what it reads or writes undeclared, a read-only datum that it changes, a pointer among
/// its
/// arguments, data that overlap without being the same. Written data that are not read hold `poison` before.
class IsolatedFlow final : public Flow {
public:
    static constexpr unsigned char poison = 0xCB;
    struct Submission {
        const Codelet* codelet;
        std::string name;
        std::unique_ptr<std::byte[]> memory; ///< of the arguments
        std::byte* args;
        std::size_t bytes;
        std::vector<Access> accesses;
    };

    IsolatedFlow(const Kernels* kernels, Operands operands, const Pages& home, unsigned seed = 1)
        : kernels_(kernels), operands_(operands), home_(home), random_(seed)
    {
    }
    ~IsolatedFlow() override { forget(); }
    IsolatedFlow(const IsolatedFlow&) = delete;
    IsolatedFlow& operator=(const IsolatedFlow&) = delete;

    const std::vector<Submission>& submissions() const { return tasks_; }
    /// What some task reads and writes.
    const std::map<const void*, Datum>& kept() const { return kept_; }

    void wait() override
    {
        for (Submission& task : tasks_)
            if (operands_ == Operands::at_home) run_at_home(task);
            else run_isolated(task);
        forget();
    }
    void cancel() override {}
    bool cancelled() const override { return false; }

private:
    /// Where a task finds the datum of an access.
    struct Block {
        Datum datum;
        AccessMode mode;
        const Reduction* reduction = nullptr;
        std::byte* data = nullptr; ///< none: only named
        Index ld = 0;
        std::byte *begin = nullptr, *end = nullptr; ///< with its guards

        bool matrix() const { return datum.element > 0; }
        Index columns() const { return matrix() ? datum.cols : 1; }
        std::size_t column_bytes() const { return std::size_t(matrix() ? Index(datum.rows) * datum.element : datum.ld); }
        std::size_t stride(Index of) const { return matrix() ? std::size_t(of) * std::size_t(datum.element) : 0; }
        std::byte* column(Index j) const { return data + std::size_t(j) * stride(ld); }
        std::byte* home(Index j) const
        {
            return static_cast<std::byte*>(const_cast<void*>(datum.address)) + std::size_t(j) * stride(datum.ld);
        }
    };
    class Context final : public TaskContext {
    public:
        Context(Team& team, IsolatedFlow& flow, const Submission& task, const std::vector<Block>& blocks,
                const std::vector<std::size_t>& of_access, const Pages& inside)
            : TaskContext(team, 0), flow_(flow), task_(task), blocks_(blocks), of_access_(of_access), inside_(inside)
        {
        }
        Operand operand(int access) const override
        {
            const Block& block = blocks_.at(of_access_.at(std::size_t(access)));
            return {block.data, block.ld, block.datum.rows, block.datum.cols};
        }
        const Kernels* kernels() const override { return flow_.kernels_; }
        Info& outcome() override { return flow_.outcome(); }
        const Flow* own_flow() const override { return &flow_; }
        Flow& flow() override
        {
            if (!children_) children_ = std::make_unique<IsolatedFlow>(flow_.kernels_, flow_.operands_, inside_, flow_.random_());
            return *children_;
        }
        void* part(int access) override
        {
            if (task_.accesses.at(std::size_t(access)).mode != AccessMode::reduce)
                flow_.refuse(task_, "asks for a part that it has not");
            return operand(access).data;
        }
        void finish_children()
        {
            if (!children_) return;
            children_->wait();
            flow_.outcome().add(children_->outcome());
        }

    private:
        IsolatedFlow& flow_;
        const Submission& task_;
        const std::vector<Block>& blocks_;
        const std::vector<std::size_t>& of_access_;
        const Pages& inside_;
        std::unique_ptr<IsolatedFlow> children_;
    };

    [[noreturn]] void refuse(const Submission& task, const std::string& what) const
    {
        throw Error(ErrorCode::bad_argument, "task '" + task.name + "' " + what);
    }

    void take(const Codelet& codelet, const Arguments& arguments, std::span<const Access> accesses,
              const TaskOptions& options) override
    {
        constexpr std::size_t alignment = 64;
        Submission task{&codelet,        options.label ? options.label : codelet.name,
                        nullptr,         nullptr,
                        arguments.bytes, {accesses.begin(), accesses.end()}};
        task.memory = std::make_unique<std::byte[]>(arguments.bytes + alignment);
        task.args = task.memory.get() + (alignment - reinterpret_cast<std::uintptr_t>(task.memory.get()) % alignment);
        arguments.move(task.args, arguments.data);
        tasks_.push_back(std::move(task));
        if (operands_ == Operands::isolated) look_for_pointers(tasks_.back()), look_for_overlaps(tasks_.back());
        for (const Access& access : accesses)
            if (access.mode != AccessMode::write && access.mode != AccessMode::read) kept_[access.datum.address] = access.datum;
    }
    /// Words of the arguments that are addresses of memory which is there. Not in a sanitizer's build, whose unoptimised copies
    /// leave in the gaps between members what was there before.
    void look_for_pointers(const Submission& task) const
    {
        if (sanitized) return;
        for (std::size_t at = 0; at + sizeof(std::uintptr_t) <= task.bytes; at += sizeof(std::uintptr_t)) {
            std::uintptr_t word = 0;
            std::memcpy(&word, task.args + at, sizeof word);
            if (word < (std::uintptr_t{1} << 20) || word >> 47) continue;
            unsigned char resident = 0;
            if (mincore(reinterpret_cast<void*>(word / 4096 * 4096), 1, &resident) == 0)
                refuse(task, "has a pointer in byte " + std::to_string(at) + " of its arguments");
        }
    }
    void look_for_overlaps(const Submission& task)
    {
        for (const Access& access : task.accesses) {
            const Datum& datum = access.datum;
            if (datum.bytes() == 0) continue;
            const auto [place, is_new] = named_.try_emplace(datum.address, datum);
            Datum& known = place->second;
            if (!is_new && known.element == datum.element && known.ld >= datum.ld && known.rows >= datum.rows &&
                known.cols >= datum.cols)
                continue;
            for (const auto& [address, other] : named_)
                if (address != datum.address && overlap(other, datum))
                    refuse(task, "names data that overlap and are not the same: " + text(other) + " and " + text(datum));
            if (!is_new &&
                (known.element != datum.element || (datum.element && known.ld != datum.ld && known.cols > 1 && datum.cols > 1)))
                refuse(task, "names one datum in two shapes: " + text(known) + " and " + text(datum));
            if (known.bytes() < datum.bytes()) known = datum;
        }
    }
    std::string text(const Datum& datum) const
    {
        return std::to_string(datum.rows) + " x " + std::to_string(datum.cols) + " (ld " + std::to_string(datum.ld) + ") at " +
               std::to_string(static_cast<const std::byte*>(datum.address) - home_.begin());
    }
    static bool overlap(const Datum& a, const Datum& b)
    {
        const auto begin = [](const Datum& d) { return reinterpret_cast<std::intptr_t>(d.address); };
        const auto bytes = [](const Datum& d) {
            return d.element ? std::intptr_t((Index(d.cols - 1) * d.ld + d.rows) * d.element) : std::intptr_t(d.ld);
        };
        if (begin(a) + bytes(a) <= begin(b) || begin(b) + bytes(b) <= begin(a)) return false;
        if (!a.element || a.element != b.element || a.ld != b.ld) return true;
        const Index apart = Index(begin(b) - begin(a)) / a.element;
        const Index column = apart >= 0 ? apart / a.ld : -((-apart + a.ld - 1) / a.ld), row = apart - column * a.ld;
        const auto meet = [&](Index r, Index c) { return r < a.rows && r + b.rows > 0 && c < a.cols && c + b.cols > 0; };
        return meet(row, column) || meet(row - a.ld, column + 1);
    }

    /// The accesses of a task by their data, as the stronger of two to the same.
    std::vector<Block> blocks_of(const Submission& task, std::vector<std::size_t>& of_access) const
    {
        std::vector<Block> blocks;
        for (const Access& access : task.accesses) {
            const auto same = std::find_if(blocks.begin(), blocks.end(), [&](const Block& block) {
                return block.datum.address == access.datum.address && block.datum.bytes() >= access.datum.bytes();
            });
            of_access.push_back(std::size_t(same - blocks.begin()));
            if (same == blocks.end()) blocks.push_back({access.datum, access.mode, access.reduction});
            else if (same->mode != access.mode) same->mode = AccessMode::readwrite;
        }
        return blocks;
    }
    /// Each between guards, at an offset and a leading dimension of its own. What has no shape keeps its place in a cache line.
    std::unique_ptr<Pages> lay(std::vector<Block>& blocks)
    {
        constexpr std::size_t guard = 192;
        std::size_t size = guard;
        std::vector<std::size_t> places;
        for (Block& block : blocks) {
            const std::size_t line = block.matrix() ? random_() % (64 / alignment(block)) * alignment(block)
                                                    : reinterpret_cast<std::uintptr_t>(block.datum.address) % 64;
            block.ld = block.matrix() ? block.datum.rows + Index(random_() % 7) : block.datum.ld;
            if (block.matrix() && block.ld == block.datum.ld) ++block.ld;
            places.push_back((size + 63) / 64 * 64 + guard + line);
            size = places.back() + std::size_t(block.columns()) * std::max(block.stride(block.ld), block.column_bytes()) + guard;
        }
        auto pages = std::make_unique<Pages>(size);
        std::memset(pages->begin(), guard_byte, pages->size());
        std::byte* end = pages->begin();
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            Block& block = blocks[i];
            if (block.datum.bytes() == 0) continue;
            block.data = pages->begin() + places[i];
            block.begin = end;
            end = block.end =
                block.data + std::size_t(block.columns()) * std::max(block.stride(block.ld), block.column_bytes()) + guard;
        }
        return pages;
    }
    static std::size_t alignment(const Block& block) { return std::size_t(block.datum.element > 8 ? 8 : block.datum.element); }

    static void copy_in(const Block& block)
    {
        if (!block.data) return;
        if (block.mode == AccessMode::reduce) return block.reduction->initialise(block.data);
        for (Index j = 0; j < block.columns(); ++j)
            if (block.mode == AccessMode::write) std::memset(block.column(j), poison, block.column_bytes());
            else std::memcpy(block.column(j), block.home(j), block.column_bytes());
    }
    void copy_out(const Submission& task, const Block& block) const
    {
        if (!block.data) return;
        std::byte* at = block.begin;
        for (Index j = 0; j < block.columns(); ++j) {
            for (; at < block.column(j); ++at) check_guard(task, *at);
            at = block.column(j) + block.column_bytes();
            if (block.mode == AccessMode::read && std::memcmp(block.column(j), block.home(j), block.column_bytes()) != 0)
                refuse(task, "changes a datum that it declares to read");
            if (block.mode != AccessMode::read && block.mode != AccessMode::reduce)
                std::memcpy(block.home(j), block.column(j), block.column_bytes());
        }
        for (; at < block.end; ++at) check_guard(task, *at);
        if (block.mode == AccessMode::reduce) block.reduction->combine(block.home(0), block.data);
    }
    void check_guard(const Submission& task, std::byte byte) const
    {
        if (byte != std::byte{guard_byte}) refuse(task, "writes beside its operands");
    }

    void run_isolated(Submission& task)
    {
        std::vector<std::size_t> of_access;
        std::vector<Block> blocks = blocks_of(task, of_access);
        const std::unique_ptr<Pages> pages = lay(blocks);
        for (const Block& block : blocks) copy_in(block);
        run(task, blocks, of_access, *pages, true);
        for (const Block& block : blocks) copy_out(task, block);
    }
    void run_at_home(Submission& task)
    {
        std::vector<std::size_t> of_access;
        std::vector<Block> blocks = blocks_of(task, of_access);
        for (Block& block : blocks) block.data = block.home(0), block.ld = block.datum.ld;
        run(task, blocks, of_access, home_, false);
    }
    void run(Submission& task, const std::vector<Block>& blocks, const std::vector<std::size_t>& of_access, const Pages& inside,
             bool closed)
    {
        if (!task.codelet->core) refuse(task, "has no kernel for cores");
        const Index chunks = task.codelet->chunks ? task.codelet->chunks(task.args, kernels_) : 1;
        SharedWork work(chunks, chunks);
        Team team(work);
        Context context(team, *this, task, blocks, of_access, inside);
        if (closed) home_.close();
        volatile bool trapped = false;
        if (sigsetjmp(TrappedAccesses::back(), 1) == 0) task.codelet->core(task.args, context);
        else trapped = true;
        if (trapped) {
            home_.open();
            refuse(task, "touches what it has not declared");
        }
        try {
            context.finish_children();
        } catch (...) {
            home_.open();
            throw;
        }
        if (closed) home_.open();
    }
    void forget()
    {
        for (const Submission& task : tasks_)
            if (task.codelet->destroy) task.codelet->destroy(task.args);
        tasks_.clear();
    }

    static constexpr unsigned char guard_byte = 0xA5;
    const Kernels* const kernels_;
    const Operands operands_;
    const Pages& home_;
    std::mt19937 random_;
    std::vector<Submission> tasks_;
    std::map<const void*, Datum> named_;
    std::map<const void*, Datum> kept_;
};

} // namespace trencadis::testing
