#pragma once
#include "base/float_modes.hpp"
#include "engines/openmp/runtime.h"
#include "graph/stored_task.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace trencadis::openmp {

/// The private parts of a group of `reduce` accesses: one for each task that is inside at once. Any thread.
class Parts {
public:
    Parts(void* datum, const Reduction& how) : datum_(datum), how_(how) {}
    void* acquire(); ///< may throw bad_alloc
    void give_back(void* part);
    /// Folds all into the datum, in the floating-point modes of the group's first submitter. When nobody is inside.
    void combine();

private:
    struct Free {
        void operator()(std::byte* part) const { ::operator delete (part, std::align_val_t{64}); }
    };
    void* const datum_;
    const Reduction& how_;
    const FloatModes float_modes_ = FloatModes::current();
    std::mutex mutex_;
    std::vector<std::unique_ptr<std::byte, Free>> all_;
    std::vector<void*> idle_;
};

/// What a task inside a reduction needs: the access, and where its parts are.
struct ReduceAccess {
    std::size_t access;
    std::shared_ptr<Parts> parts;
};

/// Says accesses in OpenMP's words: `read` is `in`, `write` and `readwrite` are `inout`, `commute` is `mutexinoutset` (which
/// libgomp takes for `inout`: such tasks run in order there), `concurrent_write` and `reduce` are `inoutset`. Where the compiler
/// has none, such a group is `in`, with an empty task that is `inout` before it, and after it when readers follow: the chain
/// readers - empty - writers - empty - readers. The parts of a reduction are folded by such a task behind the group. One thread.
class Dependences {
public:
    /// Between two groups, or behind a reduction.
    struct Between {
        void* address;                ///< of the datum, `inout`
        std::shared_ptr<Parts> folds; ///< none: empty
    };
    explicit Dependences(bool has_inoutset) : has_inoutset_(has_inoutset) {}

    /// Reads the task's accesses; the lists are good until the next call. `token`: one more address that it depends on by `in`.
    /// `between` is called for each task to be submitted before it.
    void read(const StoredTask& task, void* token, const std::function<void(const Between&)>& between);
    TrcOpenMpDependences lists() const;
    std::vector<ReduceAccess> take_reductions() { return std::move(reductions_); }
    /// All groups end: the tasks that fold them.
    void end_groups(const std::function<void(const Between&)>& between);

private:
    struct Group {
        AccessMode mode;
        const Reduction* how; ///< of `reduce`: another one is another group
        std::shared_ptr<Parts> parts;
    };
    std::vector<void*>& list_of(AccessMode mode);
    void change_group(void* address, AccessMode mode, const Reduction* how, const std::function<void(const Between&)>& between);

    const bool has_inoutset_;
    std::vector<void*> in_, inout_, mutexinoutset_, inoutset_;
    std::vector<ReduceAccess> reductions_;
    std::unordered_map<void*, Group> groups_; ///< the open ones whose tasks may be inside together and write
};

} // namespace trencadis::openmp
