#pragma once
#include "blas/level3/product.hpp"

namespace trencadis::blas {

/// C <- alpha A B + beta C for few columns of C and an A by columns: sums of a block of rows stay in the first cache while A's
/// columns go past them (MicroKernel::multiply_few_columns). General operands, all of C; the bits of any other way.
template <Scalar T> class FewColumns {
public:
    /// Is C so narrow, and A so large, that this is the fastest way, or that it depends on where the operands lie? By the shape
    /// alone. x normalised.
    static bool suits(const Product<T>& x);
    /// Is it where micro-tiles could read A where it lies?
    static bool beats_tiles(const Product<T>& x);
    FewColumns(const Product<T>& x, const Setup<T>& with);

    /// Rows [begin, end), the depth in pieces of `depth`. Allocates scratch memory of the thread once, before C is touched.
    void multiply(Index begin, Index end, Index depth) const;
    void reserve() const { sums(); }
    /// Rows of C that are worth fetching.
    static constexpr Index least_rows = 48;

private:
    Real<T>* sums() const;

    Product<T> x_;
    const MicroKernel<T>& kernel_;
    Index rows_; ///< of a block
};

} // namespace trencadis::blas
