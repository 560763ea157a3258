#pragma once
#include "algorithms/routines.hpp"
#include "base/error.hpp"
#include "base/scalar.hpp"
#include "session/session.hpp"

#include <nanobind/nanobind.h>
#include <unistd.h>
#include <utility>

namespace trencadis::python {

namespace nb = nanobind;

/// Takes the interpreter lock by `take`. When the interpreter has ended meanwhile, Python up to 3.13 leaves by pthread_exit,
/// which unwinds the thread's frames; nanobind's are noexcept, and the process would be aborted. The thread stops here instead,
/// as later versions stop it themselves: nobody waits for it, for it was a daemon, and its operands stay alive with its frames
/// until the process is gone.
template <class Take> auto take_lock(const Take& take)
{
    struct StopsWhenUnwound {
        bool taken = false;
        ~StopsWhenUnwound()
        {
            while (!taken) pause();
        }
    } guard;
    const auto state = take();
    guard.taken = true;
    return state;
}

/// The calling thread is without the interpreter lock in its scope, also where that is left by an exception.
class Unlocked {
public:
    Unlocked() : state_(PyEval_SaveThread()), outer_(std::exchange(innermost_, this)) {}
    Unlocked(const Unlocked&) = delete;
    Unlocked& operator=(const Unlocked&) = delete;
    ~Unlocked()
    {
        innermost_ = outer_;
        relock();
    }
    /// The one in whose scope this thread is.
    static const Unlocked* innermost() { return innermost_; }
    /// By the state that was saved: PyGILState_Ensure makes another one for a thread whose own is gone, in an interpreter that is
    /// gone as well. This one is not looked at where the interpreter has ended.
    void relock() const
    {
        take_lock([this] { return PyEval_RestoreThread(state_), state_; });
    }

private:
    PyThreadState* const state_;
    const Unlocked* const outer_;
    static inline thread_local const Unlocked* innermost_ = nullptr;
};

/// And has it in the scope of this one.
class Locked {
public:
    explicit Locked(const Unlocked& scope) { scope.relock(); }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;
    ~Locked() { PyEval_SaveThread(); }
};

/// The same for a thread of anybody's, which may not be Python's, while the interpreter lives.
class LockedAnywhere {
public:
    LockedAnywhere() = default;
    LockedAnywhere(const LockedAnywhere&) = delete;
    LockedAnywhere& operator=(const LockedAnywhere&) = delete;
    ~LockedAnywhere() { PyGILState_Release(state_); }

private:
    const PyGILState_STATE state_ = take_lock(PyGILState_Ensure);
};

/// Answers whether the user pressed Ctrl-C (or another signal handler of Python's raised), asked on the calling thread
/// while it waits without the interpreter lock. The exception stays set for `compute` to throw.
inline bool signalled()
{
    const Unlocked* const scope = Unlocked::innermost();
    if (!scope) return PyErr_CheckSignals() != 0; // it has the lock
    const Locked lock(*scope);
    return PyErr_CheckSignals() != 0;
}

/// Runs f without the interpreter lock. A cancelled run ends with what the signal handler raised.
template <class F> auto compute(F&& f)
{
    try {
        const Unlocked unlocked;
        return f();
    } catch (const Error&) {
        if (PyErr_Occurred()) throw nb::python_error();
        throw;
    }
}

/// The session that an argument stands for; nullptr is the standard one.
inline Session& session_or_standard(Session* session) { return session ? *session : Session::standard(); }
/// The same for a call of so many operations: small ones start no thread.
inline Session& session_for(Session* session, Flops flops) { return session ? *session : Session::standard(flops); }

/// Operations of a system of order n with nrhs right sides, or of what takes as many, and of a product; about.
template <Scalar T> Flops system_flops(Index n, Index nrhs = 0)
{
    return (is_complex<T> ? 4 : 1) * double(n) * double(n) * (double(n) + 2 * double(nrhs));
}
template <Scalar T> Flops product_flops(Index m, Index n, Index k)
{
    return (is_complex<T> ? 8 : 2) * double(m) * double(n) * double(k);
}
/// Of solves with a matrix of that order: one or two vectors wait for memory.
template <Scalar T> Flops solve_flops(Index order, Index vectors)
{
    static const RoutineEntry& potrs = find_routine("potrs");
    return potrs.weight({.n = double(order), .nrhs = double(vectors)}, is_complex<T>);
}

} // namespace trencadis::python
