#include "glt/native/slots.hpp"

#include <mutex>
#include <sys/mman.h>

namespace trencadis::ult {

constinit Slots unit_slots;
constinit Slots object_slots;

namespace {
constexpr std::size_t step = std::size_t{1} << 20; ///< memory is made usable by so much at a time
}

bool Slots::reserve()
{
    if (base_) return true;
    // Addresses only. Where even those are limited (ulimit -v), less will do.
    for (std::size_t size = std::size_t{1} << 36; size >= std::size_t{1} << 24; size /= 2) {
        void* range = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (range == MAP_FAILED) continue;
        base_ = reinterpret_cast<std::uint64_t>(range);
        reserved_ = size;
        return true;
    }
    return false;
}

void Slots::clear()
{
    if (committed_) madvise(reinterpret_cast<void*>(base_), committed_, MADV_DONTNEED); // reads as zero afterwards
    used_.store(0, std::memory_order_release);
    free_ = nullptr;
    first_generation_ = static_cast<std::uint16_t>(first_generation_ + 0x9e37); // so that old handles do not fit by chance
}

bool Slots::commit()
{
    if (committed_ + step > reserved_) return false;
    if (mprotect(reinterpret_cast<void*>(base_ + committed_), step, PROT_READ | PROT_WRITE) != 0) return false;
    committed_ += step;
    return true;
}

bool Slots::refill(SlotCache& cache)
{
    std::lock_guard hold(lock_);
    for (; cache.count < batch && free_; ++cache.count) {
        Slot* slot = free_;
        free_ = slot->next;
        slot->next = cache.free;
        cache.free = slot;
    }
    if (cache.count) return true;
    const std::uint64_t used = used_.load(std::memory_order_relaxed);
    if (used + batch * slot_size > committed_ && !commit()) return false;
    for (std::size_t i = batch; i-- > 0;) {
        auto* slot = reinterpret_cast<Slot*>(base_ + used + i * slot_size);
        slot->tag.store(std::uint32_t{first_generation_} << 16, std::memory_order_relaxed);
        slot->next = cache.free;
        cache.free = slot;
    }
    cache.count = batch;
    used_.store(used + batch * slot_size, std::memory_order_release);
    return true;
}

void Slots::shed(SlotCache& cache)
{
    Slot* first = cache.free;
    Slot* last = first;
    constexpr std::size_t count = most / 2;
    for (std::size_t i = 1; i < count; ++i) last = last->next;
    cache.free = last->next;
    cache.count -= count;
    std::lock_guard hold(lock_);
    last->next = free_;
    free_ = first;
}

Slot* Slots::take()
{
    SlotCache cache;
    Slot* slot = take(cache);
    std::lock_guard hold(lock_);
    while (cache.free) {
        Slot* rest = cache.free;
        cache.free = rest->next;
        rest->next = free_;
        free_ = rest;
    }
    return slot;
}

void Slots::give(Slot* slot)
{
    std::lock_guard hold(lock_);
    slot->next = free_;
    free_ = slot;
}

} // namespace trencadis::ult
