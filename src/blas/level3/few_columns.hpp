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
    Index numbers() const { return sums() + block() + planes<T> * rows_ * staged_; } ///< that it allocates
    /// As many numbers of Buffer::left as one of n columns asks for at most, whatever its operands.
    static Index most_numbers(const Setup<T>& with, Index n);
    /// Rows of C that are worth fetching.
    static constexpr Index least_rows = 48;

private:
    static bool is_narrow(const Product<T>& x);
    /// Elements in a quarter of the first cache, of which a packed panel of B takes half.
    static Index quarter(const Setup<T>& with) { return with.tree[Loop::pc] * with.kernel.nr / 2; }
    static constexpr Index shallowest = 8; ///< what of an A by rows is transposed at a time, at least
    /// Of complex numbers the sums would have other bits.
    static bool is_flat(const Product<T>& x) { return !is_complex<T> && x.B.cs == 1 && x.B.rs != 1 && is_narrow(transposed(x)); }
    /// For the sums, and for a block of a C by rows.
    struct Room {
        Real<T>* sums;
        T *block, *stage;
    };
    Index sums() const { return x_.n * few_columns_step<T>(rows_); }
    Index block() const { return x_.rs == 1 ? 0 : few_columns_step<T>(x_.n * rows_); }
    Room room() const;
    void multiply_block(Index i, Index rows, Index p, Index depth, T* C, Index cs, const Room& room) const;

    Product<T> x_;
    const MicroKernel<T>& kernel_;
    Index rows_, staged_ = 0; ///< of a block, and how many columns of an A by rows are transposed at a time
};

} // namespace trencadis::blas
