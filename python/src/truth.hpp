#pragma once
#include <nanobind/nanobind.h>

namespace trencadis::python {

/// A flag as Python's `if` sees it: SciPy's callers write 1, numpy.True_ or "yes, please" as well as True. To be read while the
/// interpreter lock is held: an object that has no truth, such as an array of two, raises its own exception then, as `if` does.
struct Truth {
    bool value = false;
    nanobind::handle undecided = {};
    operator bool() const
    {
        if (!undecided.is_valid()) return value;
        const int truth = PyObject_IsTrue(undecided.ptr());
        if (truth < 0) throw nanobind::python_error();
        return truth == 1;
    }
};

} // namespace trencadis::python

namespace nanobind::detail {

template <> struct type_caster<trencadis::python::Truth> {
    NB_TYPE_CASTER(trencadis::python::Truth, const_name("bool"))
    bool from_python(handle source, uint8_t, cleanup_list*) noexcept
    {
        const int truth = PyObject_IsTrue(source.ptr());
        if (truth < 0) {
            PyErr_Clear(); // nanobind would tell of signatures instead
            value.undecided = source;
        }
        value.value = truth == 1;
        return true;
    }
};

} // namespace nanobind::detail
