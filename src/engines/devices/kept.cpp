// Data whose copies stay on devices when their flows are over.
#include "base/error.hpp"
#include "engines/devices/device_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace trencadis {
namespace {

const char* begin_of(const void* data) { return static_cast<const char*>(data); }

/// Behind its last element.
const char* end_of(const void* data, Bytes bytes, const DatumShape& shape)
{
    if (!shape.element) return begin_of(data) + std::max<std::ptrdiff_t>(1, static_cast<std::ptrdiff_t>(bytes));
    return begin_of(data) + (std::ptrdiff_t(shape.cols - 1) * shape.ld + shape.rows) * shape.element;
}

/// Do they share memory? Blocks of matrices with other distances of columns count as doing so where their spans meet.
bool meet(const void* one, Bytes bytes, const DatumShape& a, const void* other, Bytes other_bytes, const DatumShape& b)
{
    const char *const first = begin_of(one), *const second = begin_of(other);
    if (first >= end_of(other, other_bytes, b) || second >= end_of(one, bytes, a)) return false;
    if (!a.element || a.element != b.element || a.ld != b.ld || (second - first) % a.element != 0) return true;
    // Where the other begins, seen from this one: in the column that the distance says, or above the top of the next one.
    const std::ptrdiff_t ld = a.ld, distance = (second - first) / a.element;
    std::ptrdiff_t col = distance / ld, row = distance % ld;
    if (row < 0) row += ld, --col;
    const auto met_at = [&](std::ptrdiff_t r, std::ptrdiff_t c) {
        return r < a.rows && r + b.rows > 0 && c < a.cols && c + b.cols > 0;
    };
    return met_at(row, col) || met_at(row - ld, col + 1);
}

} // namespace

bool DeviceMemory::is_used(const void* data) const
{
    const auto users = users_.find(data);
    return users != users_.end() && !users->second.empty();
}

/// Nobody uses the datum any more: does it lie in kept memory, and may copies of it stay?
bool DeviceMemory::keep_copies(const void* data, bool may_stay)
{
    auto kept = kept_.upper_bound(begin_of(data));
    if (kept == kept_.begin()) return false;
    --kept;
    const char* const end = end_of(data, replicas_.bytes(data), replicas_.shape(data));
    if (end > kept->second.end) return false;
    kept->second.longest = std::max(kept->second.longest, end - begin_of(data));
    if (may_stay) kept->second.data.insert(data);
    else kept->second.data.erase(data);
    return may_stay;
}

/// Those that nobody uses; `meets`: only those that share memory with it and are not the same datum.
void DeviceMemory::forget_copies(Kept& kept, const TaskDatum* meets)
{
    const auto is_same = [&](const void* data) {
        const DatumShape its = replicas_.shape(data), &shape = meets->shape;
        return data == meets->data && replicas_.bytes(data) == meets->bytes && its.element == shape.element &&
               (!its.element || (its.rows == shape.rows && its.cols == shape.cols && its.ld == shape.ld));
    };
    auto one = kept.data.begin(), last = kept.data.end();
    if (meets) { // what begins behind it or far enough before it is not asked
        one = kept.data.lower_bound(begin_of(meets->data) - kept.longest);
        last = kept.data.lower_bound(end_of(meets->data, meets->bytes, meets->shape));
    }
    const auto goes = [&](const void* data) {
        if (meets &&
            (is_same(data) || !meet(data, replicas_.bytes(data), replicas_.shape(data), meets->data, meets->bytes, meets->shape)))
            return false;
        if (is_used(data) || replicas_.in_use(data)) return false;
        replicas_.forget(data);
        return true;
    };
    while (one != last) one = goes(*one) ? kept.data.erase(one) : std::next(one);
}

/// The datum is about to be used, by nobody yet: what was kept under other names of its memory goes.
void DeviceMemory::make_way(const TaskDatum& datum)
{
    const char* const end = end_of(datum.data, datum.bytes, datum.shape);
    for (auto& [begin, kept] : kept_)
        if (begin < end && begin_of(datum.data) < kept.end) forget_copies(kept, &datum);
}

/// Locking takes long, and is done without the lock; who leaves it meanwhile has left it.
void DeviceMemory::keep(const void* data, Bytes bytes)
{
    Lock lock(mutex_);
    const char* const end = begin_of(data) + static_cast<std::ptrdiff_t>(bytes);
    for (const auto& [begin, kept] : kept_)
        if (begin < end && begin_of(data) < kept.end)
            throw Error(
                ErrorCode::bad_argument, 2,
                fmt::format("memory from {} to {} is to be kept on devices, and {} to {} is kept already; leave that first", data,
                            static_cast<const void*>(end), static_cast<const void*>(begin), static_cast<const void*>(kept.end)));
    kept_.emplace(begin_of(data), Kept{end});
    keeps_.store(true, std::memory_order_relaxed);
    lock.unlock();
    std::unique_ptr<PageHold> pages = pages_.hold_for_long({data, bytes});
    lock.lock();
    if (const auto kept = kept_.find(begin_of(data)); kept != kept_.end() && kept->second.end == end)
        kept->second.pages.swap(pages);
}

DeviceMemory::Kept& DeviceMemory::kept_at(const void* data)
{
    const auto kept = kept_.find(begin_of(data));
    if (kept != kept_.end()) return kept->second;
    throw Error(ErrorCode::bad_argument, 2, fmt::format("nothing that begins at {} is kept on devices", data));
}

void DeviceMemory::leave(const void* data)
{
    std::unique_ptr<PageHold> pages; // goes without the lock
    const std::lock_guard lock(mutex_);
    Kept& kept = kept_at(data);
    forget_copies(kept, nullptr); // what a call uses just now, that call forgets
    pages.swap(kept.pages);
    kept_.erase(begin_of(data));
    keeps_.store(!kept_.empty(), std::memory_order_relaxed);
    call_all();
}

void DeviceMemory::touch_kept(const void* data)
{
    const std::lock_guard lock(mutex_);
    forget_copies(kept_at(data), nullptr);
}

void DeviceMemory::touch(const void* data, Bytes bytes)
{
    const std::lock_guard lock(mutex_);
    const char* const end = begin_of(data) + static_cast<std::ptrdiff_t>(bytes);
    for (auto& [begin, kept] : kept_)
        if (!data || (begin < end && begin_of(data) < kept.end)) forget_copies(kept, nullptr);
}

} // namespace trencadis
