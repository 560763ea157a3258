#pragma once
#include "glt/native/switch.hpp"
#include "glt/primitives/lock.hpp"

#include <cstddef>
#include <cstdint>

namespace trencadis::ult {

/// A unit's stack, with a live fiber on it that runs one unit after the other: no context is made per unit. This record stands at
/// the upper end of the mapping; below the usable bytes is the guard, which nothing may touch.
struct Stack {
    void* sp;    ///< of the fiber while it is idle
    Stack* next; ///< in a cache
    std::byte* mapping;
    std::size_t mapped;
    std::size_t size;  ///< usable bytes, at least
    std::size_t guard; ///< bytes below them
    std::uint8_t size_class;
    bool guarded;
    void* frame;          ///< of the fiber's outermost function: up to here a unit that exits is unwound
    Stack *newer, *older; ///< all stacks there are
    FiberTrace trace;
    std::byte* top() { return reinterpret_cast<std::byte*>(this); }
    std::byte* bottom() const { return mapping + guard; }
    /// A frame with a large array must not step over it. It costs addresses, and nothing else where there are enough of them;
    /// a process that was given few (ulimit -v) has a smaller one, and one that runs out of them a page.
    static constexpr std::size_t wide_guard = std::size_t{256} << 10, narrow_guard = std::size_t{64} << 10, least_guard = 4096;
};

constexpr unsigned stack_classes = 17; ///< 16 KiB << class, up to 1 GiB
/// The smallest class of at least `size` bytes.
unsigned stack_class_of(std::size_t size);
constexpr std::size_t stack_class_size(unsigned size_class) { return std::size_t{16384} << size_class; }

/// Stacks a worker has at hand. Bounded: beyond that they go to Stacks, and from there to the system.
struct StackCache {
    Stack* free[stack_classes] = {};
    unsigned count[stack_classes] = {};
};

/// All stacks of the process.
class Stacks {
public:
    /// Null when there is no memory.
    Stack* take(StackCache& cache, unsigned size_class)
    {
        Stack* stack = cache.free[size_class];
        if (!stack) [[unlikely]]
            return refill(cache, size_class);
        cache.free[size_class] = stack->next;
        --cache.count[size_class];
        return stack;
    }
    void give(StackCache& cache, Stack* stack)
    {
        const unsigned size_class = stack->size_class;
        stack->next = cache.free[size_class];
        cache.free[size_class] = stack;
        if (++cache.count[size_class] > local_limit) [[unlikely]]
            shed(cache, size_class);
    }
    /// Unmaps them all, those in use too.
    void clear();
    std::size_t mapped() const { return mapped_; }
    /// True once a stack had to do without its guard, for telling so once.
    bool unguarded() const { return unguarded_; }

private:
    static constexpr unsigned local_limit = 128;
    static constexpr std::size_t global_limit = std::size_t{256} << 20; ///< bytes of addresses per class
    Stack* refill(StackCache& cache, unsigned size_class);
    void shed(StackCache& cache, unsigned size_class);
    Stack* map(unsigned size_class);
    void unmap(Stack* stack);

    Lock lock_;
    StackCache idle_;
    Stack* all_ = nullptr;
    std::size_t mapped_ = 0; ///< how many
    unsigned colour_ = 0;
    bool unguarded_ = false;
};

extern Stacks stacks;

} // namespace trencadis::ult
