#include "array.hpp"

#include <cstdint>
#include <cstring>

namespace trencadis::python {
namespace {

std::optional<ScalarKind> kind_of(const char* format)
{
    if (!format) return std::nullopt;
    if (!std::strcmp(format, "d")) return ScalarKind::d;
    if (!std::strcmp(format, "f")) return ScalarKind::s;
    if (!std::strcmp(format, "Zd")) return ScalarKind::z;
    if (!std::strcmp(format, "Zf")) return ScalarKind::c;
    return std::nullopt;
}

bool whole_elements(const Py_buffer& view)
{
    const std::size_t real = view.format[0] == 'Z' ? view.itemsize / 2 : view.itemsize;
    if (reinterpret_cast<std::uintptr_t>(view.buf) % real) return false;
    for (int i = 0; i < view.ndim; ++i)
        if (view.shape[i] > 1 && view.strides[i] % view.itemsize) return false;
    return true;
}

std::string shape_text(const Py_buffer& view)
{
    std::string text = "(";
    for (int i = 0; i < view.ndim; ++i) text += (i ? ", " : "") + std::to_string(view.shape[i]);
    return text + ")";
}

[[noreturn]] void bad(int argument, const char* name, const std::string& what)
{
    throw Error(ErrorCode::bad_argument, argument, std::string(name) + " " + what);
}

/// Why Buffer::open declined.
[[noreturn]] void complain(PyObject* object, Buffer::Access access, int argument, const char* name)
{
    Py_buffer view;
    if (PyObject_GetBuffer(object, &view, PyBUF_STRIDES | PyBUF_FORMAT)) {
        PyErr_Clear();
        bad(argument, name, std::string("is not an array but a ") + Py_TYPE(object)->tp_name + "; give a numpy array");
    }
    struct Release {
        Py_buffer* view;
        ~Release() { PyBuffer_Release(view); }
    } release{&view};
    if (!kind_of(view.format))
        bad(argument, name,
            std::string("has elements of format '") + (view.format ? view.format : "?") +
                "'; give native float32, float64, complex64 or complex128");
    if (view.ndim < 1 || view.ndim > 2) bad(argument, name, "has shape " + shape_text(view) + "; give one or two dimensions");
    if (access == Buffer::Access::write && view.readonly) bad(argument, name, "is read-only; it is overwritten, so give a copy");
    bad(argument, name, "has elements that are not aligned; give a copy");
}

} // namespace

std::optional<Buffer> Buffer::open(PyObject* object, Access access, int most)
{
    Py_buffer view;
    if (PyObject_GetBuffer(object, &view, PyBUF_STRIDES | PyBUF_FORMAT | (access == Access::write ? PyBUF_WRITABLE : 0))) {
        PyErr_Clear();
        return std::nullopt;
    }
    const auto kind = kind_of(view.format);
    if (!kind || view.ndim < 1 || view.ndim > most || !whole_elements(view)) {
        PyBuffer_Release(&view);
        return std::nullopt;
    }
    return Buffer(view, *kind);
}

Buffer Buffer::require(PyObject* object, Access access, int argument, const char* name)
{
    auto buffer = open(object, access);
    if (!buffer) complain(object, access, argument, name);
    return std::move(*buffer);
}

Strided Buffer::matrix(Index i) const
{
    const Index item = view_.itemsize;
    if (view_.ndim == 3) {
        void* data = static_cast<char*>(view_.buf) + i * view_.strides[0];
        return {data, view_.shape[1], view_.shape[2], view_.strides[1] / item, view_.strides[2] / item};
    }
    if (view_.ndim == 1) return {view_.buf, view_.shape[0], 1, view_.strides[0] / item, view_.shape[0]};
    return {view_.buf, view_.shape[0], view_.shape[1], view_.strides[0] / item, view_.strides[1] / item};
}

void Buffer::require_column_major(const Strided& m, int argument, const char* name) const
{
    if (m.column_major()) return;
    bad(argument, name,
        "of shape " + shape_text(view_) + " has strides of " + std::to_string(m.row_stride) + " and " +
            std::to_string(m.col_stride) + " elements; give a column-major array (numpy.asfortranarray)");
}

void require_same_kind(const Buffer& first, const char* first_name, const Buffer& other, int argument, const char* name)
{
    if (first.kind() == other.kind()) return;
    bad(argument, name,
        std::string("is ") + dtype_name(other.kind()) + " but " + first_name + " is " + dtype_name(first.kind()) +
            "; give one dtype");
}

const char* dtype_name(ScalarKind kind)
{
    switch (kind) {
    case ScalarKind::s: return "float32";
    case ScalarKind::d: return "float64";
    case ScalarKind::c: return "complex64";
    case ScalarKind::z: break;
    }
    return "complex128";
}

} // namespace trencadis::python
