#pragma once
#include "algorithms/arguments.hpp"
#include "algorithms/routines.hpp"
#include "base/device_error.hpp"
#include "base/kept_errno.hpp"
#include "base/uncancelled.hpp"
#include "drivers/linear_algebra.hpp"
#include "kernels/providers/provider.hpp"
#include "matrix/region.hpp"
#include "session/session.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <limits>
#include <new>
#include <numeric>
#include <string>
#include <type_traits>

/// How a call whose arguments are in order is carried out: small ones on the calling thread, without a session; large ones by the
/// standard session's workers, which start with the first of them. BLAS knows no failure: where there can be no
/// session the calling thread computes alone, and says so once; what cannot be computed at all ends the program with a message.
/// What devices have lost does not: `half_done`, or no numbers.
namespace trencadis::face {

/// The environment's say, read once. TRENCADIS_TILE=nb: every call is cut into tiles of that size. TRENCADIS_VERBOSE=1: one
/// line on standard error per call.
struct Settings {
    Index tile = 0;
    bool verbose = false;
    bool cuts_everything() const { return tile > 0; }
};
const Settings& settings();

/// Is the call worth the session's attention, which knows whether others have time? One is not made for few short calls.
bool wants_session(Flops flops);

/// The standard session, or null when it cannot be made here.
Session* session_or_null();

/// What calls on the calling thread use: the standard session's kernels, or ours when those cannot be had.
const KernelProvider& direct_kernels();

/// Our own kernels, which need nothing that may be missing, with one line on standard error that says why.
const KernelProvider& own_kernels_because(const Error& reason);

/// The standard session without devices, for a call that those asked for have no room for, which is said once. Null: it cannot
/// be made here.
Session* session_without_devices(const Error& reason);

/// LAPACK's info of a call that ended in the middle, beside LAPACKE's numbers for want of memory: neither an argument's, nor a
/// pivot's.
inline constexpr Index half_done = -1012;

/// One line: a call with devices ended in the middle, since what only they had is lost. `is_told`: by its info.
void say_half_done(const char* routine, bool is_told, const char* reason);

/// What a call has written that is half done is no number: not every program has an info, or looks at it.
template <Scalar T> void make_nan(const Region& region)
{
    T* const A = static_cast<T*>(const_cast<void*>(region.data));
    for (Index j = 0; j < region.cols; ++j) {
        const Index begin = region.shape == Region::Shape::lower ? j : 0;
        const Index end = region.shape == Region::Shape::upper ? std::min(j + 1, region.rows) : region.rows;
        std::fill(A + begin + j * region.ld, A + std::max(begin, end) + j * region.ld,
                  T(std::numeric_limits<Real<T>>::quiet_NaN()));
    }
}
template <Scalar T, class... A> void make_written_nan(const A&... arguments)
{
    const auto look = [](const auto& argument) {
        using Kind = std::decay_t<decltype(argument)>;
        if constexpr (std::is_same_v<Kind, argument::Matrix>)
            if (argument.written) make_nan<T>(argument.region);
        if constexpr (std::is_same_v<Kind, argument::Reals>)
            if (argument.data)
                std::fill_n(static_cast<Real<T>*>(const_cast<void*>(argument.data)), argument.count,
                            std::numeric_limits<Real<T>>::quiet_NaN());
    };
    (look(arguments), ...);
}

/// How many row interchanges it writes.
template <class... A> Index written_pivots(const A&... arguments)
{
    Index count = 0;
    const auto look = [&](const auto& argument) {
        if constexpr (std::is_same_v<std::decay_t<decltype(argument)>, argument::Pivots>)
            if (argument.rows == 0) count = argument.count;
    };
    (look(arguments), ...);
    return count;
}
/// They leave each row where it is: who goes on with them finds no row that there is not. Of a routine's arguments the pivots
/// are the only ones of this type.
template <class... A> void exchange_nothing(Index count, A... given)
{
    const auto look = [&](auto argument) {
        if constexpr (std::is_same_v<decltype(argument), Index*>) std::iota(argument, argument + count, Index(1));
    };
    (look(given), ...);
}

/// Ends the program: the result is not what the caller believes it to be.
[[noreturn]] void give_up(const std::string& routine, const char* reason) noexcept;

/// Thrown to faces that can tell the caller that there was no memory.
struct NoMemoryForWork : std::bad_alloc {};

/// While one lives, a call of the calling thread that finds no memory throws NoMemoryForWork instead of ending the program.
class TellsOfNoMemory {
public:
    TellsOfNoMemory() { ++depth_; }
    ~TellsOfNoMemory() { --depth_; }
    TellsOfNoMemory(const TellsOfNoMemory&) = delete;
    TellsOfNoMemory& operator=(const TellsOfNoMemory&) = delete;
    static bool any() { return depth_ > 0; }

private:
    static thread_local constinit int depth_;
};

/// Is `failure` one for want of memory?
bool is_no_memory(const std::exception& failure);

/// One line on standard error when a call is over, with TRENCADIS_VERBOSE.
class Narrator {
public:
    template <class Size> Narrator(const char* routine, const Size& size) : routine_(routine)
    {
        if (settings().verbose) begin(size());
    }
    void on_tasks() { tasks_ = true; }
    ~Narrator();
    Narrator(const Narrator&) = delete;
    Narrator& operator=(const Narrator&) = delete;

private:
    void begin(const Extents& size);

