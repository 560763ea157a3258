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
};

#if defined(__AVX512F__)
// clang-format off

#define TRC_SUM3(a, b, c, f, x) f " " x ", %%zmm0, %" #a "\n\t" f " " x ", %%zmm1, %" #b "\n\t" f " " x ", %%zmm2, %" #c "\n\t"
// A column of B as an operand, or in a register, with the sums of three vectors.
#define TRC_PD_MEMORY(at, a, b, c) TRC_SUM3(a, b, c, "vfmadd231pd", at "%{1to8%}")
#define TRC_PS_MEMORY(at, a, b, c) TRC_SUM3(a, b, c, "vfmadd231ps", at "%{1to16%}")
#define TRC_PD_SPREAD(at, r, a, b, c) "vbroadcastsd " at ", " r "\n\t" TRC_SUM3(a, b, c, "vfmadd231pd", r)
#define TRC_PS_SPREAD(at, r, a, b, c) "vbroadcastss " at ", " r "\n\t" TRC_SUM3(a, b, c, "vfmadd231ps", r)
// Column u of a round: at(j, u) is where number j of B's row is.
#define TRC_COLUMN(T, at, u) \
    "vmovapd 192*" #u "(%%rsi), %%zmm0\n\t" \
    "vmovapd 192*" #u "+64(%%rsi), %%zmm1\n\t" \
    "vmovapd 192*" #u "+128(%%rsi), %%zmm2\n\t" \
    TRC_##T##_SPREAD(at(1, u), "%%zmm3", 3, 4, 5) \
    TRC_##T##_MEMORY(at(0, u), 0, 1, 2) \
    TRC_##T##_SPREAD(at(2, u), "%%zmm4", 6, 7, 8) \
    TRC_##T##_SPREAD(at(3, u), "%%zmm5", 9, 10, 11) \
    TRC_##T##_SPREAD(at(5, u), "%%zmm6", 15, 16, 17) \
    TRC_##T##_MEMORY(at(4, u), 12, 13, 14) \
    TRC_##T##_SPREAD(at(6, u), "%%zmm7", 18, 19, 20) \
    TRC_##T##_SPREAD(at(7, u), "%%zmm3", 21, 22, 23)
#define TRC_NOTHING ""
#define TRC_EIGHT(T, at, next) \
    TRC_COLUMN(T, at, 0) next TRC_COLUMN(T, at, 1) next TRC_COLUMN(T, at, 2) next TRC_COLUMN(T, at, 3) next \
    TRC_COLUMN(T, at, 4) next TRC_COLUMN(T, at, 5) next TRC_COLUMN(T, at, 6) next TRC_COLUMN(T, at, 7) next

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
#define TRC_TWO_LINES "prefetcht1 (%%r10)\n\tprefetcht1 64(%%r10)\n\tadd %%r11, %%r10\n\t" TRC_LATER_LINES
#define TRC_TWO_ROWS "prefetcht1 (%%r10)\n\tprefetcht1 (%%r10,%%r8)\n\tadd %%r11, %%r10\n\t" TRC_LATER_LINES
#define TRC_A_LINE "prefetcht1 (%%r10)\n\tadd %%r11, %%r10\n\t"
#define TRC_COLUMN_OF_C "prefetchw (%%r14)\n\tprefetchw 64(%%r14)\n\tprefetchw 128(%%r14)\n\tadd %%r15, %%r14\n\t"
// As often as the number at `count` says.
#define TRC_ROUNDS(count, body) \
    "mov %c[" count "](%%rdi), %%rax\n\ttest %%rax, %%rax\n\tjz 2f\n\t.p2align 5\n1:\n\t" body "dec %%rax\n\tjnz 1b\n2:\n\t"
#define TRC_ZERO3(a, b, c) \
    "vpxord %" #a ", %" #a ", %" #a "\n\tvpxord %" #b ", %" #b ", %" #b "\n\tvpxord %" #c ", %" #c ", %" #c "\n\t"
#define TRC_ZEROS \
    TRC_ZERO3(0, 1, 2) TRC_ZERO3(3, 4, 5) TRC_ZERO3(6, 7, 8) TRC_ZERO3(9, 10, 11) TRC_ZERO3(12, 13, 14) \
    TRC_ZERO3(15, 16, 17) TRC_ZERO3(18, 19, 20) TRC_ZERO3(21, 22, 23)
#define TRC_THREE(j) "=v"(sum[j][0][0]), "=v"(sum[j][0][1]), "=v"(sum[j][0][2])

