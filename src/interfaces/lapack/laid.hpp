#pragma once
#include "base/types.hpp"
#include "matrix/region.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <new>
#include <type_traits>
#include <vector>

namespace trencadis::face {

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
        for_each([&](Index i, Index j) { copy_[std::size_t(i + j * rows_)] = given_[i * given_ld_ + j]; });
    }
    ~Laid()
    {
        if constexpr (!std::is_const_v<T>)
            if (!copy_.empty())
                for_each([&](Index i, Index j) { given_[i * given_ld_ + j] = copy_[std::size_t(i + j * rows_)]; });
    }
    Laid(const Laid&) = delete;
    Laid& operator=(const Laid&) = delete;

    /// Is a row long enough? LAPACK itself looks at the length of columns.
    bool fits() const { return !copied_ || given_ld_ >= cols_; }
    Index rows() const { return rows_; }
    T* data() const { return copied_ ? const_cast<Scalar*>(copy_.data()) : given_; }
    Index leading() const { return copied_ ? std::max<Index>(1, rows_) : given_ld_; }
    /// Is an element no number? The unit diagonal of a triangle is not looked at.
    bool has_nan(bool unit) const
    {
        bool found = false;
        const auto look = [&](const auto& x) { found = found || x != x; };
        if (leading() >= rows_)
            for_each([&](Index i, Index j) {
                if (!(unit && shape_ != Region::Shape::all && i == j)) look(data()[i + j * leading()]);
            });
        return found;
    }

private:
    /// Column by column; the caller's rows are read with a stride, as many at a time as fit the nearest cache.
    template <class Visit> void for_each(const Visit& visit) const
    {
        constexpr Index block = 32;
        for (Index j0 = 0; j0 < cols_; j0 += block)
            for (Index i0 = 0; i0 < rows_; i0 += block)
                for (Index j = j0; j < std::min(j0 + block, cols_); ++j)
                    for (Index i = i0; i < std::min(i0 + block, rows_); ++i)
                        if (shape_ == Region::Shape::all || (shape_ == Region::Shape::lower ? i >= j : i <= j)) visit(i, j);
    }

    T* given_;
    Index given_ld_, rows_, cols_;
    Region::Shape shape_;
    bool copied_;
    std::vector<Scalar> copy_;
};

} // namespace trencadis::face
