#include "blas/level3/few_columns.hpp"

#include "blas/level3/small_product.hpp"
#include "blas/level3/team_product.hpp"
#include "blas/testing/framed.hpp"
#include "blas/testing/reference.hpp"
#include "graph/team.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <vector>

namespace trencadis::blas {
namespace {

using testing::for_all_setups;
using testing::Framed;
using testing::random_element;

template <class T> class FewColumnsOf : public ::testing::Test {
protected:
    unsigned seed = std::random_device{}();
    std::mt19937 random{seed};

    T factor() { return std::array<T, 4>{T(0), T(1), T(-1), random_element<T>(random)}[random() % 4]; }
    Op op() { return std::array{Op::none, Op::trans, Op::conj_trans}[random() % 3]; }

    /// Operands with NaN around them, before pages that nobody may touch; C is not read where beta is zero.
    struct Operands {
        Op op_a, op_b;
        bool by_rows; ///< is C? of real numbers alone
        Framed<T> A, B, C;
        Product<T> x;

        Operands(Index m, Index n, Index k, FewColumnsOf& of)
            : op_a(of.op()), op_b(of.op()), by_rows(!is_complex<T> && of.random() % 2),
              A(op_a == Op::none ? m : k, op_a == Op::none ? k : m, of.random() % 4 + 1, of.random), // rows are not columns, too
              B(op_b == Op::none ? k : n, op_b == Op::none ? n : k, of.random() % 4, of.random),
              C(by_rows ? n : m, by_rows ? m : n, of.random() % 4 + 1, of.random),
              x{m, n, k, of.factor(), general(A.data(), A.ld, op_a), general(B.data(), B.ld, op_b), of.factor(), C.data(), 0, 0}
        {
            x.rs = by_rows ? C.ld : 1;
            x.cs = by_rows ? 1 : C.ld;
            if (of.random() % 2) x.A = x.A.conjugate();
            if (x.beta == T(0)) std::fill(C.memory.all().begin(), C.memory.all().end(), T(NAN));
        }
        std::vector<T> contents() { return {C.memory.all().begin(), C.memory.all().end()}; }
        void restore(const std::vector<T>& contents) { std::copy(contents.begin(), contents.end(), C.data()); }
    };
    static bool are_equal(const std::vector<T>& a, const std::vector<T>& b)
    {
        return std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
    }
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(FewColumnsOf, Scalars);

/// Rows that no vector holds, columns of A that no group does, pieces of the depth and of the rows.
TYPED_TEST(FewColumnsOf, HaveTheBitsOfPackedOperandsAndTouchNothingElse)
{
    using T = TypeParam;
    for_all_setups([&](const std::string& where) {
        const Setup<T> with = setup<T>();
        for (int turn = 0; turn < 60; ++turn) {
            const Index m = 1 + this->random() % 90, n = 1 + this->random() % 11, k = 1 + this->random() % 40,
                        depth = balanced_block(k, with.tree[Loop::pc], 8), middle = this->random() % (m + 1);
            typename TestFixture::Operands at(m, n, k, *this);
            if (at.x.alpha == T(0)) continue; // then A and B are not read at all
            const std::vector<T> before = at.contents();
            TeamProduct<T> packed(at.by_rows ? transposed(at.x) : at.x, with);
            SharedWork chunks(packed.chunks(), 1);
            Team team(chunks);
            packed.work(team);
            const std::vector<T> expected = at.contents();
            at.restore(before);
            const FewColumns<T> product(at.x, with);
            product.multiply(0, middle, depth);
            product.multiply(middle, m, depth);
            ASSERT_TRUE(this->are_equal(at.contents(), expected))
                << where << ", " << m << " x " << n << " x " << k << ", seed " << this->seed;
            at.restore(before);
            multiply(at.x); // so or otherwise
            ASSERT_TRUE(this->are_equal(at.contents(), expected))
                << where << ", " << m << " x " << n << " x " << k << ", seed " << this->seed;
        }
    });
}

/// Where A is so large that it goes so, whoever takes part: the bits of the same columns among many.
TYPED_TEST(FewColumnsOf, AreMadeSoBesideALargeA)
{
    using T = TypeParam;
    const MicroKernel<T>& kernel = micro_kernel<T>();
    const BlockSizes& sizes = block_sizes<T>(0);
    const Index m = 9 * kernel.mr + kernel.step, few = kernel.nr + 1, many = 20 * kernel.nr, k = 4 * sizes.kc * sizes.mc / m + 13;
    Framed<T> A(m, k, 3, this->random), B(k, many, 1, this->random);
    std::vector<T> whole(std::size_t(m * many)), all(std::size_t(m * few)), shared = all;
    const auto product = [&](Index n, std::vector<T>& C) {
        return Product<T>{m, n, k, T(0.5), general(A.data(), A.ld), general(B.data(), B.ld), T(0), C.data(), 1, m};
    };
    ASSERT_FALSE(SmallProduct<T>::suits(product(many, whole)));
    ASSERT_TRUE(FewColumns<T>::suits(product(few, all)));
    ASSERT_TRUE(SmallProduct<T>::is_compact(product(few, all)));
    multiply(product(many, whole));
    multiply(product(few, all));
    whole.resize(all.size());
    EXPECT_TRUE(this->are_equal(all, whole)) << "seed " << this->seed;
    const SmallProduct<T> pieces(product(few, shared), setup<T>(0), true);
    ASSERT_GT(pieces.chunks(), 1);
    SharedWork chunks(pieces.chunks(), 1);
    Team first(chunks), second(chunks, nullptr, 1, true);
    pieces.work(second);
    pieces.work(first);
    EXPECT_TRUE(this->are_equal(shared, whole)) << "seed " << this->seed;
}

/// So are an A by rows, and few rows beside a B by rows, of real numbers, whose C is turned: the bits of as many among many.
TYPED_TEST(FewColumnsOf, AreMadeSoOfOperandsByRows)
{
    using T = TypeParam;
    const MicroKernel<T>& kernel = micro_kernel<T>();
    const BlockSizes& sizes = block_sizes<T>(0);
    const Index large = 30 * kernel.mr + kernel.step, few = kernel.nr + 1, many = 20 * kernel.mr,
                k = 5 * sizes.kc * sizes.mc / large + 13;
    for (const bool rows : {false, true}) {
        if (rows && is_complex<T>) continue; // sums would have other bits
        const Index m = rows ? many : large, n = rows ? large : many;
        Framed<T> A(rows ? m : k, rows ? k : m, 3, this->random), B(rows ? n : k, rows ? k : n, 1, this->random);
        std::vector<T> whole(std::size_t(m * n)), part(std::size_t(rows ? few * n : m * few)), shared = part;
        const auto product = [&](Index of_many, std::vector<T>& C) {
            return Product<T>{rows ? of_many : m,
                              rows ? n : of_many,
                              k,
                              T(0.5),
                              general(A.data(), A.ld, rows ? Op::none : Op::trans),
                              general(B.data(), B.ld, rows ? Op::trans : Op::none),
                              T(0),
                              C.data(),
                              1,
                              rows ? of_many : m};
        };
        ASSERT_FALSE(FewColumns<T>::suits(product(many, whole)));
        ASSERT_TRUE(FewColumns<T>::suits(product(few, part)));
        multiply(product(many, whole));
        multiply(product(few, part));
        const SmallProduct<T> pieces(product(few, shared), setup<T>(0), true);
        ASSERT_GT(pieces.chunks(), 1);
        for (Index c = pieces.chunks(); c-- > 0;) pieces.work(c, c + 1);
        std::vector<T> expected;
        for (Index j = 0; j < (rows ? n : few); ++j)
            expected.insert(expected.end(), whole.begin() + j * m, whole.begin() + j * m + (rows ? few : m));
        EXPECT_TRUE(this->are_equal(part, expected)) << rows << ", seed " << this->seed;
        EXPECT_TRUE(this->are_equal(shared, expected)) << rows << ", seed " << this->seed;
    }
}

/// Who must have all memory before C is touched asks for it so.
TYPED_TEST(FewColumnsOf, TakeNoMoreThanTheySay)
{
    using T = TypeParam;
    for_all_setups([&](const std::string& where) {
        const Setup<T> with = setup<T>();
        for (int turn = 0; turn < 200; ++turn) {
            const Index m = 1 + this->random() % 700, n = 1 + this->random() % 40;
            typename TestFixture::Operands at(m, n, 1, *this);
            ASSERT_LE(FewColumns<T>(at.x, with).numbers(), FewColumns<T>::most_numbers(with, n))
                << where << ", " << m << " x " << n << ", " << (at.x.A.rs == 1 ? "columns" : "rows") << " of A, C "
                << (at.by_rows ? "by rows" : "by columns");
        }
    });
}

/// A large A counts, and how narrow C is; for half a panel of complex numbers the latter alone.
TYPED_TEST(FewColumnsOf, AreNoneOfManyOrOfASmallA)
{
    using T = TypeParam;
    const BlockSizes& sizes = block_sizes<T>(0);
    const Index nr = micro_kernel<T>().nr, m = 1000, large = 4 * sizes.kc * sizes.mc / m;
    T x = 0;
    const auto suits = [&](Index n, Index k, Op op = Op::none) {
        return FewColumns<T>::suits({m, n, k, T(1), general(&x, m, op), general(&x, k), T(0), &x, 1, m});
    };
    EXPECT_TRUE(suits(nr, large));
    EXPECT_FALSE(suits(nr, large / 8));
    EXPECT_FALSE(suits(4 * nr, large));
    EXPECT_TRUE(suits(nr, 2 * large, Op::trans));
    EXPECT_FALSE(suits(2 * nr, 2 * large, Op::trans));
    EXPECT_EQ(suits(nr / 2, 3), is_complex<T>);
}

} // namespace
} // namespace trencadis::blas
