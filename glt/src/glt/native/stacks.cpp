#include "glt/native/stacks.hpp"

#include <algorithm>
#include <bit>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <sys/resource.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace trencadis::ult {

constinit Stacks stacks;

namespace {
constexpr std::size_t head_room = 4096; ///< for the record and its colour
constexpr int guard_advice = 102;       ///< MADV_GUARD_INSTALL, Linux 6.13: no mapping of its own per guard page

/// Red zones of frames that nobody will return to, which AddressSanitizer still knows.
void forget_frames([[maybe_unused]] void* from, [[maybe_unused]] std::size_t size)
{
#if defined(__SANITIZE_ADDRESS__)
    __asan_unpoison_memory_region(from, size);
#endif
}

bool protect(std::byte* low, std::size_t size)
{
    return madvise(low, size, guard_advice) == 0 || mprotect(low, size, PROT_NONE) == 0;
}

/// The limit may change at any time, and stacks are mapped seldom.
std::size_t affordable_guard()
{
    rlimit addresses;
    const bool limited = getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY;
    return limited ? Stack::narrow_guard : Stack::wide_guard;
}

/// Null when there are no addresses; `guard` becomes what there was room for.
std::byte* map_pages(std::size_t size, std::size_t& guard)
{
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK;
    for (;;) {
        void* memory = mmap(nullptr, guard + size, PROT_READ | PROT_WRITE, flags, -1, 0);
        if (memory != MAP_FAILED) return static_cast<std::byte*>(memory);
        if (guard == Stack::least_guard) return nullptr;
        guard = Stack::least_guard;
    }
}
} // namespace

unsigned stack_class_of(std::size_t size)
{
    return static_cast<unsigned>(std::bit_width((std::max(size, std::size_t{16384}) - 1) >> 14));
}

Stack* Stacks::map(unsigned size_class)
{
    const std::size_t size = stack_class_size(size_class);
    std::size_t guard = affordable_guard();
    std::byte* const mapping = map_pages(size + head_room, guard);
    if (!mapping) return nullptr;
    const std::size_t whole = guard + size + head_room;
    forget_frames(mapping, whole);
    // The kernel allows so many mappings (vm.max_map_count); a guard costs one, however large. Beyond that, work goes on without.
    const bool guarded = protect(mapping, guard);
    std::lock_guard hold(lock_);
    // Stacks that began at the same offset of their page would all fight for the same few lines of the first-level cache.
    const std::size_t colours = (head_room - sizeof(Stack)) / 64;
    const std::size_t colour = 64 * (colour_++ % colours);
    auto* stack = new (mapping + whole - colour - sizeof(Stack)) Stack{};
    stack->mapping = mapping;
    stack->mapped = whole;
    stack->size = size;
    stack->guard = guard;
    stack->size_class = static_cast<std::uint8_t>(size_class);
    stack->guarded = guarded;
    stack->older = all_;
    if (all_) all_->newer = stack;
    all_ = stack;
    ++mapped_;
    unguarded_ |= !guarded;
    return stack;
}

void Stacks::unmap(Stack* stack)
{
    {
        std::lock_guard hold(lock_);
        (stack->newer ? stack->newer->older : all_) = stack->older;
        if (stack->older) stack->older->newer = stack->newer;
        --mapped_;
    }
    stack->trace.end();
    void* const mapping = stack->mapping;
    const std::size_t mapped = stack->mapped;
    forget_frames(mapping, mapped); // a library may be loaded here next
    munmap(mapping, mapped);
}

Stack* Stacks::refill(StackCache& cache, unsigned size_class)
{
    {
        std::lock_guard hold(lock_);
        while (idle_.free[size_class] && cache.count[size_class] < local_limit / 2) {
            Stack* stack = idle_.free[size_class];
            idle_.free[size_class] = stack->next;
            --idle_.count[size_class];
            stack->next = cache.free[size_class];
            cache.free[size_class] = stack;
            ++cache.count[size_class];
        }
    }
    if (cache.free[size_class]) return take(cache, size_class);
    Stack* stack = map(size_class);
    if (stack) begin_fiber(*stack);
    return stack;
}

void Stacks::shed(StackCache& cache, unsigned size_class)
{
    const std::size_t limit = std::max<std::size_t>(4, global_limit / stack_class_size(size_class));
    while (cache.count[size_class] > local_limit / 2) {
        Stack* stack = cache.free[size_class];
        cache.free[size_class] = stack->next;
        --cache.count[size_class];
        std::unique_lock hold(lock_);
        if (idle_.count[size_class] < limit) {
            stack->next = idle_.free[size_class];
            idle_.free[size_class] = stack;
            ++idle_.count[size_class];
        } else {
            hold.unlock();
            unmap(stack);
        }
    }
}

void Stacks::clear()
{
    while (all_) unmap(all_);
    idle_ = StackCache{};
    unguarded_ = false;
}

} // namespace trencadis::ult
