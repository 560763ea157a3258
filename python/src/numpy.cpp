#include "numpy.hpp"

#include "memory.hpp"

namespace trencadis::python {
namespace nb = nanobind;
namespace {

std::size_t bytes_of(ScalarKind kind)
{
    return with_scalar(kind, [](auto zero) { return sizeof zero; });
}

/// Looked up once; never given back, because the interpreter may be gone when statics are destroyed.
struct Numpy {
    PyObject* array_type;
    PyObject* empty;
    PyObject* dtypes[4];
    PyObject* orders[2];

    Numpy()
    {
        const nb::module_ numpy = nb::module_::import_("numpy");
        array_type = nb::object(numpy.attr("ndarray")).release().ptr();
        empty = nb::object(numpy.attr("empty")).release().ptr();
        int i = 0;
        for (const auto kind : {ScalarKind::s, ScalarKind::d, ScalarKind::c, ScalarKind::z})
            dtypes[i++] = nb::object(numpy.attr("dtype")(dtype_name(kind))).release().ptr();
        orders[0] = nb::str("C").release().ptr();
        orders[1] = nb::str("F").release().ptr();
    }
    PyObject* dtype(ScalarKind kind) const
    {
        switch (kind) {
        case ScalarKind::s: return dtypes[0];
        case ScalarKind::d: return dtypes[1];
        case ScalarKind::c: return dtypes[2];
        case ScalarKind::z: break;
        }
        return dtypes[3];
    }
};

const Numpy& numpy()
{
    static const Numpy* const found = new Numpy;
    return *found;
}

} // namespace

bool is_plain_array(nb::handle object) { return reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())) == numpy().array_type; }

nb::object empty(ScalarKind kind, Index rows, Index cols, int dimensions, char order)
{
    require_memory(static_cast<Bytes>(rows) * static_cast<Bytes>(cols) * static_cast<Bytes>(bytes_of(kind)), "the result");
    const nb::object shape = dimensions == 1 ? nb::object(nb::int_(rows)) : nb::object(nb::make_tuple(rows, cols));
    PyObject* arguments[] = {shape.ptr(), numpy().dtype(kind), numpy().orders[order == 'F']};
    nb::object array = nb::steal(PyObject_Vectorcall(numpy().empty, arguments, 3, nullptr));
    if (!array.is_valid()) throw nb::python_error();
    return array;
}

} // namespace trencadis::python
