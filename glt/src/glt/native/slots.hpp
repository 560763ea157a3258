#pragma once
#include "glt/primitives/lock.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace trencadis::ult {

enum class Kind : std::uint8_t { none, ult, tasklet, foreign, mutex, barrier, cond, counter, event, key, timer };

/// What stands at the head of everything a handle names. `tag` is the slot's generation and kind; a handle is the address with
/// the generation in its upper 16 bits, and names the slot as long as the tag is the same.
struct Slot {
    std::atomic<std::uint32_t> tag;      ///< generation << 16 | kind
    std::atomic<std::uint8_t> cancelled; ///< of units, as the next two; here because they fill the gap
    std::atomic<std::uint8_t> bits;
    std::uint16_t home;
    Slot* next; ///< in the list of the free, and in an Inbox

    std::uint16_t generation() const { return static_cast<std::uint16_t>(tag.load(std::memory_order_relaxed) >> 16); }
    std::uint64_t handle() const { return reinterpret_cast<std::uint64_t>(this) | std::uint64_t{generation()} << 48; }
};

/// Slots a worker has at hand.
struct SlotCache {
    Slot* free = nullptr;
    std::size_t count = 0;
};

/// Memory for things with handles, in one range of addresses reserved for the life of the process: any number is checked against
/// it without being followed, and a slot stays a slot of this kind of thing, so that a late look at one that was freed is
/// harmless.
class Slots {
public:
    static constexpr std::size_t slot_size = 128;

    /// An empty slot, its generation set and its kind still none; null when there is no memory.
    Slot* take(SlotCache& cache)
    {
        if (!cache.free && !refill(cache)) [[unlikely]]
            return nullptr;
        Slot* slot = cache.free;
        cache.free = slot->next;
        --cache.count;
        return slot;
    }
    /// The same for threads without a cache.
    Slot* take();

    /// Ends the life of the handle `tag` was read from; false when another was first.
    static bool end(Slot* slot)
    {
        std::uint32_t tag = slot->tag.load(std::memory_order_relaxed);
        const std::uint32_t next = (tag + 0x10000) & 0xffff0000u;
        return (tag & 0xff) != 0 && slot->tag.compare_exchange_strong(tag, next, std::memory_order_acq_rel);
    }
    void give(SlotCache& cache, Slot* slot)
    {
        slot->next = cache.free;
        cache.free = slot;
        if (++cache.count > most) [[unlikely]]
            shed(cache);
    }
    void give(Slot* slot);

    /// The slot a handle names, if it is of this range and its tag fits.
    Slot* find(std::uint64_t handle, Kind kind) const
    {
        const std::uint64_t address = handle & ((std::uint64_t{1} << 48) - 1);
        const std::uint64_t offset = address - base_;
        if (offset >= used_.load(std::memory_order_acquire) || offset % slot_size) return nullptr;
        Slot* slot = reinterpret_cast<Slot*>(address);
        const std::uint32_t tag = static_cast<std::uint32_t>(handle >> 48) << 16 | static_cast<std::uint32_t>(kind);
        return slot->tag.load(std::memory_order_relaxed) == tag ? slot : nullptr;
    }
    template <class F> void each(F&& f)
    {
        for (std::uint64_t at = 0; at < used_.load(std::memory_order_acquire); at += slot_size)
            f(reinterpret_cast<Slot*>(base_ + at));
    }
    bool reserve();
    /// Gives all memory back, keeps the range. Handles of before are not valid after.
    void clear();

private:
    static constexpr std::size_t batch = 128; ///< so many at a time from and to the other threads
    static constexpr std::size_t most = 4096; ///< in a worker's cache
    bool refill(SlotCache& cache);
    void shed(SlotCache& cache);
    bool commit();

    std::uint64_t base_ = 0;
    std::size_t reserved_ = 0, committed_ = 0;
    std::atomic<std::uint64_t> used_{0};
    Lock lock_;            ///< of what follows, and of growing
    Slot* free_ = nullptr; ///< batches given back
    std::uint16_t first_generation_ = 1;
};

extern Slots unit_slots;
extern Slots object_slots; ///< mutexes and the rest: whatever has a wait queue keeps its lock's place

} // namespace trencadis::ult
