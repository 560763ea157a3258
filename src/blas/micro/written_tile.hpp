// Micro-tiles of real numbers by the loop that is written down, for one instruction set; internal linkage as in
// micro_kernel_body.hpp.
#pragma once
#include "blas/micro/avx512_depth.hpp"
#include "blas/micro/micro_tile.hpp"

namespace trencadis::blas {
namespace {

/// For each tile nothing is done but that loop and to write C: a few dozen instructions more would be a hundredth of a tile of
/// 400 columns of A, and a twentieth of one of 100.
template <Scalar T, int Bytes, int MV, int NR> struct WrittenTile : Body<T, Bytes, MV, NR> {
    using Base = Body<T, Bytes, MV, NR>;
    using Base::height, Base::lanes;
    using typename Base::Beta, typename Base::R;

    static constexpr bool is_real_avx512 = has_depth_loop && Bytes == 64 && NR == 8 && Base::parts == 1;
    static constexpr bool has_packed = is_real_avx512 && MV == 3;
    static constexpr bool has_in_place = is_real_avx512 && (MV == 2 || MV == 3); ///< of the last vector there may be some

    static void multiply_stack(const StackProduct<T>& x)
    {
        const Index some = x.k / round * two_lines;
        tiles<RightLies::packed>(x, 0, height, {x.next, bytes(two_lines), some, some > 0 ? (x.k * NR - 1) / some : 0});
    }
    static void multiply_stripe(const StripeProduct<T>& x)
    {
        const Index row = x.b_step; // a line of `next`
        const Next next{x.stack.next, bytes(2 * row), x.stack.k / round * 2 * row, x.stack.panels};
        tiles<RightLies::rows>(x.stack, row, x.rows, next);
    }
    /// For NR columns.
    static void multiply_columns(const ColumnsProduct<T>& x)
    {
        tiles<RightLies::columns>(x.stack, x.b_cs, x.rows, {x.stack.next, bytes(round), x.b_cs, NR - 1});
    }

    /// Is it worth the loop's beginning and end?
    static bool suits(const ProductInPlace<T>& x)
    {
        constexpr Index worth = 512; // columns of A times those of B
        return x.cols >= NR && x.k * x.cols >= worth && (x.b_rs == 1 || x.b_cs == 1);
    }
    static void multiply_in_place(const ProductInPlace<T>& x)
    {
        x.b_rs == 1 ? in_place<RightLies::columns>(x) : in_place<RightLies::rows>(x);
    }

private:
    static constexpr Index round = 8, two_lines = 2 * Base::line; ///< columns of A; numbers
    static Index bytes(Index numbers) { return numbers * Index(sizeof(R)); }

    /// What the loop does in k columns of A: C's tile comes late, lines of A would drive it out before.
    static DepthOfTile depth_of(Index k, const R* A, const R* B, Index b_step, Index cs, Index cols)
    {
        constexpr Index ahead = 8; // rounds in whose time C's last line comes
        const Index rounds = k / round, fetching = cols < rounds ? cols : rounds, left = rounds - fetching,
                    behind = left < ahead ? left : ahead;
        return {A, B, bytes(b_step), B, 0, B, 0, nullptr, bytes(cs), left - behind, fetching, behind, k % round};
    }
    /// What of B comes next, where anything does: by how many bytes it goes on in a round, and by how many numbers behind each of
    /// the first tiles.
    struct Next {
        const R* at;
        Index round_step, tile_step, tiles;
    };
    /// Tiles below one another, the last of which has `rows`.
    template <RightLies lies> static void tiles(const StackProduct<T>& x, Index b_step, Index rows, Next next)
    {
        DepthOfTile depth = depth_of(x.k, x.A, x.B, b_step, x.cs, x.cols);
        const R *A = x.A, *later = x.later;
        if (next.at) depth.fetched_step = next.round_step;
        if (later) depth.later_step = bytes(two_lines);
        const Index later_step = x.k / round * two_lines;
        const bool overwrites = Base::is(x.beta, 0), all = x.cols == NR;
        T* C = x.C;
        for (Index left = x.panels; left > 0; --left, A += x.step, C += height) {
            depth.A = A;
            depth.C = C;
            if (next.at) depth.fetched = next.at;
            if (later) depth.later = later, later += later_step;
            if (next.at && next.tiles-- > 0) next.at += next.tile_step;
            for (Index j = depth.fetching; j < x.cols; ++j) Base::prefetch_column(C + j * x.cs);
            WrittenTile body;
            multiply_depth<lies>(body.sum, depth);
            if (const Index here = left > 1 ? height : rows; here < height || !all)
                body.store_compactly(x.alpha, x.beta, C, x.cs, here, x.cols);
            else body.template store_all<true>(x.alpha, x.beta, C, x.cs, height, overwrites);
        }
    }

    template <RightLies lies> static void in_place(const ProductInPlace<T>& x)
    {
        if (x.rows < height) in_place<lies, false, false>(x);
        else if (MV == 3 && x.fetching != Fetching::nothing) in_place<lies, true, MV == 3>(x);
        else in_place<lies, true, false>(x);
    }
    template <RightLies lies, bool whole, bool fetches_rows> static void in_place(const ProductInPlace<T>& x)
    {
        const Index wide = x.cols / NR * NR;
        DepthOfTile depth = depth_of(x.k, x.A, x.B, lies == RightLies::columns ? x.b_cs : x.b_rs, x.cs, NR);
        depth.a_step = bytes(x.a_step);
        depth.mask = std::uint16_t((1 << (x.rows - (MV - 1) * lanes)) - 1);
        if (MV == 2 || !whole) depth.behind = x.k / round;
        const bool overwrites = Base::is(x.beta, 0);
        for (Index p = 0; p < x.panels; ++p) {
            const R* B = x.B;
            T *C = x.C + p * x.rows, *const end = C + wide * x.cs;
            depth.A = x.A + p * x.rows;
            for (; C != end; B += NR * x.b_cs, C += NR * x.cs) {
                depth.B = B;
                depth.C = C;
                WrittenTile body;
                if constexpr (MV == 3 && whole) multiply_where_they_lie<lies, fetches_rows>(body.sum, depth);
                else {
                    Base::prefetch(C, 1, x.cs, x.rows, NR);
                    multiply_low<lies, whole>(body.sum, depth);
                }
                body.template store_all<whole>(x.alpha, x.beta, C, x.cs, x.rows, overwrites);
            }
            if (wide == x.cols) continue;
            ProductInPlace<T> rest = x; // with a panel that is near now
            rest.panels = 1, rest.cols = x.cols - wide, rest.A = x.A + p * x.rows, rest.B = B, rest.C = C;
            Base::multiply_in_place(rest);
        }
    }
    /// Of NR columns.
    template <bool whole>
    [[gnu::always_inline]] void store_all(T alpha, T beta, T* C, Index cs, Index rows, bool overwrites) const
    {
        if (overwrites) this->template store_columns<Beta::zero, whole>(alpha, beta, C, cs, rows, NR);
        else this->template store_columns<Beta::any, whole>(alpha, beta, C, cs, rows, NR);
    }
};

} // namespace
} // namespace trencadis::blas
