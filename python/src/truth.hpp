#pragma once
#include <nanobind/nanobind.h>

namespace trencadis::python {

/// A flag as Python's `if` sees it: SciPy's callers write 1, numpy.True_ or "yes, please" as well as True.
struct Truth {
    bool value = false;
    operator bool() const { return value; }
};

} // namespace trencadis::python

namespace nanobind::detail {

template <> struct type_caster<trencadis::python::Truth> {
    NB_TYPE_CASTER(trencadis::python::Truth, const_name("bool"))
    bool from_python(handle source, uint8_t, cleanup_list*) noexcept
    {
        const int truth = PyObject_IsTrue(source.ptr());
        if (truth < 0) PyErr_Clear();
        value.value = truth == 1;
        return truth >= 0;
    }
};

} // namespace nanobind::detail
