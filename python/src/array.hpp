#pragma once
#include "base/error.hpp"
#include "base/scalar.hpp"
#include "base/types.hpp"

#include <Python.h>
#include <complex>
#include <cstddef>
#include <optional>
#include <string>

namespace trencadis::python {

/// LAPACK's letters for the scalar of an array.
enum class ScalarKind : char { s = 's', d = 'd', c = 'c', z = 'z' };

/// Calls f with a value of the scalar type that `kind` stands for.
template <class F> decltype(auto) with_scalar(ScalarKind kind, F&& f)
{
    switch (kind) {
    case ScalarKind::s: return f(float{});
    case ScalarKind::d: return f(double{});
    case ScalarKind::c: return f(std::complex<float>{});
    case ScalarKind::z: break;
    }
    return f(std::complex<double>{});
}

/// A matrix where the caller's array has it. Strides are in elements and may be anything; a vector is one column.
struct Strided {
    void* data;
    Index rows, cols;
    Index row_stride, col_stride;

    bool empty() const { return rows == 0 || cols == 0; } // any strides: nobody follows them
    bool column_major() const { return empty() || ((row_stride == 1 || rows <= 1) && (col_stride >= rows || cols <= 1)); }
    bool row_major() const { return transposed().column_major(); }
    Strided transposed() const { return {data, cols, rows, col_stride, row_stride}; }
    /// LAPACK's leading dimension of a column-major matrix.
    Index leading() const { return cols <= 1 || empty() ? (rows > 1 ? rows : 1) : col_stride; }
};

/// An exported buffer, released at the end of its life (the interpreter lock is held then).
class Buffer {
public:
    enum class Access { read, write };
    /// Nothing when the object exports no strided buffer of one or two dimensions (or up to `most` dimensions) with native,
    /// aligned elements of a LAPACK scalar, or is read-only and must be written. No Python error remains set.
    static std::optional<Buffer> open(PyObject* object, Access access, int most = 2);
    /// The same for argument number `argument`, called `name`; throws Error{bad_argument} that says what is wrong.
    static Buffer require(PyObject* object, Access access, int argument, const char* name);

    Buffer(Buffer&& other) noexcept : view_(other.view_), kind_(other.kind_) { other.view_.obj = nullptr; }
    Buffer& operator=(Buffer&&) = delete;
    ~Buffer()
    {
        if (view_.obj) PyBuffer_Release(&view_);
    }

    ScalarKind kind() const { return kind_; }
    int dimensions() const { return view_.ndim; }
    Index stack() const { return view_.ndim == 3 ? view_.shape[0] : 1; } ///< matrices in a three-dimensional array
    Strided matrix(Index i = 0) const;                                   ///< the one matrix, or number i of the stack
    /// The column-major matrix of scalars T; throws Error{bad_argument} when it is something else.
    template <Scalar T> struct ColumnMajor {
        T* data;
        Index rows, cols, ld;
    };
    template <Scalar T> ColumnMajor<T> column_major(int argument, const char* name) const
    {
        const Strided m = matrix();
        require_column_major(m, argument, name);
        return {static_cast<T*>(m.data), m.rows, m.cols, m.leading()};
    }

private:
    Buffer(const Py_buffer& view, ScalarKind kind) : view_(view), kind_(kind) {}
    void require_column_major(const Strided& m, int argument, const char* name) const;

    Py_buffer view_;
    ScalarKind kind_;
};

/// Throws Error{bad_argument} unless both arrays hold the same scalar.
void require_same_kind(const Buffer& first, const char* first_name, const Buffer& other, int argument, const char* name);

/// How numpy calls the scalar: "float32", ...
const char* dtype_name(ScalarKind kind);

} // namespace trencadis::python
