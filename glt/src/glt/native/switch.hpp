#pragma once
#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace trencadis::ult {

/// What the sanitizers must be told of a stack: its bounds (AddressSanitizer) and a fiber of theirs (ThreadSanitizer).
struct FiberTrace {
#if defined(__SANITIZE_ADDRESS__)
    static constexpr bool followed = true;
    const void* bottom = nullptr;
    std::size_t size = 0;
    void* fake = nullptr; ///< its fake frames while it does not run
    void begin(const void* low, std::size_t bytes) { bottom = low, size = bytes; }
    void adopt() {} ///< the calling thread's own stack: bounds come with the first switch away
    void end() {}
    /// Before leaving this stack for good or for a while.
    void leave(FiberTrace& to, bool for_good) { __sanitizer_start_switch_fiber(for_good ? nullptr : &fake, to.bottom, to.size); }
    /// First thing on this stack; `from` is where we came from.
    void arrive(FiberTrace* from)
    {
        const void* old_bottom = nullptr;
        std::size_t old_size = 0;
        __sanitizer_finish_switch_fiber(fake, &old_bottom, &old_size);
        fake = nullptr;
        if (from && !from->bottom) from->begin(old_bottom, old_size);
    }
#elif defined(__SANITIZE_THREAD__)
    static constexpr bool followed = true;
    void* fiber = nullptr;
    void* before = nullptr; ///< of the unit that was unwound here: its record of calls was never balanced
    bool own = false;
    void begin(const void*, std::size_t) { before = std::exchange(fiber, __tsan_create_fiber(0)), own = true; }
    void adopt() { fiber = __tsan_get_current_fiber(); }
    void end()
    {
        if (own) __tsan_destroy_fiber(std::exchange(fiber, nullptr));
        own = false;
    }
    void leave(FiberTrace& to, bool) { __tsan_switch_to_fiber(to.fiber, 0); }
    void arrive(FiberTrace*)
    {
        if (before) __tsan_destroy_fiber(std::exchange(before, nullptr));
    }
#else
    static constexpr bool followed = false;
    void begin(const void*, std::size_t) {}
    void adopt() {}
    void end() {}
    void leave(FiberTrace&, bool) {}
    void arrive(FiberTrace*) {}
#endif
};

/// boost::context's jump, entered without a call: it comes back by an indirect jump, and the processor, which pairs calls with
/// returns to predict them, would be one call out of step and mispredict every return up to the unit's own function.
[[gnu::always_inline]] inline boost::context::detail::transfer_t jump(void* to, void* data)
{
#if defined(__x86_64__) && defined(__LP64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    boost::context::detail::transfer_t back;
    asm volatile("leaq -128(%%rsp), %%rsp\n\t" // what the compiler may keep below the stack pointer
                 "leaq 1f(%%rip), %%rax\n\t"
                 "pushq %%rax\n\t"
                 "jmp jump_fcontext@PLT\n"
                 "1:\tleaq 128(%%rsp), %%rsp"
                 : "=a"(back.fctx), "=d"(back.data), "+D"(to), "+S"(data)
                 :
                 : "rcx", "r8", "r9", "r10", "r11", "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6",
                   "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
    return back;
#else
    return boost::context::detail::jump_fcontext(to, data);
#endif
}

struct Stack;
/// Puts a fresh fiber on the stack: at first, and again after a unit on it has been unwound.
void begin_fiber(Stack& stack);

} // namespace trencadis::ult
