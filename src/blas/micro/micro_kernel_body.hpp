// The micro-kernels, written once on the compiler's vector extensions. Included by one source per instruction set, each compiled
// with its own flags. Everything here has internal linkage and nothing calls an inline function or template of the standard
// library: the linker could keep the copy of such a function that was made here, for a processor that is not there.
#pragma once
#include "blas/micro/cholesky_columns.hpp"
#include "blas/micro/column_kernel_body.hpp"
#include "blas/micro/columns_tile.hpp"
#include "blas/micro/few_columns.hpp"
#include "blas/micro/interleaved_tile.hpp"
#include "blas/micro/lane_cholesky.hpp"
#include "blas/micro/lane_lu.hpp"
#include "blas/micro/lu_columns.hpp"
#include "blas/micro/micro_kernel.hpp"
#include "blas/micro/micro_tile.hpp"
#include "blas/micro/panel_moves.hpp"
#include "blas/micro/planes_tile.hpp"
#include "blas/micro/qr_columns.hpp"
#include "blas/micro/qr_small.hpp"
#include "blas/micro/solve_tile.hpp"
#include "blas/micro/stripe_tile.hpp"
#include "blas/micro/vectors.hpp"
#include "blas/micro/written_tile.hpp"

namespace trencadis::blas {
namespace {

/// The panel heights of one micro-kernel: 1 .. MV vectors.
template <Scalar T, int Bytes, int MV, int NR> struct Family {
    using R = Real<T>;
    using Written = WrittenTile<T, Bytes, MV, NR>;
    static constexpr Index lanes = Bytes / sizeof(R);

    static void multiply(Index k, const R* A, Index height, const R* B, T alpha, T beta, T* C, Index rs, Index cs, Index rows,
                         Index cols, const R* next)
    {
        if (MV == 1 || height == MV * lanes)
            return Body<T, Bytes, MV, NR>::multiply(k, A, B, alpha, beta, C, rs, cs, rows, cols, next);
        if constexpr (MV > 1) Family<T, Bytes, MV - 1, NR>::multiply(k, A, height, B, alpha, beta, C, rs, cs, rows, cols, next);
    }
    static void multiply_stairs(const StairProduct<T>& x)
    {
        if (MV == 1 || x.height == MV * lanes) return Body<T, Bytes, MV, NR>::multiply_stairs(x);
        if constexpr (MV > 1) Family<T, Bytes, MV - 1, NR>::multiply_stairs(x);
    }
    static void multiply_stripe(const StripeProduct<T>& x)
    {
        if (MV == 1 || x.height == MV * lanes) {
            if constexpr (Written::has_packed) return Written::multiply_stripe(x);
            else return StripeTile<T, Bytes, MV, NR>::multiply(x);
        }
        if constexpr (MV > 1) Family<T, Bytes, MV - 1, NR>::multiply_stripe(x);
    }
    static void multiply_columns(const ColumnsProduct<T>& x)
    {
        if (MV == 1 || x.height == MV * lanes) {
            if constexpr (Written::has_packed)
                if (x.stack.cols == NR) return Written::multiply_columns(x);
            return ColumnsTile<T, Bytes, MV, NR>::multiply(x);
        }
        if constexpr (MV > 1) Family<T, Bytes, MV - 1, NR>::multiply_columns(x);
    }
    static constexpr auto multiplying_stacks() -> void (*)(const StackProduct<T>&)
    {
        if constexpr (Written::has_packed) return Written::multiply_stack;
        else return Body<T, Bytes, MV, NR>::multiply_stack;
    }
    static constexpr auto multiplying_stripes() -> void (*)(const StripeProduct<T>&)
    {
        if constexpr (is_complex<T> || lanes % NR != 0) return nullptr;
        else return multiply_stripe;
    }
    static void multiply_in_place(const ProductInPlace<T>& x)
    {
        if constexpr (is_complex<T>) {
            if (x.planes) return by_planes(x);
            ProductInPlace<T> tile = x;
            for (Index j = 0; j < x.cols; j += NR, tile.B += NR * x.b_cs, tile.C += NR * x.cs) {
                tile.cols = x.cols - j < NR ? x.cols - j : NR;
                interleaved<2 * MV>(tile);
            }
        } else {
            if (MV == 1 || x.rows > (MV - 1) * lanes) {
                if constexpr (Written::has_in_place)
                    if (Written::suits(x)) return Written::multiply_in_place(x);
                return Body<T, Bytes, MV, NR>::multiply_in_place(x);
            }
            if constexpr (MV > 1) Family<T, Bytes, MV - 1, NR>::multiply_in_place(x);
        }
    }
    static void by_planes(const ProductInPlace<T>& x)
    {
        if (MV == 1 || x.rows > (MV - 1) * lanes) return PlanesTile<T, Bytes, MV, NR>::multiply(x);
        if constexpr (MV > 1) Family<T, Bytes, MV - 1, NR>::by_planes(x);
    }
    /// By the fewest vectors of pairs that hold the rows.
    template <int count> static void interleaved(const ProductInPlace<T>& x)
    {
        if (count == 1 || 2 * x.rows > (count - 1) * lanes) return InterleavedTile<T, Bytes, count, NR>::multiply(x);
        if constexpr (count > 1) interleaved<count - 1>(x);
    }
    static void solve(Index k, R* X, Index height, const R* U, Index cols)
    {
        if (MV == 1 || height == MV * lanes) return SolveTile<T, Bytes, MV, NR>::solve(k, X, U, cols);
        if constexpr (MV > 1) Family<T, Bytes, MV - 1, NR>::solve(k, X, height, U, cols);
    }
    static void solve_in_place(const SolveInPlace<T>& x)
    {
        if (MV == 1 || x.height == MV * lanes) return SolveTile<T, Bytes, MV, NR>::solve_in_place(x);
        if constexpr (MV > 1) Family<T, Bytes, MV - 1, NR>::solve_in_place(x);
    }
    static void multiply_triangle(const TriangleStep<T>& x)
    {
        if (MV == 1 || x.height == MV * lanes) return SolveTile<T, Bytes, MV, NR>::multiply_triangle(x);
        if constexpr (MV > 1) Family<T, Bytes, MV - 1, NR>::multiply_triangle(x);
    }
    static constexpr auto multiplying_triangles() -> void (*)(const TriangleStep<T>&)
    {
        if constexpr (is_complex<T>) return nullptr;
        else return multiply_triangle;
    }
    static constexpr auto packing_triangles() -> void (*)(const T*, Index, Index, R*)
    {
        constexpr int bytes = NR * int(sizeof(R));
        if constexpr (is_complex<T> || bytes > Bytes || (NR & (NR - 1)) != 0) return nullptr;
        else return pack_triangle_block<T, bytes>;
    }
    static constexpr auto solving_in_place() -> void (*)(const SolveInPlace<T>&)
    {
        if constexpr (is_complex<T>) return nullptr;
        else return solve_in_place;
    }
    /// Blocks for these are as large as the registers allow, of which a micro-tile tells how many there are.
    static constexpr bool many_registers = MV * NR * planes<T> >= 16;
    static constexpr int reflected = many_registers ? most_reflected : most_reflected / planes<T>;
    static constexpr LaneKernels<T> lane_kernels()
    {
        constexpr int rows = many_registers ? 4 : is_complex<T> ? 2 : 4, cols = many_registers && !is_complex<T> ? 4 : 2;
        return {lanes, LaneCholesky<T, Bytes, rows, cols>::run, LaneLu<T, Bytes, rows, cols>::run};
    }
    static constexpr auto transposing() -> void (*)(Index, Index, const T*, Index, T*, Index)
    {
        if constexpr (is_complex<T>) return transpose_pairs<T, Bytes>;
        else return nullptr;
    }
    static constexpr MicroKernel<T> entry()
    {
        static_assert(MV * lanes * NR * Index(sizeof(T)) <= largest_tile_bytes && NR <= largest_nr);
        return {.mr = MV * lanes,
                .nr = NR,
                .step = lanes,
                .multiply_panels = multiply,
                .multiply_stack = multiplying_stacks(),
                .columns_per_line = Body<T, Bytes, MV, NR>::unroll,
                .multiply_stripe = multiplying_stripes(),
                .multiply_columns = multiply_columns,
                .multiply_stairs = multiply_stairs,
                .multiply_in_place = multiply_in_place,
                .narrowest = is_complex<T> ? NR : Body<T, Bytes, MV, NR>::narrowest,
                .reads_any_rows = Vectors<R, Bytes>::reads_some,
                .fetches_columns = Written::has_in_place,
                .widest_in_place = many_registers ? 128 : 12,  // broadcasts of B are loads of their own, twice as many
                .widest_by_planes = many_registers ? 384 : 64, // B's columns take what registers for addresses there are
                .multiply_few_columns = ColumnsPastSums<T, Bytes, many_registers>::multiply,
                .transpose_pairs = transposing(),
                .solve = solve,
                .solve_in_place = solving_in_place(),
                .moves_rows = !is_complex<T> && lanes == NR,
                .multiply_triangle = multiplying_triangles(),
                .pack_triangle_block = packing_triangles(),
                .factor_triangle = CholeskyColumns<T, Bytes>::factor,
                .factor_columns = factor_columns<T, Bytes>,
                .reflect_columns = reflect_columns<T, Bytes, reflected>,
                .reflected = reflected,
                .reflect_all = SmallReflectors<T, Bytes>::run,
                .multiply_adjoint = ColumnProducts < T,
                Bytes,
                many_registers ? 4 / planes<T> : 2,
                many_registers ? 4 : 4 / planes < T >> ::run,
                .side_by_side = lane_kernels(),
                .pack_left_panel = pack_panel<T, Bytes, true>,
                .pack_right_panel = pack_panel<T, dividing_bytes<T>(Bytes, NR), false>,
                .unpack_left_panel = unpack_panel<T, Bytes>,
                .all_finite = all_finite<T, Bytes>,
                .columns = ColumnLoops<T, Bytes>::entry()};
    }
};

} // namespace
} // namespace trencadis::blas