// eight: how B goes on in a round; one: in a column of A. rdi: x, rsi: A, rdx: B, rcx: its fifth column, r8, r9: one and three
// steps, r10, r11: what is fetched and by how much it goes on, r12, r13: what later, r14, r15: C.
#define TRC_DEPTH(T, at, next, lines, eight, one) \
    asm volatile(TRC_ZEROS \
        "mov (%%rdi), %%rsi\n\tmov 8(%%rdi), %%rdx\n\tmov 16(%%rdi), %%r8\n\t" \
        "lea (%%r8,%%r8,2), %%r9\n\tlea (%%rdx,%%r8,4), %%rcx\n\t" \
        "mov 24(%%rdi), %%r10\n\tmov 32(%%rdi), %%r11\n\tmov 40(%%rdi), %%r12\n\t" \
        "mov 48(%%rdi), %%r13\n\tmov 56(%%rdi), %%r14\n\tmov 64(%%rdi), %%r15\n\t" \
        TRC_ROUNDS("before", lines TRC_EIGHT(T, at, next) "add $8*192, %%rsi\n\t" eight) \
        TRC_ROUNDS("fetching", lines TRC_COLUMN_OF_C TRC_EIGHT(T, at, next) "add $8*192, %%rsi\n\t" eight) \
        TRC_ROUNDS("behind", lines TRC_EIGHT(T, at, next) "add $8*192, %%rsi\n\t" eight) \
        TRC_ROUNDS("rest", TRC_COLUMN(T, at, 0) next "add $192, %%rsi\n\t" one) \
        : TRC_THREE(0), TRC_THREE(1), TRC_THREE(2), TRC_THREE(3), TRC_THREE(4), TRC_THREE(5), TRC_THREE(6), TRC_THREE(7) \
        : "D"(&x), [before] "i"(offsetof(DepthOfTile, before)), [fetching] "i"(offsetof(DepthOfTile, fetching)), \
          [behind] "i"(offsetof(DepthOfTile, behind)), [rest] "i"(offsetof(DepthOfTile, rest)) \
        : "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2", "xmm3", \
          "xmm4", "xmm5", "xmm6", "xmm7", "memory", "cc")

// clang-format on

/// sum <- A B.
template <RightLies lies, class V> [[gnu::always_inline]] inline void multiply_depth(V (&sum)[8][1][3], const DepthOfTile& x)
{
    static_assert(sizeof(DepthOfTile) == 104 && std::is_standard_layout_v<DepthOfTile>);
    constexpr bool wide = sizeof(sum[0][0][0][0]) == 8;
    if constexpr (lies == RightLies::packed && wide)
        TRC_DEPTH(PD, TRC_PACKED_PD, TRC_NOTHING, TRC_TWO_LINES, "add $512, %%rdx\n\t", "add $64, %%rdx\n\t");
    else if constexpr (lies == RightLies::packed)
        TRC_DEPTH(PS, TRC_PACKED_PS, TRC_NOTHING, TRC_TWO_LINES, "add $256, %%rdx\n\t", "add $32, %%rdx\n\t");
    else if constexpr (lies == RightLies::rows && wide) TRC_DEPTH(PD, TRC_ROWS_PD, "add %%r8, %%rdx\n\t", TRC_TWO_ROWS, "", "");
    else if constexpr (lies == RightLies::rows) TRC_DEPTH(PS, TRC_ROWS_PS, "add %%r8, %%rdx\n\t", TRC_TWO_ROWS, "", "");
    else if constexpr (wide)
        TRC_DEPTH(PD, TRC_COLUMNS_PD, TRC_NOTHING, TRC_A_LINE, "add $64, %%rdx\n\tadd $64, %%rcx\n\t",
                  "add $8, %%rdx\n\tadd $8, %%rcx\n\t");
    else
        TRC_DEPTH(PS, TRC_COLUMNS_PS, TRC_NOTHING, TRC_A_LINE, "add $32, %%rdx\n\tadd $32, %%rcx\n\t",
                  "add $4, %%rdx\n\tadd $4, %%rcx\n\t");
}

#undef TRC_SUM3
#undef TRC_PD_MEMORY
#undef TRC_PS_MEMORY
#undef TRC_PD_SPREAD
#undef TRC_PS_SPREAD
#undef TRC_COLUMN
#undef TRC_NOTHING
#undef TRC_EIGHT
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
#undef TRC_TWO_LINES
#undef TRC_TWO_ROWS
#undef TRC_A_LINE
#undef TRC_COLUMN_OF_C
#undef TRC_ROUNDS
#undef TRC_ZERO3
#undef TRC_ZEROS
#undef TRC_THREE
#undef TRC_DEPTH
#else
template <RightLies lies, class Sums> void multiply_depth(Sums&, const DepthOfTile&) {} // nobody calls it
#endif

} // namespace
} // namespace trencadis::blas
