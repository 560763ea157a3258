#pragma once
#include "base/same_sums.hpp"

#include <cstdint>
#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace trencadis {

/// How the calling thread rounds, treats subnormal numbers and cuts sums, without what it traps; and the exceptions that
/// arithmetic has raised. A call computes in the modes of its caller on whichever thread, everything around it in the standard
/// ones, where nothing traps.
class FloatModes {
public:
    FloatModes() = default; ///< the standard ones
    static FloatModes current();
    /// The standard ones for one who goes on with sums that are cut as the calling thread cuts them.
    static FloatModes standard_here()
    {
        FloatModes modes;
        modes.same_sums_ = SameSums::here();
        return modes;
    }
    bool same_sums() const { return same_sums_; }
    bool operator==(const FloatModes&) const = default;

    using Raised = std::uint32_t; ///< a set of exceptions

private:
    friend class FloatScope;
    std::uint32_t bits_ = 0; ///< to nearest, here and in the C library
    bool same_sums_ = false;
};

#if defined(__x86_64__)

inline FloatModes FloatModes::current()
{
    constexpr std::uint32_t rounding = 0x6000, flush_to_zero = 0x8000, denormals_are_zero = 0x40;
    FloatModes modes = standard_here();
    modes.bits_ = _mm_getcsr() & (rounding | flush_to_zero | denormals_are_zero);
    return modes;
}

/// While it lives, the calling thread computes in these modes, and what is raised counts anew.
class FloatScope {
public:
    explicit FloatScope(FloatModes modes) : sums_(modes.same_sums()), before_(_mm_getcsr())
    {
        _mm_setcsr(nothing_traps | modes.bits_);
    }
    ~FloatScope() { _mm_setcsr(before_); }
    FloatScope(const FloatScope&) = delete;
    FloatScope& operator=(const FloatScope&) = delete;
    /// By now.
    FloatModes::Raised raised() const { return _mm_getcsr() & exceptions; }

    static constexpr std::uint32_t nothing_traps = 0x1f80, exceptions = 0x3f;

private:
    const SameSums sums_;
    const std::uint32_t before_;
};

/// For the runtime's own arithmetic on whichever thread: the standard modes, which most threads are in.
class StandardFloatModes {
public:
    StandardFloatModes() : before_(_mm_getcsr()), others_((before_ & ~FloatScope::exceptions) != FloatScope::nothing_traps)
    {
        if (others_) [[unlikely]]
            _mm_setcsr(FloatScope::nothing_traps);
    }
    ~StandardFloatModes()
    {
        if (others_) [[unlikely]]
            _mm_setcsr(before_);
    }
    StandardFloatModes(const StandardFloatModes&) = delete;
    StandardFloatModes& operator=(const StandardFloatModes&) = delete;

private:
    const std::uint32_t before_;
    const bool others_;
};

/// The calling thread is the runtime's from now on.
inline void set_standard_float_modes() { _mm_setcsr(FloatScope::nothing_traps); }

/// Marks exceptions as raised, and has none of them trap.
inline void raise_quietly(FloatModes::Raised raised)
{
    const std::uint32_t now = _mm_getcsr();
    if (raised & ~now) _mm_setcsr(now | raised);
}

#else // by the C library, which knows rounding and exceptions; flushing to zero is the thread's own

inline FloatModes FloatModes::current()
{
    FloatModes modes = standard_here();
    modes.bits_ = static_cast<std::uint32_t>(std::fegetround());
    return modes;
}

class FloatScope {
public:
    explicit FloatScope(FloatModes modes) : sums_(modes.same_sums())
    {
        std::feholdexcept(&before_);
        std::fesetenv(FE_DFL_ENV);
        std::fesetround(static_cast<int>(modes.bits_));
    }
    ~FloatScope() { std::fesetenv(&before_); }
    FloatScope(const FloatScope&) = delete;
    FloatScope& operator=(const FloatScope&) = delete;
    FloatModes::Raised raised() const { return static_cast<FloatModes::Raised>(std::fetestexcept(FE_ALL_EXCEPT)); }

private:
    const SameSums sums_;
    std::fenv_t before_;
};

class StandardFloatModes {
private:
    const FloatScope scope_{FloatModes::standard_here()};
};

inline void set_standard_float_modes() { std::fesetenv(FE_DFL_ENV); }

inline void raise_quietly(FloatModes::Raised raised)
{
    std::fenv_t own;
    std::fexcept_t flags;
    std::feholdexcept(&own); // nothing traps
    std::feraiseexcept(static_cast<int>(raised));
    std::fegetexceptflag(&flags, static_cast<int>(raised));
    std::fesetenv(&own);
    std::fesetexceptflag(&flags, static_cast<int>(raised)); // sets flags without trapping
}

#endif

} // namespace trencadis
