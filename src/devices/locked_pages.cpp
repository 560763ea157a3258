#include "devices/locked_pages.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <iterator>
#include <unistd.h>

namespace trencadis::devices {
namespace {

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

} // namespace

LockedPages::~LockedPages()
{
    for (const auto& [memory, range] : ranges_)
        if (range.ours) std::free(reinterpret_cast<void*>(memory)); // NOLINT(performance-no-int-to-ptr)
}

Status LockedPages::add(void* memory, std::size_t bytes, bool ours)
{
    if (!memory || bytes == 0) return {Fault::bad_argument, "memory of 0 bytes, or none, cannot be page-locked"};
    const std::lock_guard lock(mutex_);
    const auto next = ranges_.lower_bound(number(memory));
    const bool into_next = next != ranges_.end() && next->first - number(memory) < bytes;
    const bool into_last = next != ranges_.begin() && number(memory) - std::prev(next)->first < std::prev(next)->second.bytes;
    if (into_next || into_last)
        return {Fault::bad_argument, fmt::format("{} bytes at {} are page-locked in part", bytes, memory)};
    if (!ours && ++locks_ == fail_at_)
        return {Fault::out_of_memory, fmt::format("page-locking number {} failed, as it was told to", locks_)};
    if (!ours && bytes > most_ - callers_bytes_)
        return {Fault::out_of_memory,
                fmt::format("{} bytes were to be page-locked, {} of {} are left", bytes, most_ - callers_bytes_, most_)};
    ranges_.emplace(number(memory), Range{bytes, ours});
    if (!ours) callers_bytes_ += bytes;
    return {};
}

Status LockedPages::remove(void* memory, bool ours)
{
    const std::lock_guard lock(mutex_);
    const auto found = ranges_.find(number(memory));
    if (found == ranges_.end() || found->second.ours != ours)
        return {Fault::bad_argument, fmt::format("no page-locked memory begins at {}", memory)};
    if (!ours) callers_bytes_ -= found->second.bytes;
    ranges_.erase(found);
    return {};
}

Status LockedPages::allocate(std::size_t bytes, void*& memory)
{
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    if (bytes == 0 || bytes > SIZE_MAX - page) return {Fault::bad_argument, fmt::format("page-locked memory of {} bytes", bytes)};
    void* const got = std::aligned_alloc(page, (bytes + page - 1) / page * page);
    if (!got) return {Fault::out_of_memory, fmt::format("the host has no {} bytes of page-locked memory", bytes)};
    Status status = add(got, bytes, true);
    if (status.ok()) memory = got;
    else std::free(got);
    return status;
}

Status LockedPages::free(void* memory)
{
    Status status = remove(memory, true);
    if (status.ok()) std::free(memory);
    return status;
}

Status LockedPages::lock(void* memory, std::size_t bytes) { return add(memory, bytes, false); }
Status LockedPages::unlock(void* memory) { return remove(memory, false); }

bool LockedPages::covers(const void* memory, std::size_t bytes) const
{
    const std::lock_guard lock(mutex_);
    const auto next = ranges_.upper_bound(number(memory));
    if (next == ranges_.begin()) return false;
    const auto& [begin, range] = *std::prev(next);
    const std::size_t offset = number(memory) - begin;
    return offset < range.bytes && bytes <= range.bytes - offset;
}

} // namespace trencadis::devices
