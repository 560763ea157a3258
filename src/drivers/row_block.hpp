#pragma once
#include "blas/level3/control_tree.hpp"
#include "matrix/conjugate.hpp"
#include "matrix/region.hpp"

#include <algorithm>
#include <complex>

namespace trencadis {

/// Rows [first, last) of an n x n matrix that is given whole or, Hermitian, by one triangle: a pass over the matrix goes by such
/// blocks, which have nothing to do with one another. Of a triangle some of them lie mirrored in the columns of the same numbers.
template <Scalar T> class RowBlock {
public:
    static constexpr Index largest_height = 128;
    static Index count(Index n) { return (n + largest_height - 1) / largest_height; }

    RowBlock(Region::Shape shape, Index n, const T* A, Index lda, Index number)
        : n_(n), A_(A), lda_(lda), shape_(shape), first_(number * largest_height), last_(std::min(n, first_ + largest_height))
    {
    }
    Index first() const { return first_; }
    Index height() const { return last_ - first_; }

    /// r <- r - A x, all of x and these rows of r.
    void subtract_product(const T* x, T* r) const
    {
        kernel_.subtract(height(), stored_end() - stored_begin(), at(first_, stored_begin()), lda_, x + stored_begin(),
                         r + first_);
        if (shape_ == Region::Shape::all) return;
        T sums[largest_height];
        kernel_.dots(mirrored_end() - mirrored_begin(), height(), at(mirrored_begin(), first_), lda_, x + mirrored_begin(), true,
                     sums);
        for (Index i = first_; i < last_; ++i) r[i] -= sums[i - first_];
        each_on_diagonal([&](Index i, Index j, T a) {
            r[i] -= a * x[j];
            if (i != j) r[j] -= conjugate(a) * x[i];
        });
    }

    /// sums <- those of these rows' moduli. Every stored column of the block is given to `visit(j, column, i0, i1)`: rows [i0,
    /// i1) of it.
    template <class Visit> void sum_moduli(Real<T>* sums, const Visit& visit) const
    {
        std::fill_n(sums, height(), Real<T>(0));
        for (Index j = stored_begin(); j < stored_end(); ++j) {
            kernel_.sum(height(), at(first_, j), sums);
            visit(j, first_, last_);
        }
        if (shape_ == Region::Shape::all) return;
        for (Index j = first_; j < last_; ++j) {
            sums[j - first_] += kernel_.sum(mirrored_end() - mirrored_begin(), at(mirrored_begin(), j), nullptr);
            shape_ == Region::Shape::lower ? visit(j, j, last_) : visit(j, first_, j + 1);
        }
        each_on_diagonal([&](Index i, Index j, T a) {
            sums[i - first_] += std::abs(a);
            if (i != j) sums[j - first_] += std::abs(a);
        });
    }

private:
    const T* at(Index i, Index j) const { return A_ + i + j * lda_; }
    /// Columns whose rows of this block are stored, without the diagonal block of a triangle.
    Index stored_begin() const { return shape_ == Region::Shape::upper ? last_ : 0; }
    Index stored_end() const { return shape_ == Region::Shape::lower ? first_ : n_; }
    Index mirrored_begin() const { return shape_ == Region::Shape::lower ? last_ : 0; }
    Index mirrored_end() const { return shape_ == Region::Shape::lower ? n_ : first_; }
    template <class Each> void each_on_diagonal(const Each& each) const
    {
        for (Index j = first_; j < last_; ++j) {
            const Index begin = shape_ == Region::Shape::lower ? j : first_, end = shape_ == Region::Shape::lower ? last_ : j + 1;
            for (Index i = begin; i < end; ++i) each(i, j, i == j ? T(std::real(*at(i, j))) : *at(i, j));
        }
    }

    const blas::ColumnKernel<T>& kernel_ = blas::setup<T>().kernel.columns;
    const Index n_;
    const T* const A_;
    const Index lda_;
    const Region::Shape shape_;
    const Index first_, last_;
};

} // namespace trencadis
