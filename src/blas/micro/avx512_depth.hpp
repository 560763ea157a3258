// The loop over the depth of a real tile of 24 (48) x 8 numbers in AVX-512, written down. Internal linkage as in
// micro_kernel_body.hpp.
//
// What the compiler makes of micro_tile.hpp moves sums from register to register and has an instruction of its own for each
// element of B. Where a neighbour uses the other half of the core a product takes as long as its instructions take to issue; here
// 24 products go with 9 others, and with little for what is around them: of each eight columns of B two are operands in memory,
// which costs no time elsewhere (more of them would, since loads have to wait for lines of A). Eight columns of A are one round.
// The sums are those of micro_tile.hpp: one fused product after the other, in the order of the depth.
#pragma once
#include "base/types.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace trencadis::blas {
namespace {

#if defined(__AVX512F__)
constexpr bool has_depth_loop = true;
#else
constexpr bool has_depth_loop = false;
#endif

/// How the right operand lies: rows of eight numbers on end, such rows apart, or columns apart.
enum class RightLies { packed, rows, columns };

/// What the loop goes over. `fetched` and `later` (not beside columns) come into the second cache, a line or two in each round;
/// where there is nothing to fetch, they are addresses of what is there, with no step. C's columns come into the first one in
/// `fetching` rounds.
struct DepthOfTile {
    const void *A, *B;
    Index b_step; ///< bytes from row to row, or from column to column
    const void* fetched;
    Index fetched_step; ///< bytes
    const void* later;
    Index later_step;
    const void* C;
    Index cs;                             ///< bytes
    Index before, fetching, behind, rest; ///< rounds of eight columns of A, and columns
    Index a_step = 0;                     ///< of `multiply_where_they_lie`: bytes from column to column of A
    std::uint16_t mask = 0;               ///< and the numbers of its last vector, where they are not all
};

#if defined(__AVX512F__)
// clang-format off

#define TRC_SUM2(a, b, f, x) f " " x ", %%zmm0, %" #a "\n\t" f " " x ", %%zmm1, %" #b "\n\t"
#define TRC_SUM3(a, b, c, f, x) f " " x ", %%zmm0, %" #a "\n\t" f " " x ", %%zmm1, %" #b "\n\t" f " " x ", %%zmm2, %" #c "\n\t"
// A column of B as an operand, or in a register, with the sums of three vectors.
#define TRC_PD_MEMORY(at, a, b, c) TRC_SUM3(a, b, c, "vfmadd231pd", at "%{1to8%}")
#define TRC_PS_MEMORY(at, a, b, c) TRC_SUM3(a, b, c, "vfmadd231ps", at "%{1to16%}")
#define TRC_PD_SPREAD(at, r, a, b, c) "vbroadcastsd " at ", " r "\n\t" TRC_SUM3(a, b, c, "vfmadd231pd", r)
#define TRC_PS_SPREAD(at, r, a, b, c) "vbroadcastss " at ", " r "\n\t" TRC_SUM3(a, b, c, "vfmadd231ps", r)
#define TRC_PD_MEMORY2(at, a, b) TRC_SUM2(a, b, "vfmadd231pd", at "%{1to8%}")
#define TRC_PS_MEMORY2(at, a, b) TRC_SUM2(a, b, "vfmadd231ps", at "%{1to16%}")
#define TRC_PD_SPREAD2(at, r, a, b) "vbroadcastsd " at ", " r "\n\t" TRC_SUM2(a, b, "vfmadd231pd", r)
#define TRC_PS_SPREAD2(at, r, a, b) "vbroadcastss " at ", " r "\n\t" TRC_SUM2(a, b, "vfmadd231ps", r)
// The last vector of a column: all of it, or the numbers that k1 says.
#define TRC_WHOLE(T, at, r) "vmovups " at ", " r "\n\t"
#define TRC_SOME(T, at, r) TRC_SOME_##T(at, r)
#define TRC_SOME_PD(at, r) "vmovupd " at ", " r "%{%%k1%}%{z%}\n\t"
#define TRC_SOME_PS(at, r) "vmovups " at ", " r "%{%%k1%}%{z%}\n\t"
// Column u of a round: A(u) is where it is, at(j, u) where number j of B's row is.
#define TRC_COLUMN3(T, A, last, at, u) \
    "vmovups " A(u) "(%%rsi), %%zmm0\n\t" \
    "vmovups " A(u) "+64(%%rsi), %%zmm1\n\t" \
    last(T, A(u) "+128(%%rsi)", "%%zmm2") \
    TRC_##T##_SPREAD(at(1, u), "%%zmm3", 3, 4, 5) \
    TRC_##T##_MEMORY(at(0, u), 0, 1, 2) \
    TRC_##T##_SPREAD(at(2, u), "%%zmm4", 6, 7, 8) \
    TRC_##T##_SPREAD(at(3, u), "%%zmm5", 9, 10, 11) \
    TRC_##T##_SPREAD(at(5, u), "%%zmm6", 15, 16, 17) \
    TRC_##T##_MEMORY(at(4, u), 12, 13, 14) \
    TRC_##T##_SPREAD(at(6, u), "%%zmm7", 18, 19, 20) \
    TRC_##T##_SPREAD(at(7, u), "%%zmm3", 21, 22, 23)
#define TRC_COLUMN2(T, A, last, at, u) \
    "vmovups " A(u) "(%%rsi), %%zmm0\n\t" \
    last(T, A(u) "+64(%%rsi)", "%%zmm1") \
    TRC_##T##_SPREAD2(at(1, u), "%%zmm3", 2, 3) \
    TRC_##T##_MEMORY2(at(0, u), 0, 1) \
    TRC_##T##_SPREAD2(at(2, u), "%%zmm4", 4, 5) \
    TRC_##T##_SPREAD2(at(3, u), "%%zmm5", 6, 7) \
    TRC_##T##_SPREAD2(at(5, u), "%%zmm6", 10, 11) \
    TRC_##T##_MEMORY2(at(4, u), 8, 9) \
    TRC_##T##_SPREAD2(at(6, u), "%%zmm7", 12, 13) \
    TRC_##T##_SPREAD2(at(7, u), "%%zmm2", 14, 15)
#define TRC_EIGHT(column, T, A, last, at, next) \
    column(T, A, last, at, 0) next column(T, A, last, at, 1) next column(T, A, last, at, 2) next column(T, A, last, at, 3) next \
    column(T, A, last, at, 4) next column(T, A, last, at, 5) next column(T, A, last, at, 6) next column(T, A, last, at, 7) next

#define TRC_NOTHING ""
#define TRC_A_PACKED(u) "192*" #u
#define TRC_A_APART(u) "0"
#define TRC_PACKED_PD(j, u) "8*(" #j "+8*" #u ")(%%rdx)"
#define TRC_PACKED_PS(j, u) "4*(" #j "+8*" #u ")(%%rdx)"
#define TRC_ROWS_PD(j, u) "8*" #j "(%%rdx)"
#define TRC_ROWS_PS(j, u) "4*" #j "(%%rdx)"
#define TRC_BASE_0 "(%%rdx)"
#define TRC_BASE_1 "(%%rdx,%%r8)"
#define TRC_BASE_2 "(%%rdx,%%r8,2)"
#define TRC_BASE_3 "(%%rdx,%%r9)"
#define TRC_BASE_4 "(%%rcx)"
#define TRC_BASE_5 "(%%rcx,%%r8)"
#define TRC_BASE_6 "(%%rcx,%%r8,2)"
#define TRC_BASE_7 "(%%rcx,%%r9)"
#define TRC_COLUMNS_PD(j, u) "8*" #u TRC_BASE_##j
#define TRC_COLUMNS_PS(j, u) "4*" #u TRC_BASE_##j

#define TRC_LATER_LINES "prefetcht1 (%%r12)\n\tprefetcht1 64(%%r12)\n\tadd %%r13, %%r12\n\t"
// A's column that comes; of two or three vectors the one eight further on into the first cache, since no processor sees by itself
// which lines are those of a panel; what of A is below the tile into the second one.
#define TRC_A_NEXT "add %%r12, %%rsi\n\t"
#define TRC_A_AHEAD2 "prefetcht0 63(%%rsi,%%r12,8)\n\tprefetcht0 127(%%rsi,%%r12,8)\n\t"
#define TRC_A_AHEAD3 TRC_A_AHEAD2 "prefetcht0 191(%%rsi,%%r12,8)\n\t"
#define TRC_A_BELOW "prefetcht1 255(%%rsi)\n\tprefetcht1 319(%%rsi)\n\tprefetcht1 383(%%rsi)\n\t"
#define TRC_TWO_LINES "prefetcht1 (%%r10)\n\tprefetcht1 64(%%r10)\n\tadd %%r11, %%r10\n\t" TRC_LATER_LINES
#define TRC_TWO_ROWS "prefetcht1 (%%r10)\n\tprefetcht1 (%%r10,%%r8)\n\tadd %%r11, %%r10\n\t" TRC_LATER_LINES
#define TRC_A_LINE "prefetcht1 (%%r10)\n\tadd %%r11, %%r10\n\t"
#define TRC_COLUMN_OF_C "prefetchw (%%r14)\n\tprefetchw 64(%%r14)\n\tprefetchw 128(%%r14)\n\tadd %%r15, %%r14\n\t"
// As often as the number at `count` says.
#define TRC_ROUNDS(count, body) \
    "mov %c[" count "](%%rdi), %%rax\n\ttest %%rax, %%rax\n\tjz 2f\n\t.p2align 5\n1:\n\t" body "dec %%rax\n\tjnz 1b\n2:\n\t"
#define TRC_ZERO3(a, b, c) \
    "vpxord %" #a ", %" #a ", %" #a "\n\tvpxord %" #b ", %" #b ", %" #b "\n\tvpxord %" #c ", %" #c ", %" #c "\n\t"
#define TRC_ZERO4(a, b, c, d) TRC_ZERO3(a, b, c) "vpxord %" #d ", %" #d ", %" #d "\n\t"
#define TRC_ZEROS2 TRC_ZERO4(0, 1, 2, 3) TRC_ZERO4(4, 5, 6, 7) TRC_ZERO4(8, 9, 10, 11) TRC_ZERO4(12, 13, 14, 15)
#define TRC_ZEROS3 TRC_ZEROS2 TRC_ZERO4(16, 17, 18, 19) TRC_ZERO4(20, 21, 22, 23)
#define TRC_SUMS2(j) "=v"(sum[j][0][0]), "=v"(sum[j][0][1])
#define TRC_SUMS3(j) TRC_SUMS2(j), "=v"(sum[j][0][2])

// next: what comes behind each column; lines: what is fetched in a round; eight: how A and B go on in one; one: in a column.
// rdi: x, rsi: A, rdx: B, rcx: its fifth column, r8, r9: one and three steps, r10, r11: what is fetched and by how much it goes
// on, r12, r13: what later, or in r12 A's step, r14, r15: C.
#define TRC_BEGIN \
    "mov (%%rdi), %%rsi\n\tmov 8(%%rdi), %%rdx\n\tmov 16(%%rdi), %%r8\n\t" \
    "lea (%%r8,%%r8,2), %%r9\n\tlea (%%rdx,%%r8,4), %%rcx\n\t"
#define TRC_RESULTS(sums) sums(0), sums(1), sums(2), sums(3), sums(4), sums(5), sums(6), sums(7)
#define TRC_CLOBBERED \
    "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", \
    "xmm5", "xmm6", "xmm7", "memory", "cc"
#define TRC_DEPTH(T, A, at, next, lines, start, eight, one) \
    asm volatile(TRC_ZEROS3 TRC_BEGIN \
        "mov 24(%%rdi), %%r10\n\tmov 32(%%rdi), %%r11\n\tmov 40(%%rdi), %%r12\n\t" \
        "mov 48(%%rdi), %%r13\n\tmov 56(%%rdi), %%r14\n\tmov 64(%%rdi), %%r15\n\t" start \
        TRC_ROUNDS("before", lines TRC_EIGHT(TRC_COLUMN3, T, A, TRC_WHOLE, at, next) eight) \
        TRC_ROUNDS("fetching", lines TRC_COLUMN_OF_C TRC_EIGHT(TRC_COLUMN3, T, A, TRC_WHOLE, at, next) eight) \
        TRC_ROUNDS("behind", lines TRC_EIGHT(TRC_COLUMN3, T, A, TRC_WHOLE, at, next) eight) \
        TRC_ROUNDS("rest", TRC_COLUMN3(T, A, TRC_WHOLE, at, 0) next one) \
        : TRC_RESULTS(TRC_SUMS3) \
        : "D"(&x), [before] "i"(offsetof(DepthOfTile, before)), [fetching] "i"(offsetof(DepthOfTile, fetching)), \
          [behind] "i"(offsetof(DepthOfTile, behind)), [rest] "i"(offsetof(DepthOfTile, rest)), \
          [a_step] "i"(offsetof(DepthOfTile, a_step)) \
        : TRC_CLOBBERED)
// The same of two or three vectors, the last one loaded by `last`, without C.
#define TRC_DEPTH_ALONE(vectors, T, last, at, next, eight, one) \
    TRC_ALONE(vectors, T, last, at, next TRC_A_AHEAD##vectors TRC_A_NEXT, eight, one)
#define TRC_ALONE(vectors, T, last, at, next, eight, one) \
    asm volatile(TRC_ZEROS##vectors TRC_BEGIN \
        "mov %c[a_step](%%rdi), %%r12\n\tkmovw %c[mask](%%rdi), %%k1\n\t" \
        TRC_ROUNDS("behind", TRC_EIGHT(TRC_COLUMN##vectors, T, TRC_A_APART, last, at, next) eight) \
        TRC_ROUNDS("rest", TRC_COLUMN##vectors(T, TRC_A_APART, last, at, 0) next one) \
        : TRC_RESULTS(TRC_SUMS##vectors) \
        : "D"(&x), [behind] "i"(offsetof(DepthOfTile, behind)), [rest] "i"(offsetof(DepthOfTile, rest)), \
          [a_step] "i"(offsetof(DepthOfTile, a_step)), [mask] "i"(offsetof(DepthOfTile, mask)) \
        : TRC_CLOBBERED, "k1")

#define TRC_DEPTH_PACKED(T, at, next, lines, eight, one) \
    TRC_DEPTH(T, TRC_A_PACKED, at, next, lines, "", "add $8*192, %%rsi\n\t" eight, "add $192, %%rsi\n\t" one)
#define TRC_DEPTH_APART(T, at, next, eight, one) \
    TRC_DEPTH(T, TRC_A_APART, at, next TRC_A_NEXT, TRC_NOTHING, "mov %c[a_step](%%rdi), %%r12\n\t", eight, one)
#define TRC_BOTH_ENDS(bytes) "add $" bytes ", %%rdx\n\tadd $" bytes ", %%rcx\n\t"
#define TRC_NEXT_ROW "add %%r8, %%rdx\n\t"
// The same where its lines lie apart, as A's do, a row in two of them. last: where its last number is.
#define TRC_ROW_APART(last) "prefetcht0 (%%rdx,%%r8,8)\n\tprefetcht0 " last "(%%rdx,%%r8,8)\n\t" TRC_NEXT_ROW
#define TRC_APART(wide, ahead) \
    if constexpr (lies == RightLies::rows && wide) TRC_DEPTH_APART(PD, TRC_ROWS_PD, ahead TRC_ROW_APART("56"), "", ""); \
    else if constexpr (lies == RightLies::rows) TRC_DEPTH_APART(PS, TRC_ROWS_PS, ahead TRC_ROW_APART("28"), "", ""); \
    else if constexpr (wide) TRC_DEPTH_APART(PD, TRC_COLUMNS_PD, ahead, TRC_BOTH_ENDS("64"), TRC_BOTH_ENDS("8")); \
    else TRC_DEPTH_APART(PS, TRC_COLUMNS_PS, ahead, TRC_BOTH_ENDS("32"), TRC_BOTH_ENDS("4"))
#define TRC_LOW(vectors, last) \
    if constexpr (lies == RightLies::rows && wide) TRC_DEPTH_ALONE(vectors, PD, last, TRC_ROWS_PD, TRC_ROW_APART("56"), "", ""); \
    else if constexpr (lies == RightLies::rows) TRC_DEPTH_ALONE(vectors, PS, last, TRC_ROWS_PS, TRC_ROW_APART("28"), "", ""); \
    else if constexpr (wide) \
        TRC_DEPTH_ALONE(vectors, PD, last, TRC_COLUMNS_PD, "", TRC_BOTH_ENDS("64"), TRC_BOTH_ENDS("8")); \
    else TRC_DEPTH_ALONE(vectors, PS, last, TRC_COLUMNS_PS, "", TRC_BOTH_ENDS("32"), TRC_BOTH_ENDS("4"))
// clang-format on

/// sum <- A B.
template <RightLies lies, class V> [[gnu::always_inline]] inline void multiply_depth(V (&sum)[8][1][3], const DepthOfTile& x)
{
    static_assert(sizeof(DepthOfTile) == 120 && std::is_standard_layout_v<DepthOfTile>);
    constexpr bool wide = sizeof(sum[0][0][0][0]) == 8;
    if constexpr (lies == RightLies::packed && wide)
        TRC_DEPTH_PACKED(PD, TRC_PACKED_PD, TRC_NOTHING, TRC_TWO_LINES, "add $512, %%rdx\n\t", "add $64, %%rdx\n\t");
    else if constexpr (lies == RightLies::packed)
        TRC_DEPTH_PACKED(PS, TRC_PACKED_PS, TRC_NOTHING, TRC_TWO_LINES, "add $256, %%rdx\n\t", "add $32, %%rdx\n\t");
    else if constexpr (lies == RightLies::rows && wide) TRC_DEPTH_PACKED(PD, TRC_ROWS_PD, TRC_NEXT_ROW, TRC_TWO_ROWS, "", "");
    else if constexpr (lies == RightLies::rows) TRC_DEPTH_PACKED(PS, TRC_ROWS_PS, TRC_NEXT_ROW, TRC_TWO_ROWS, "", "");
    else if constexpr (wide)
        TRC_DEPTH_PACKED(PD, TRC_COLUMNS_PD, TRC_NOTHING, TRC_A_LINE, TRC_BOTH_ENDS("64"), TRC_BOTH_ENDS("8"));
    else TRC_DEPTH_PACKED(PS, TRC_COLUMNS_PS, TRC_NOTHING, TRC_A_LINE, TRC_BOTH_ENDS("32"), TRC_BOTH_ENDS("4"));
}

/// sum <- A B, A's columns where they lie as well. C is fetched, of A the columns that come and, where it `fetches_rows`, the
/// rows below these.
template <RightLies lies, bool fetches_rows, class V>
[[gnu::always_inline]] inline void multiply_where_they_lie(V (&sum)[8][1][3], const DepthOfTile& x)
{
    constexpr bool wide = sizeof(sum[0][0][0][0]) == 8;
    if constexpr (fetches_rows) {
        TRC_APART(wide, TRC_A_AHEAD3 TRC_A_BELOW);
    } else {
        TRC_APART(wide, TRC_A_AHEAD3);
    }
}

/// The same of two vectors, or where of the last one there are as many numbers as x.mask says, without C; all columns of A in
/// `behind` and `rest`.
template <RightLies lies, bool whole, class V>
[[gnu::always_inline]] inline void multiply_low(V (&sum)[8][1][2], const DepthOfTile& x)
{
    constexpr bool wide = sizeof(sum[0][0][0][0]) == 8;
    if constexpr (whole) TRC_LOW(2, TRC_WHOLE);
    else TRC_LOW(2, TRC_SOME);
}
template <RightLies lies, bool whole, class V>
[[gnu::always_inline]] inline void multiply_low(V (&sum)[8][1][3], const DepthOfTile& x)
{
    constexpr bool wide = sizeof(sum[0][0][0][0]) == 8;
    static_assert(!whole);
    TRC_LOW(3, TRC_SOME);
}

#undef TRC_SUM2
#undef TRC_SUM3
#undef TRC_PD_MEMORY
#undef TRC_PS_MEMORY
#undef TRC_PD_SPREAD
#undef TRC_PS_SPREAD
#undef TRC_PD_MEMORY2
#undef TRC_PS_MEMORY2
#undef TRC_PD_SPREAD2
#undef TRC_PS_SPREAD2
#undef TRC_WHOLE
#undef TRC_SOME
#undef TRC_SOME_PD
#undef TRC_SOME_PS
#undef TRC_COLUMN3
#undef TRC_NOTHING
#undef TRC_COLUMN2
#undef TRC_EIGHT
#undef TRC_A_PACKED
#undef TRC_A_APART
#undef TRC_PACKED_PD
#undef TRC_PACKED_PS
#undef TRC_ROWS_PD
#undef TRC_ROWS_PS
#undef TRC_BASE_0
#undef TRC_BASE_1
#undef TRC_BASE_2
#undef TRC_BASE_3
#undef TRC_BASE_4
#undef TRC_BASE_5
#undef TRC_BASE_6
#undef TRC_BASE_7
#undef TRC_COLUMNS_PD
#undef TRC_COLUMNS_PS
#undef TRC_LATER_LINES
#undef TRC_A_NEXT
#undef TRC_A_AHEAD2
#undef TRC_A_AHEAD3
#undef TRC_A_BELOW
#undef TRC_TWO_LINES
#undef TRC_TWO_ROWS
#undef TRC_A_LINE
#undef TRC_COLUMN_OF_C
#undef TRC_ROUNDS
#undef TRC_ZERO3
#undef TRC_ZERO4
#undef TRC_ZEROS2
#undef TRC_ZEROS3
#undef TRC_SUMS2
#undef TRC_SUMS3
#undef TRC_BEGIN
#undef TRC_RESULTS
#undef TRC_CLOBBERED
#undef TRC_DEPTH
#undef TRC_DEPTH_ALONE
#undef TRC_ALONE
#undef TRC_DEPTH_PACKED
#undef TRC_DEPTH_APART
#undef TRC_BOTH_ENDS
#undef TRC_NEXT_ROW
#undef TRC_ROW_APART
#undef TRC_APART
#undef TRC_LOW
#else
template <RightLies lies, class Sums> void multiply_depth(Sums&, const DepthOfTile&) {} // nobody calls them
template <RightLies lies, bool fetches_rows, class Sums> void multiply_where_they_lie(Sums&, const DepthOfTile&) {}
template <RightLies lies, bool whole, class Sums> void multiply_low(Sums&, const DepthOfTile&) {}
#endif

} // namespace
} // namespace trencadis::blas
