#pragma once
#include "base/registry.hpp"
#include "base/scalar.hpp"
#include "base/types.hpp"
#include "blas/micro/column_kernel.hpp"
#include "blas/micro/lane_kernels.hpp"

#include <span>
#include <string_view>

namespace trencadis::blas {

/// Real numbers that make up one scalar.
template <Scalar T> inline constexpr Index planes = is_complex<T> ? 2 : 1;

/// Bounds for what is kept of one micro-tile on the stack: a program's threads may have stacks of 16 KiB.
inline constexpr Index largest_tile_bytes = 2048, largest_nr = 8;

/// Room for a micro-tile, contents undefined.
template <Scalar T> struct TileRoom {
    alignas(64) unsigned char bytes[largest_tile_bytes];
    T* data() { return reinterpret_cast<T*>(bytes); }
};

/// A few columns to be factored: what MicroKernel::factor_columns works on.
template <Scalar T> struct LuColumns {
    Index m, n; ///< m >= n
    T* A;
    Index lda;
    Index* pivots;
    Real<T>* work; ///< aligned to 64 bytes: n columns of ldw elements, n + 1 of n rounded up to whole vectors
    Index ldw;     ///< at least m, whole vectors of 64 bytes
    /// The inverse of a pivot that is not zero; false where it is to be divided by.
    bool (*invert)(const T* pivot, T* inverse);
    /// n elements of x by the pivot.
    void (*divide)(Index n, T* x, const T* pivot);
};

/// The largest order that MicroKernel::factor_triangle takes.
inline constexpr Index most_in_triangle = 64;

/// A small Hermitian matrix, of which one triangle is read and written: what MicroKernel::factor_triangle works on.
template <Scalar T> struct SmallTriangle {
    Index n; ///< 1 to most_in_triangle
    T* A;
    Index lda;
    bool lower;
    Real<T>* work; ///< aligned to 64 bytes: n columns of whole vectors of 64 bytes, and one more such vector
};

/// The most columns that MicroKernel::reflect_columns takes at a time.
inline constexpr Index most_reflected = 8;

/// Rows up to which MicroKernel::reflect_all is faster than products with T: the matrix is in the first cache, or nearly so.
template <Scalar T> inline constexpr Index small_qr = is_complex<T> ? 80 : 64;

/// Columns to be factored as QR: what MicroKernel::reflect_columns and reflect_all work on.
template <Scalar T> struct QrColumns {
    Index m, n; ///< m >= n, n at most MicroKernel::reflected, or any for reflect_all
    /// most_reflected columns of at least m + 64 / sizeof(T) rows; what is outside of m x n is zero. The reflectors take their
    /// place, with ones and zeros.
    T* V;
    Index ldv;
    T* R; ///< its upper triangle
    Index ldr;
    T* tau;
    T* factor; ///< T, with zeros below the diagonal
    Index ldt;
};

/// What of an A from beyond the second cache is fetched while a panel of it is multiplied where it lies, unless the kernel
/// fetches columns anyway.
enum class Fetching {
    nothing,
    rows,       ///< those below these, into the second cache
    everything, ///< columns a few further on, too, into the first one, where it does not keep the panel
};

/// C <- alpha A B + beta C where the operands lie: what MicroKernel::multiply_in_place works on. beta = 0 overwrites C without
/// reading it. Element (i, p) of A is A[i + p * a_step], (p, j) of B is B[p * b_rs + j * b_cs], (i, j) of C is C[i + j * cs].
template <Scalar T> struct ProductInPlace {
    Index rows = 0, cols = 0, k = 0; ///< rows at most mr
    const T* A = nullptr;
    Index a_step = 0;
    const T* B = nullptr;
    Index b_rs = 0, b_cs = 0;
    T alpha{}, beta{};
    T* C = nullptr;
    Index cs = 0;
    bool conjugate_a = false, conjugate_b = false;
    Index panels = 1;                ///< real: of so many rows each, below one another
    Fetching fetching = {};          ///< real
    const Real<T>* planes = nullptr; ///< A complex, as a packed left panel that is as high as the rows need; A is not read then
};

/// Real numbers from column to column of the sums of MicroKernel::multiply_few_columns: whole vectors, and a line more, since
/// columns a power of two apart would share few sets of a cache.
template <Scalar T> constexpr Index few_columns_step(Index rows)
{
    constexpr Index line = 64 / sizeof(Real<T>);
    return (planes<T> * rows + line - 1) / line * line + line;
}

/// C <- alpha A B + beta C for panels of A below one another: what MicroKernel::multiply_stack works on.
template <Scalar T> struct StackProduct {
    Index k, panels; ///< each of mr rows
    const Real<T>* A;
    Index step; ///< numbers from one panel of A to the next
    const Real<T>* B;
    T alpha, beta;
    T* C;
    Index cs, cols;                ///< element (i, j) of C is C[i + j * cs]
    const Real<T>* next = nullptr; ///< B's next panel, as deep, which comes into the second cache meanwhile; null: none
    const Real<T>* later =
        nullptr; ///< what is needed later, as many numbers as MicroKernel::fetched for each panel; needs `next`
};

/// The same for real numbers where B is nr rows of a left panel, transposed: row p of B begins at B[p * b_step].
template <Scalar T> struct StripeProduct {
    StackProduct<T> stack; ///< its `next` is such a stripe too
    Index b_step;
    Index height; ///< of A's panels
    Index rows;   ///< of the last panel
};

/// The same where B is columns where they lie: number p of column j is B[p + planes<T> * j * b_cs]. `cols` of them are read.
template <Scalar T> struct ColumnsProduct {
    StackProduct<T> stack; ///< its `next` is such columns too, of which each panel fetches one; without `later`
    Index b_cs;
    Index height; ///< of A's panels
    Index rows;   ///< of the last panel
};

/// C <- alpha A B + beta C for a left panel A, which the diagonal of a triangle may cross, and panels of B beside one another:
/// what MicroKernel::multiply_stairs works on.
template <Scalar T> struct StairProduct {
    bool lower = true; ///< A's last columns, which the diagonal crosses, are zero above it; upper: its first ones below it
    Index stairs = 0;  ///< so many columns, one for each row; 0: no diagonal
    Index k;           ///< columns of A, these among them
    const Real<T>* A;
    Index height;
    const Real<T>* B;
    Index b_step; ///< numbers from one panel of B to the next
    T alpha, beta;
    T* C;
    Index cs, rows, cols; ///< element (i, j) of C is C[i + j * cs]; any number of columns, nr for each panel of B
};

/// One step of X U = B for a panel of rows of B where they lie: what MicroKernel::solve_in_place works on.
template <Scalar T> struct SolveInPlace {
    Index k; ///< columns of X before
    Real<T>* X;
    Index height;
    const Real<T>* U;
    T* B; ///< element (i, j) of the step's columns is B[i * rs + j * cs]
    Index rs, cs;
    Index rows, cols;
    const T* next;   ///< which of its columns will be solved after these: a hint, may be null and need not be readable
    Index apart = 0; ///< X is read where it lies, in B, whose columns are so far apart, and not written elsewhere; 0: packed
};

/// One step of B = alpha X U for a panel of rows: what MicroKernel::multiply_triangle works on.
template <Scalar T> struct TriangleStep {
    Index k; ///< columns of X before
    const Real<T>* X;
    Index height;
    const Real<T>* U;
    T alpha;
    T* B; ///< element (i, j) of the step's columns is B[i * rs + j * cs]
    Index rs, cs;
    Index rows, cols;
    Index apart = 0; ///< X is read where it lies, in B, as above
};

/// The innermost two loops of every level 3 operation, for one instruction set and one scalar.
///
/// Packed operands are arrays of Real<T>, cut into panels that lie one after the other:
///  - *left* (op(A), rows x k): panels of `mr` rows, the last one of height(rows left) <= mr. Column p of a panel of height h
///    is h numbers; complex: h real parts, then h imaginary parts. Rows beyond the matrix are zero.
///  - *right* (op(B), k x cols): panels of `nr` columns. Row p of a panel is nr numbers; complex: nr pairs (real, imaginary).
///    Columns beyond the matrix are zero.
/// Reentrant; nothing is allocated.
template <Scalar T> struct MicroKernel {
    using R = Real<T>;

    Index mr, nr;
    Index step; ///< heights of panels are multiples of it, and `mr` is one

    /// C <- alpha A B + beta C for one panel A of height `height` and one panel B, both k deep. C is rows x cols with
    /// rows <= height and cols <= nr; element (i, j) is at C[i * rs + j * cs]. beta = 0 overwrites C without reading it.
    /// `next` is the panel of B that will be used after this one: k rows of it are fetched into the first cache meanwhile. It is
    /// only a hint, may be null and need not be readable.
    /// 2 k rows cols flops (8 complex).
    void multiply(Index k, const R* A, Index height, const R* B, T alpha, T beta, T* C, Index rs, Index cs, Index rows,
                  Index cols, const R* next = nullptr) const
    {
        multiply_panels(k, A, height, B, alpha, beta, C, rs, cs, rows, cols, next ? next : B);
    }
    void (*multiply_panels)(Index k, const R* A, Index height, const R* B, T alpha, T beta, T* C, Index rs, Index cs, Index rows,
                            Index cols, const R* next);

    /// The same for several panels A, with fewer instructions around each.
    void (*multiply_stack)(const StackProduct<T>& product);
    Index columns_per_line; ///< of A that it multiplies while it fetches 64 bytes of what it is to
    /// Numbers that it fetches so while a panel k deep is multiplied.
    Index fetched(Index k) const { return k / columns_per_line * Index(64 / sizeof(R)); }

    /// The same with a stripe of a left panel, with the sums that `multiply` has. Null where stripes are no whole vectors, and of
    /// complex numbers.
    void (*multiply_stripe)(const StripeProduct<T>& product);

    /// The same with columns of B where they lie, with the sums that `multiply` has: what packing them takes is saved. Where that
    /// pays: stays_in_place (macro_kernel.hpp).
    void (*multiply_columns)(const ColumnsProduct<T>& product);

    /// The same as `multiply` without most of the products with A's zeros: those of whole vectors of zeros, which are not read.
    void (*multiply_stairs)(const StairProduct<T>& product);

    /// A product whose operands are read where they lie.
    void (*multiply_in_place)(const ProductInPlace<T>& product);
    Index narrowest;        ///< columns of the tiles that multiply_in_place makes for what is left of nr ones
    bool reads_any_rows;    ///< by multiply_in_place: otherwise A can be read as far as height(rows)
    bool fetches_columns;   ///< by itself, of an A and a B by rows in the second cache too: they are then as near as in the first
    Index widest_in_place;  ///< columns of a complex product, a quarter of its depth: to pack what is larger pays
    Index widest_by_planes; ///< columns, and depth, of one with A by planes, likewise
    /// As multiply_in_place, for few columns and any number of rows, which A is read along. `sums`: room for as many columns of
    /// few_columns_step(rows) numbers, aligned to 64 bytes, which should stay in the first cache. Where the depth comes in
    /// several calls, sums are zeroed by the one that `begins` and go into C by the one that `ends`.
    void (*multiply_few_columns)(const ProductInPlace<T>& product, R* sums, bool begins, bool ends);
    /// image(i, p) <- A(p, i), column p of the image at image + p * step, zeros from `rows` up to whole vectors: how a transposed
    /// panel of complex numbers comes to lie as multiply_in_place reads it. Null for real ones.
    void (*transpose_pairs)(Index rows, Index k, const T* A, Index lda, T* image, Index step);

    /// One step of X U = B with U upper triangular, in place in the packed left panel X: columns k .. k + cols of X
    ///     X_k <- (X_k - X_0 U_0k) U_kk^-1,     X_0 the k columns before, solved already.
    /// U is the right panel of these columns, k + cols rows deep, with the *inverses* of the diagonal on its diagonal. One row
    /// more holds, for each column (nr real numbers), the power of two that its inverse is still to be multiplied by: 1, but
    /// where the inverse is no normal number (reciprocal.hpp).
    void (*solve)(Index k, R* X, Index height, const R* U, Index cols);
    /// The same with B_k, of which X_k takes the place, where it lies; X_k is written to the packed panel too. Columns of B are
    /// contiguous (rs = 1); or, where `moves_rows`, nr columns and rows that are, forwards or backwards (cs = 1 or -1). Null for
    /// complex numbers.
    void (*solve_in_place)(const SolveInPlace<T>& step);
    bool moves_rows;
    /// The product: B_k <- alpha (X_0 U_0k + X_k U_kk), U_kk without inverses and nothing else of it read than its triangle. B as
    /// above. Null for complex numbers.
    void (*multiply_triangle)(const TriangleStep<T>& step);
    /// A lower triangle of nr columns of a right panel: row p of the image begins with the elements A[i * across + p * along] of
    /// i >= p, of which no other is read; zeros are before. One of the strides is 1 or -1. Null where vectors do not suit.
    void (*pack_triangle_block)(const T* A, Index across, Index along, R* image);

    /// A = L L^H (upper: U^H U) in place, as potrf (level3.hpp), with its result.
    Index (*factor_triangle)(const SmallTriangle<T>& triangle);

    /// A = P L U in place, as getrf (lu.hpp), for few columns: with the pivots' rows from 1 and its result.
    Index (*factor_columns)(const LuColumns<T>& columns);

    /// A = Q R for few columns, whose squares are numbers that have lost no digits; false where a column's turn out to have, and
    /// then V and R are undefined.
    bool (*reflect_columns)(const QrColumns<T>& columns);
    Index reflected; ///< columns that it takes at most
    /// The same for all columns of a small matrix, n <= m, without T.
    bool (*reflect_all)(const QrColumns<T>& columns);
    /// W <- V^H C, V m x k and C m x n, as sums along the columns where they lie: for few columns.
    void (*multiply_adjoint)(Index m, Index k, Index n, const T* V, Index ldv, const T* C, Index ldc, T* W, Index ldw);

    /// Many small matrices at a time.
    LaneKernels<T> side_by_side;

    /// One panel, `depth` long, of a packed operand: its column (right: row) p begins with the elements A[i * across + p * along]
    /// of i < rows, conjugated or not, and ends with zeros up to `width`, the panel's height (right: nr). By vectors if a stride
    /// is 1.
    using PackPanel = void (*)(const T* A, Index across, Index along, bool conjugated, Index rows, Index width, Index depth,
                               R* image);
    PackPanel pack_left_panel, pack_right_panel;
    /// The way back from a left panel.
    void (*unpack_left_panel)(const R* image, Index width, Index rows, Index depth, T* A, Index across, Index along);
    bool (*all_finite)(const R* image, Index count); ///< has none of so many packed numbers an infinity or a NaN?

    ColumnKernel<T> columns; ///< for one vector at a time

    /// Height of the panel for `rows` rows that are left: `mr`, or fewer rounded up to `step`.
    Index height(Index rows) const { return rows >= mr ? mr : (rows + step - 1) / step * step; }
    /// Rows of a packed left operand, padding included.
    Index padded_rows(Index rows) const { return rows / mr * mr + height(rows % mr); }
    Index padded_cols(Index cols) const { return (cols + nr - 1) / nr * nr; }
    /// Columns that multiply_in_place computes for so many.
    Index cols_in_place(Index cols) const
    {
        const Index left = cols % nr;
        Index tile = nr;
        while (tile > narrowest && left <= tile / 2) tile /= 2;
        return cols - left + (left > 0 ? tile : 0);
    }
    /// Real numbers that a packed operand takes.
    Index left_size(Index rows, Index k) const { return planes<T> * padded_rows(rows) * k; }
    Index right_size(Index k, Index cols) const { return planes<T> * padded_cols(cols) * k; }
};

/// The micro-kernels of one instruction set, an entry of the build list (instruction_sets/<word>.cpp).
struct InstructionSet : Entry {
    bool (*runs_here)();
    MicroKernel<float> s;
    MicroKernel<double> d;
    MicroKernel<std::complex<float>> c;
    MicroKernel<std::complex<double>> z;

    template <Scalar T> const MicroKernel<T>& micro_kernel() const
    {
        if constexpr (std::same_as<T, float>) return s;
        else if constexpr (std::same_as<T, double>) return d;
        else if constexpr (std::same_as<T, std::complex<float>>) return c;
        else return z;
    }
};

/// The widest one that this processor has, or the one that TRENCADIS_INSTRUCTION_SET names (Error{bad_argument} if this build or
/// this processor lacks it). Chosen at the first call.
const InstructionSet& instruction_set();
const InstructionSet& find_instruction_set(std::string_view name);

} // namespace trencadis::blas

namespace trencadis {

/// The instruction sets in this build, widest first; "generic" is the last and runs everywhere.
std::span<const blas::InstructionSet* const> instruction_set_entries();

} // namespace trencadis