    const char* routine_;
    Extents size_;
    bool tasks_ = false;
    std::chrono::steady_clock::time_point begin_;
};

/// Are the kernels our own, and nothing is said of calls or cut up against its size?
bool computes_quietly();

/// Do the chosen kernels take a size or leading dimension of `largest`? Other people's have 32-bit integers; what they refuse in
/// the middle of a routine could not be done again, so that they are asked before.
bool chosen_kernels_take(Index largest);

/// Ends the program, or tells a face that asked to be told.
[[noreturn]] void fail(const char* routine, const std::exception& failure);

/// By the session's workers and devices; by workers alone where devices have no room for it, which is found out before anything
/// is done, and is no argument's fault.
template <class Tasks> void carry_out(Session& session, Tasks&& tasks)
{
    RoutineOptions options;
    options.nb = settings().tile;
    try {
        tasks(session, options);
    } catch (const Error& refusal) {
        const bool devices = !session.options().devices.empty();
        if (!devices || refusal.code() != ErrorCode::bad_argument || refusal.argument() != 0) throw;
        Session* const cores = session_without_devices(refusal);
        if (!cores) throw;
        tasks(*cores, options);
    }
}

/// One of `direct(kernels)` and `tasks(session, options)`. `routine` is "dgemm", `size()` its extents and `flops()` its cost,
/// which is not asked for where the problem is `tiny`. A cancellation of the calling thread waits until the call is over: other
/// threads' calls go on as if it had not been.
/// Once a tiny call of a routine has been through on our own kernels, later ones have no cancellation point left in them (nothing
/// to read, to say or to wait for) and take the short way: guarding them would be a fifth of their time.
/// False: it is half done (say_half_done).
template <class Size, class Cost, class Direct, class Tasks>
[[nodiscard]] bool compute(const char* routine, bool tiny, Index largest, const Size& size, const Cost& flops, Direct&& direct,
                           Tasks&& tasks, bool has_info = true)
{
    static constinit std::atomic<bool> is_short{false}; // the kernels and the settings stay what they are
    if (tiny && is_short.load(std::memory_order_relaxed)) {
        const KeptErrno kept;
        try {
            direct(direct_kernels());
            return true;
        } catch (const std::exception& failure) {
            fail(routine, failure);
        }
    }
    const Uncancelled uncancelled;
    try {
        Narrator narrator(routine, size);
        if (!chosen_kernels_take(largest)) {
            direct(own_kernels_because(Error(ErrorCode::environment, "they have 32-bit integers, and a size is larger")));
            return true;
        }
        const bool wanted = settings().cuts_everything() || (!tiny && wants_session(flops()));
        Session* const session = wanted ? session_or_null() : nullptr;
        if (!session) {
            direct(direct_kernels());
            if (tiny && computes_quietly()) is_short.store(true, std::memory_order_relaxed);
            return true;
        }
        try {
            narrator.on_tasks();
            carry_out(*session, tasks);
        } catch (const Error& refusal) {
            const bool devices = !session->options().devices.empty();
            if (devices && is_of_devices(refusal)) return say_half_done(routine, has_info, refusal.what()), false;
            // Overlapping or null operands: what BLAS does with them is what the kernels do.
            if (refusal.code() != ErrorCode::bad_argument) throw;
            direct(direct_kernels());
        }
        return true;
    } catch (const std::exception& failure) {
        fail(routine, failure);
    }
}

} // namespace trencadis::face
