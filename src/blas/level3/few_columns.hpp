#pragma once
#include "blas/level3/product.hpp"

namespace trencadis::blas {

/// C <- alpha A B + beta C for few columns of C: sums of a block of rows stay in the first cache while A's columns go past them
/// (MicroKernel::multiply_few_columns). An A by rows is transposed some columns at a time, which stay there too.
/// Few rows of real numbers and a B by rows are the same of C^T <- alpha B^T A^T + beta C^T.
/// General operands, all of C; the bits of any other way.
template <Scalar T> class FewColumns {
public:
    /// Is C so narrow, and A so large, that this is the fastest way, or that it depends on where the operands lie? By the shape
    /// alone. x normalised.
    static bool suits(const Product<T>& x) { return is_narrow(x) || is_flat(x); }
    /// The product as it is made: transposed where C has few rows. Of any other x itself.
    static Product<T> upright(const Product<T>& x) { return !is_narrow(x) && is_flat(x) ? transposed(x) : x; }
    /// Is it where micro-tiles could read A where it lies?
    static bool beats_tiles(const Product<T>& x);
    /// x upright.
    FewColumns(const Product<T>& x, const Setup<T>& with);

    /// Rows [begin, end), the depth in pieces of `depth`. Allocates scratch memory of the thread once, before C is touched.
    void multiply(Index begin, Index end, Index depth) const;
    void reserve() const { room(); }
    /// Rows of C that are worth fetching.
    static constexpr Index least_rows = 48;

private:
    static bool is_narrow(const Product<T>& x);
    /// Of complex numbers the sums would have other bits.
    static bool is_flat(const Product<T>& x) { return !is_complex<T> && x.B.cs == 1 && x.B.rs != 1 && is_narrow(transposed(x)); }
    /// For the sums, and for a block of a C by rows.
    struct Room {
        Real<T>* sums;
        T *block, *stage;
    };
    Room room() const;
    void multiply_block(Index i, Index rows, Index p, Index depth, T* C, Index cs, const Room& room) const;

    Product<T> x_;
    const MicroKernel<T>& kernel_;
    Index rows_, staged_ = 0; ///< of a block, and how many columns of an A by rows are transposed at a time
};

} // namespace trencadis::blas
