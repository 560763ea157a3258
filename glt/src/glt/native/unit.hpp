#pragma once
#include "glt/native/slots.hpp"
#include "glt/primitives/parker.hpp"

namespace trencadis::ult {

struct Stack;
struct Values;

/// Who runs and who waits: a ULT, a tasklet, the main program, or a foreign thread (which only waits). Lives in unit_slots, so
/// that whoever is late (the finisher of a unit whose joiner gave up, say) still finds one; sequence numbers tell it that it is
/// late.
struct alignas(128) Unit : Slot {
    // Bits.
    static constexpr std::uint8_t strict = 1; ///< runs on `home` and nowhere else
    static constexpr std::uint8_t is_main = 2;
    static constexpr std::uint8_t is_tasklet = 4;
    static constexpr std::uint8_t is_foreign = 8;
    static constexpr std::uint8_t exiting = 16; ///< its frames are being unwound: it may wait, and is not cancelled again

    // join_word; anything larger is the Unit that waits for the end, its address. The end of the unit adds 1 to whatever is
    // there: the named joiner, and nobody else, then makes it `joined`, with which the unit is free to go.
    static constexpr std::uint64_t running = 0, done = 1, joined = 2, detached = 4;
    static constexpr bool has_ended(std::uint64_t word) { return (word & done) || word == joined; }

    // The first cache line: all that creating and running an empty unit touches.
    void (*function)(void*);
    void* argument;
    std::atomic<std::uint64_t> join_word;
    void* sp;                             ///< where it goes on; null before it begins
    std::atomic<std::uint64_t> wait_word; ///< sequence << 3 | WaitState; keeps counting over all users of the slot
    std::uint64_t id : 56, stack_class : 8;

    Stack* stack;
    std::uint64_t counter;                    ///< handle, or 0
    const char* name;                         ///< or null
    Values* values;                           ///< of keys, or null
    std::atomic<std::uint64_t> suspend_word;  ///< 0, token_kept, or the sequence of the wait << 2 | suspended
    std::atomic<std::uint64_t> join_sequence; ///< of the wait for the unit it joins
    std::int64_t deadline;
    std::uint32_t heap_place;
    Parker parker; ///< of a foreign thread

    static constexpr std::uint64_t token_kept = 1, suspended = 2;

    bool has(std::uint8_t bit) const { return bits.load(std::memory_order_relaxed) & bit; }
    void set(std::uint8_t bit)
    {
        bits.store(static_cast<std::uint8_t>(bits.load(std::memory_order_relaxed) | bit), std::memory_order_relaxed);
    }
};
static_assert(sizeof(Unit) == Slots::slot_size);

/// What ended a wait, or how far it is.
enum WaitState : std::uint64_t { idle, armed, parked, signalled, timed_out, cancelled_wait };

} // namespace trencadis::ult
