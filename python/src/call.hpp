#pragma once
#include "base/error.hpp"
#include "session/session.hpp"

#include <nanobind/nanobind.h>
#include <utility>

namespace trencadis::python {

namespace nb = nanobind;

/// Answers whether the user pressed Ctrl-C (or another signal handler of Python's raised), asked on the calling thread
/// while it waits without the interpreter lock. The exception stays set for `compute` to throw.
inline bool signalled()
{
    nb::gil_scoped_acquire lock;
    return PyErr_CheckSignals() != 0;
}

/// Runs f without the interpreter lock. A cancelled run ends with what the signal handler raised.
template <class F> auto compute(F&& f)
{
    try {
        nb::gil_scoped_release unlocked;
        return f();
    } catch (const Error&) {
        if (PyErr_Occurred()) throw nb::python_error();
        throw;
    }
}

/// The session that an argument stands for; nullptr is the standard one.
inline Session& session_or_standard(Session* session) { return session ? *session : Session::standard(); }

} // namespace trencadis::python
