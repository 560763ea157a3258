#pragma once
#include "base/types.hpp"
#include "matrix/region.hpp"

#include <algorithm>
#include <new>
#include <type_traits>
#include <vector>

namespace trencadis::face {

/// A rows x cols matrix, or the triangle of it that its shape says.
struct Part {
    Index rows, cols;
    Region::Shape shape;
};
/// columns <- the matrix that is stored by rows, `ld` apart, column after column without a gap; and back.
template <class T> void lay_by_columns(const Part& part, const T* by_rows, Index ld, T* columns);
template <class T> void lay_by_rows(const Part& part, const T* columns, T* by_rows, Index ld);
/// Is an element no number? A unit diagonal is not looked at.
template <class T> bool has_nan(const Part& part, bool unit, const T* columns, Index ld);

/// A matrix as LAPACKE's callers lay it out, by rows or by columns, as a column-major one: itself, or a copy that is written back
/// at the end. Only the triangle of a triangular matrix is copied. T is const where it is only read.
template <class T> class Laid {
    using Scalar = std::remove_const_t<T>;

public:
    Laid(T* given, Index ld, Index rows, Index cols, bool by_rows, Region::Shape shape = Region::Shape::all)
        : given_(given), given_ld_(ld), rows_(rows), cols_(cols), shape_(shape), copied_(by_rows)
    {
        if (!by_rows || rows <= 0 || cols <= 0 || !fits()) return;
        Index elements = 0;
        if (__builtin_mul_overflow(rows, cols, &elements) || std::size_t(elements) > copy_.max_size()) throw std::bad_alloc();
        copy_.resize(std::size_t(elements));
        lay_by_columns<Scalar>(part(), given_, given_ld_, copy_.data());
    }
    ~Laid()
    {
        if constexpr (!std::is_const_v<T>)
            if (!copy_.empty()) lay_by_rows(part(), copy_.data(), given_, given_ld_);
    }
    Laid(const Laid&) = delete;
    Laid& operator=(const Laid&) = delete;

    /// Is a row long enough? LAPACK itself looks at the length of columns.
    bool fits() const { return !copied_ || given_ld_ >= cols_; }
    Index rows() const { return rows_; }
    T* data() const { return copied_ ? const_cast<Scalar*>(copy_.data()) : given_; }
    Index leading() const { return copied_ ? std::max<Index>(1, rows_) : given_ld_; }
    /// Is an element no number? The unit diagonal of a triangle is not looked at.
    bool has_nan(bool unit) const { return leading() >= rows_ && face::has_nan<Scalar>(part(), unit, data(), leading()); }

private:
    Part part() const { return {rows_, cols_, shape_}; }

    T* given_;
    Index given_ld_, rows_, cols_;
    Region::Shape shape_;
    bool copied_;
    std::vector<Scalar> copy_;
};

} // namespace trencadis::face
