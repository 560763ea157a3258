#include "base/error.hpp"
#include "bind.hpp"
#include "text.hpp"

#include <exception>

namespace nb = nanobind;

namespace {

/// Our one exception as Python's: BackendError is a RuntimeError of its own, because callers may want to try another one.
void translate(const std::exception_ptr& pointer, void* backend_error)
{
    using trencadis::ErrorCode;
    try {
        std::rethrow_exception(pointer);
    } catch (const trencadis::Error& error) {
        PyObject* type = PyExc_RuntimeError;
        if (error.code() == ErrorCode::bad_argument) type = PyExc_ValueError;
        else if (error.code() == ErrorCode::out_of_memory) type = PyExc_MemoryError;
        else if (error.code() == ErrorCode::missing_backend) type = static_cast<PyObject*>(backend_error);
        PyErr_SetObject(type, trencadis::python::text_of(error.what()).ptr());
    }
}

} // namespace

NB_MODULE(_core, m)
{
    m.doc() = "The C++ library for Python: arguments in, errors out.";
    m.attr("__version__") = TRC_VERSION;
    nb::object backend_error = nb::steal(PyErr_NewExceptionWithDoc(
        "trencadis.BackendError", "A named back end is not on this machine.", PyExc_RuntimeError, nullptr));
    m.attr("BackendError") = backend_error;
    nb::register_exception_translator(translate, backend_error.release().ptr());

    trencadis::python::bind_session(m);
    trencadis::python::bind_choices(m);
    trencadis::python::bind_routines(m);
    trencadis::python::bind_lapack(m);
    trencadis::python::bind_level3(m);
    trencadis::python::bind_device_arrays(m);
    trencadis::python::bind_direct(m);
    trencadis::python::bind_distributed(m);
    trencadis::python::bind_energy(m);
    trencadis::python::bind_general(m);
    trencadis::python::bind_graph(m);
    trencadis::python::bind_incremental(m);
    trencadis::python::bind_stacks(m);
    trencadis::python::bind_products(m);
    trencadis::python::bind_registries(m);
    trencadis::python::bind_simulation(m);
    trencadis::python::bind_tile_qr(m);
    trencadis::python::bind_turns(m);
}
