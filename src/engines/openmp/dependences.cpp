#include "engines/openmp/dependences.hpp"

#include <utility>

namespace trencadis::openmp {

void* Parts::acquire()
{
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
        void* const part = idle_.back();
        idle_.pop_back();
        return part;
    }
    idle_.reserve(all_.size() + 1); // giving back does not throw
    all_.emplace_back(static_cast<std::byte*>(::operator new (how_.bytes, std::align_val_t{64})));
    how_.initialise(all_.back().get());
    return all_.back().get();
}

void Parts::give_back(void* part)
{
    const std::lock_guard lock(mutex_);
    idle_.push_back(part);
}

void Parts::combine()
{
    const FloatScope modes(float_modes_);
    for (const auto& part : all_) how_.combine(datum_, part.get());
    all_.clear();
    idle_.clear();
}

namespace {

/// Several at once that write: a group which the runtime may not know.
bool is_group(AccessMode mode) { return mode == AccessMode::concurrent_write || mode == AccessMode::reduce; }

} // namespace

std::vector<void*>& Dependences::list_of(AccessMode mode)
{
    if (mode == AccessMode::read) return in_;
    if (mode == AccessMode::commute) return mutexinoutset_;
    if (is_group(mode)) return has_inoutset_ ? inoutset_ : in_;
    return inout_;
}

/// Only groups that are open are kept, so that tasks without such accesses look nothing up.
void Dependences::change_group(void* address, AccessMode mode, const Reduction* how,
                               const std::function<void(const Between&)>& between)
{
    if (groups_.empty() && !is_group(mode)) return;
    const auto open = groups_.find(address);
    if (mode != AccessMode::reduce) how = nullptr;
    if (open != groups_.end() && open->second.mode == mode && open->second.how == how) return;
    bool apart = false;
    if (open != groups_.end()) {
        apart = open->second.parts || &list_of(open->second.mode) == &list_of(mode);
        if (apart) between({address, std::move(open->second.parts)});
        groups_.erase(open);
    }
    if (!is_group(mode)) return;
    if (!has_inoutset_ && !apart) between({address, nullptr}); // readers may come before it
    groups_[address] = {mode, how, how ? std::make_shared<Parts>(address, *how) : nullptr};
}

void Dependences::read(const StoredTask& task, void* token, const std::function<void(const Between&)>& between)
{
    for (auto* list : {&in_, &inout_, &mutexinoutset_, &inoutset_}) list->clear();
    reductions_.clear();
    if (token) in_.push_back(token);
    const std::span<const Access> accesses = task.accesses();
    task.for_each_datum([&](const Datum& datum, AccessMode mode) {
        void* const address = const_cast<void*>(datum.address);
        const Reduction* how = nullptr;
        for (const Access& access : accesses)
            if (access.datum.address == address) how = access.reduction;
        change_group(address, mode, how, between);
        list_of(mode).push_back(address);
        if (mode != AccessMode::reduce) return;
        for (std::size_t i = 0; i < accesses.size(); ++i)
            if (accesses[i].datum.address == address) reductions_.push_back({i, groups_[address].parts});
    });
}

TrcOpenMpDependences Dependences::lists() const
{
    const auto count = [](const std::vector<void*>& list) { return static_cast<int>(list.size()); };
    return {in_.data(), inout_.data(), mutexinoutset_.data(), inoutset_.data(),
            count(in_), count(inout_), count(mutexinoutset_), count(inoutset_)};
}

void Dependences::end_groups(const std::function<void(const Between&)>& between)
{
    for (auto& [address, group] : groups_)
        if (group.parts) between({address, std::move(group.parts)});
    groups_.clear();
}

} // namespace trencadis::openmp
