#include "blas/level3/small_product.hpp"

#include "blas/testing/framed.hpp"
#include "blas/testing/reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

namespace trencadis::blas {
namespace {

using testing::Framed;
using testing::random_element;

template <class T> class SmallProducts : public ::testing::Test {
protected:
    unsigned seed = std::random_device{}();
    std::mt19937 random{seed};
    const MicroKernel<T>& kernel = instruction_set().micro_kernel<T>();

    bool either() { return random() % 2; }
    void make_in_any_order(const SmallProduct<T>& product)
    {
        std::vector<Index> order(std::size_t(product.chunks()));
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random);
        for (const Index c : order) product.work(c, c + 1);
    }
    /// Two from the beginning and two from the end, each of whom keeps the panel that it has packed last.
    static void make_by_members(const SmallProduct<T>& product)
    {
        SharedWork chunks(product.chunks(), 1);
        std::vector<std::thread> members;
        for (int i = 0; i < 4; ++i)
            members.emplace_back([&chunks, &product, i] {
                Team team(chunks, nullptr, 1, i % 2 == 1);
                product.work(team);
            });
        for (std::thread& member : members) member.join();
    }
    /// A product of random operands in any place, whose chunks are done in any order: what the definition gives.
    void expect_definition(Index m, Index n, Index k, bool shared)
    {
        // Instruction sets that cannot read some numbers of a vector read whole panels of complex numbers.
        const bool by_columns = either() && (!is_complex<T> || kernel.reads_any_rows || m % kernel.step == 0);
        expect_product(m, n, k, by_columns, std::array{Op::none, Op::trans, Op::conj_trans}[random() % 3], shared);
    }
    void expect_product(Index m, Index n, Index k, bool by_columns, Op op_b, bool shared)
    {
        const Op op_a = by_columns ? Op::none : Op::trans;
        const bool conjugate_a = is_complex<T> && either();
        Framed<T> A(by_columns ? m : k, by_columns ? k : m, random() % 4 + !by_columns, random), // rows are not columns, too
            B(op_b == Op::none ? k : n, op_b == Op::none ? n : k, random() % 4, random), C(m, n, random() % 4, random);
        const T alpha = either() ? T(1) : random_element<T>(random),
                beta = either() ? T(Real<T>(random() % 2)) : random_element<T>(random);
        if (beta == T(0)) std::fill(C.memory.all().begin(), C.memory.all().end(), T(NAN)); // is not read
        const std::vector<T> before(C.memory.all().begin(), C.memory.all().end());
        Product<T> x{m, n, k, alpha, general(A.data(), A.ld, op_a), general(B.data(), B.ld, op_b), beta, C.data(), 1, C.ld};
        if (conjugate_a) x.A = x.A.conjugate();
        ASSERT_TRUE(SmallProduct<T>::fits(x));
        if (shared || either() || !SmallProduct<T>::made_at_once(x, setup<T>(0))) {
            const SmallProduct<T> product(x, setup<T>(0), shared);
            if (shared && either()) make_by_members(product);
            else make_in_any_order(product);
        }
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < (j + 1 < n ? C.ld : m); ++i) {
                const T got = C.memory[std::size_t(i + j * C.ld)], old = before[std::size_t(i + j * C.ld)];
                if (i >= m) {
                    ASSERT_EQ(std::isnan(std::real(got)), std::isnan(std::real(old))) << "padding was written";
                    continue;
                }
                using Wide = std::conditional_t<is_complex<T>, std::complex<double>, double>;
                const auto element = [](const Operand<T>& of, Index r, Index c) {
                    const T x = of.data[r * of.rs + c * of.cs];
                    if constexpr (is_complex<T>) return Wide(of.conjugated ? std::conj(x) : x);
                    else return Wide(x);
                };
                Wide sum = 0;
                for (Index p = 0; p < k; ++p) sum += element(x.A, i, p) * element(x.B, p, j);
                const Wide expected = Wide(alpha) * sum + (beta == T(0) ? Wide(0) : Wide(beta) * Wide(old));
                // k roundings of sums below k (complex: of two products each), and three more.
                ASSERT_LE(std::abs(Wide(got) - expected), (is_complex<T> ? 8 : 1) * double(k + 3) * double(k + 2) *
                                                              double(std::numeric_limits<Real<T>>::epsilon()))
                    << m << " x " << n << " x " << k << " at " << i << ", " << j << ", seed " << seed;
            }
    }
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(SmallProducts, Scalars);
template <class T> class LargerSmallProducts : public SmallProducts<T> {
};
using RealTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(LargerSmallProducts, RealTypes);

/// Every edge of the panels.
TYPED_TEST(SmallProducts, AreDoneInChunksOfAnyOrder)
{
    using T = TypeParam;
    const MicroKernel<T>& kernel = this->kernel;
    const Index mr = kernel.mr, nr = kernel.nr, widest = is_complex<T> ? kernel.widest_in_place : 128,
                by_planes = is_complex<T> ? kernel.widest_by_planes * 2 / 3 : 128; // of a B by rows
    const std::vector<Index> heights{1, 2, nr - 1, nr, nr + 1, mr - 1, mr, mr + 1, 3 * mr + 5, 128, 7 * mr + 5},
        widths{1, 2, nr - 1, nr, nr + 1, widest, 4 * nr, 4 * nr + 1, by_planes},
        depths{1, 2, nr + 1, mr - 1, mr + 1, is_complex<T> ? 2 * widest : widest};
    const auto any = [&](const std::vector<Index>& of) { return of[this->random() % of.size()]; };
    for (int round = 0; round < 300 && !this->HasFatalFailure(); ++round) {
        const Index m = any(heights), n = any(widths), k = std::min(any(depths), n <= widest ? 2 * widest : by_planes);
        this->expect_definition(m, n, k, this->random() % 3 != 0);
    }
}

/// Those whose B the second cache does not hold are cut into pieces of columns for one core, too.
TYPED_TEST(LargerSmallProducts, KeepPiecesOfB)
{
    for (const bool shared : {false, true})
        for (const auto& [m, n, k] : {std::array<Index, 3>{41, 390, 401}, {50, 630, 250}, {25, 300, 640}})
            this->expect_definition(m, n, k, shared);
}

/// One core takes some columns for all panels of A where C does not stay in the second cache (here a small one), or where few
/// rows meet a long B.
TYPED_TEST(LargerSmallProducts, TakeColumnsForAllPanels)
{
    const MicroKernel<TypeParam>& kernel = this->kernel;
    const ForcedSetup forced(instruction_set(), {200, 4 * kernel.mr, 4080});
    for (const auto& [m, n, k] :
         {std::array<Index, 3>{7 * kernel.mr + 5, 430, 20}, {333, 301, 33}, {2 * kernel.mr + 3, 300, 170}, {1, 500, 390}})
        this->expect_definition(m, n, k, false);
}

/// Of an A of m rows that the second cache does not hold.
template <class T> Index depth_beyond_the_cache(Index m) { return block_sizes<T>().kc * block_sizes<T>().mc / m + 100; }

/// A large A is read once for few columns, of B and of C.
TYPED_TEST(LargerSmallProducts, ReadALargeAForFewColumns)
{
    const MicroKernel<TypeParam>& kernel = this->kernel;
    const Index m = 13 * kernel.mr + (kernel.reads_any_rows ? 5 : kernel.step);
    for (const bool shared : {false, true})
        for (const Index n : {Index(1), kernel.nr - 1, kernel.nr + 2, 4 * kernel.nr})
            this->expect_product(m, n, depth_beyond_the_cache<TypeParam>(m), true, Op::none, shared);
}

/// Whose bits are those of the same columns among many.
TYPED_TEST(LargerSmallProducts, HaveTheBitsOfManyColumns)
{
    using T = TypeParam;
    const MicroKernel<T>& kernel = this->kernel;
    // Deeper than what is small whatever the caches.
    const Index m = 9 * kernel.mr, k = std::max<Index>(700, depth_beyond_the_cache<T>(m)), few = kernel.nr + 1,
                many = 40 * kernel.nr;
    Framed<T> A(m, k, 3, this->random), B(k, many, 1, this->random), C(m, many, 0, this->random), D(m, few, 0, this->random);
    const auto product = [&](Index n, Framed<T>& to) {
        return Product<T>{m, n, k, T(0.5), general(A.data(), A.ld), general(B.data(), B.ld), T(0), to.data(), 1, to.ld};
    };
    ASSERT_FALSE(SmallProduct<T>::suits(product(many, C)));
    ASSERT_TRUE(SmallProduct<T>::suits(product(few, D)));
    multiply(product(many, C));
    multiply(product(few, D));
    EXPECT_TRUE(std::equal(D.data(), D.data() + m * few, C.data()));
    std::fill_n(D.data(), m * few, T(7));
    this->make_in_any_order(SmallProduct<T>(product(few, D), setup<T>(0), true));
    EXPECT_TRUE(std::equal(D.data(), D.data() + m * few, C.data()));
}

/// Panels of A are read in place or packed by how far its columns lie apart, and pieces of B are wide or narrow with it.
TYPED_TEST(LargerSmallProducts, HaveTheSameBitsHoweverFarTheColumnsLieApart)
{
    using T = TypeParam;
    const Index n = 430, farthest = 1024;
    std::vector<T> values(std::size_t(n * n)), B(std::size_t(n * n)), first;
    std::uniform_real_distribution<T> numbers(-1, 1);
    for (T& value : values) value = numbers(this->random);
    for (T& value : B) value = numbers(this->random);
    for (const Index ld : {n, Index(431), Index(432), Index(448), Index(512), farthest}) {
        std::vector<T> A(std::size_t(ld * n)), C(std::size_t(n * n));
        for (Index j = 0; j < n; ++j) std::copy_n(values.data() + j * n, n, A.data() + j * ld);
        const Product<T> x{n, n, n, T(1), general(A.data(), ld), general(B.data(), n), T(0), C.data(), 1, n};
        for (const bool shared : {false, true}) {
            const SmallProduct<T> product(x, setup<T>(0), shared);
            product.work(0, product.chunks());
            if (first.empty()) first = C;
            ASSERT_EQ(C, first) << "ld " << ld << (shared ? ", shared" : "") << ", seed " << this->seed;
        }
    }
}

/// Rows above the first that begins a line are made by themselves, and the others' panels begin elsewhere.
TYPED_TEST(LargerSmallProducts, HaveTheSameBitsWhereverALineBegins)
{
    using T = TypeParam;
    const Index line = 64 / Index(sizeof(T)), ld = 26 * line, m = ld - 3, n = 97, k = 111;
    std::vector<T> memory(std::size_t((k + 2) * ld)), B(std::size_t(k * n)), first;
    std::uniform_real_distribution<T> numbers(-1, 1);
    for (T& value : B) value = numbers(this->random);
    void* place = memory.data();
    std::size_t room = memory.size() * sizeof(T);
    T* const begin = static_cast<T*>(std::align(64, 1, place, room));
    for (Index offset = 0; offset < line; ++offset) {
        std::mt19937 same(this->seed);
        Framed<T> C(m, n, 3, this->random);
        std::fill(C.memory.all().begin(), C.memory.all().end(), T(NAN));
        for (Index j = 0; j < k; ++j)
            for (Index i = 0; i < m; ++i) begin[offset + i + j * ld] = numbers(same);
        const Product<T> x{m, n, k, T(1), general(begin + offset, ld), general(B.data(), k), T(0), C.data(), 1, C.ld};
        const SmallProduct<T> product(x, setup<T>(0), offset % 2);
        product.work(0, product.chunks());
        std::vector<T> got;
        for (Index j = 0; j < n; ++j) got.insert(got.end(), C.data() + j * C.ld, C.data() + j * C.ld + m);
        if (first.empty()) first = got;
        ASSERT_EQ(got, first) << offset << " numbers behind a line, seed " << this->seed;
    }
}

/// A task says into how many chunks it can be cut before anybody knows where its operands will lie.
TYPED_TEST(LargerSmallProducts, HaveAsManyChunksWhereverTheyLie)
{
    using T = TypeParam;
    T x = 0;
    for (const Index n : {40, 128, 304, 430, 512, 640})
        for (const Index ld : {Index(0), n + 1, Index(640), Index(1024)}) {
            const auto chunks = [&](Index lda) {
                return SmallProduct<T>({n, n, n, T(1), general(&x, lda), general(&x, n), T(0), &x, 1, n}, setup<T>(0), true)
                    .chunks();
            };
            EXPECT_EQ(chunks(ld), chunks(n)) << n << ", ld " << ld;
        }
}

template <class T> class ComplexSmallProducts : public SmallProducts<T> {
};
using ComplexTypes = ::testing::Types<std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(ComplexSmallProducts, ComplexTypes);

/// For many columns A is packed by planes, but for a low last panel; for few it stays in pairs.
TYPED_TEST(ComplexSmallProducts, HaveTheSameBitsByPlanesAndInPairs)
{
    using T = TypeParam;
    const MicroKernel<T>& kernel = this->kernel;
    const Index nr = kernel.nr, n = 4 * nr + 3, k = 2 * nr + 1;
    for (const Index m : {3 * kernel.mr, 2 * kernel.mr + kernel.step / 2, Index(2 * kernel.mr + 1)})
        for (const Op op_a : {Op::none, Op::trans, Op::conj_trans})
            for (const Op op_b : {Op::none, Op::trans, Op::conj_trans}) {
                if (op_a == Op::none && !kernel.reads_any_rows && m % kernel.step != 0) continue;
                Framed<T> A(op_a == Op::none ? m : k, op_a == Op::none ? k : m, 1, this->random),
                    B(op_b == Op::none ? k : n, op_b == Op::none ? n : k, 1, this->random);
                std::vector<T> whole(std::size_t(m * n)), parts(std::size_t(m * n));
                Product<T> x{m, n, k, T(2, 1), general(A.data(), A.ld, op_a), general(B.data(), B.ld, op_b), T(0), nullptr, 1, m};
                const auto make = [&](Index first, Index count, std::vector<T>& C) {
                    Product<T> some = x;
                    some.n = count;
                    some.B = x.B.block(0, first);
                    some.C = C.data() + first * m;
                    const SmallProduct<T> product(some, setup<T>(0), true);
                    product.work(0, product.chunks());
                };
                make(0, n, whole);
                for (Index j = 0; j < n; j += nr) make(j, std::min(nr, n - j), parts);
                ASSERT_EQ(whole, parts) << m << " rows, seed " << this->seed;
            }
}

/// Pairs are read by columns or by rows that are contiguous, forwards, and so a low panel may be.
TYPED_TEST(ComplexSmallProducts, AreNoneOfAThatLiesBackwards)
{
    using T = TypeParam;
    const Index n = 4 * this->kernel.nr;
    T x = 0;
    Product<T> product{n, n, n, T(1), general(&x, n), general(&x, n), T(0), &x, 1, n};
    EXPECT_TRUE(SmallProduct<T>::fits(product));
    product.A.rs = -1;
    product.A.cs = -n;
    EXPECT_FALSE(SmallProduct<T>::fits(product));
}

TEST(SmallProduct, IsNoneOfComplexNumbersThatIsLarge)
{
    std::complex<double> x = 0;
    const Index widest = instruction_set().z.widest_in_place, many = 1 << 20; // whole vectors
    const auto suits = [&](Index n, Index k, Op op) {
        const Index ld = op == Op::none ? many : k;
        return SmallProduct<std::complex<double>>::suits(
            {many, n, k, 1.0, general(&x, ld, op), general(&x, k), 0.0, &x, 1, many});
    };
    EXPECT_TRUE(suits(widest, 4 * widest, Op::none));
    EXPECT_TRUE(suits(widest, 2 * widest, Op::trans));
    const Index by_planes = instruction_set().z.widest_by_planes;
    EXPECT_TRUE(suits(by_planes, by_planes, Op::none));
    EXPECT_FALSE(suits(by_planes + 8, 8, Op::none));
    EXPECT_TRUE(suits(8, std::max(4 * widest, by_planes) + 8, Op::none)); // few columns (FewColumns)
    EXPECT_FALSE(suits(4 * instruction_set().z.nr, std::max(4 * widest, by_planes) + 8, Op::none));
    EXPECT_FALSE(suits(4 * instruction_set().z.nr, std::max(2 * widest, by_planes) + 8, Op::trans));
}

TEST(SmallProduct, IsNoneThatHasStructureOrIsLarge)
{
    double x = 0;
    Product<double> product{10, 10, 10, 1.0, general(&x, Index(10)), general(&x, Index(10)), 0.0, &x, 1, 10};
    EXPECT_TRUE(SmallProduct<double>::suits(product));
    product.k = 1000; // with so few rows a B that lies by columns is not packed
    EXPECT_TRUE(SmallProduct<double>::suits(product));
    product.m = 1000, product.n = 200;
    EXPECT_FALSE(SmallProduct<double>::suits(product));
    product.m = product.n = 10;
    product.B = general(&x, Index(10), Op::trans);
    EXPECT_EQ(SmallProduct<double>::suits(product), micro_kernel<double>().fetches_columns);
    product.k = 10;
    product.part = Part::lower;
    EXPECT_FALSE(SmallProduct<double>::suits(product));
}

/// A large A is read where it lies for as many columns as have a B that the second cache holds, or a piece of it. A B by rows is
/// read so where the kernel fetches them.
TEST(SmallProduct, IsOneOfFewColumnsBesideALargeA)
{
    const blas::Setup<double> with = setup<double>(0);
    const Index nr = with.kernel.nr, most = 16 * nr, deepest = with.tree[Loop::pc] * with.tree[Loop::ic] / most;
    constexpr Index low = 384, ld = 1001; // any product as low is made where its operands lie
    if (deepest < low + 10)
        GTEST_SKIP() << "the second cache holds no more than " << deepest << " rows of " << most << " columns";
    double x = 0;
    const auto product = [&](Index n, Index k, Op op = Op::none) {
        const Operand<double> B = general(&x, op == Op::none ? k : ld, op);
        return Product<double>{1000, n, k, 1.0, general(&x, ld), B, 0.0, &x, 1, ld};
    };
    EXPECT_TRUE(SmallProduct<double>::suits(product(4 * nr, deepest)));
    EXPECT_TRUE(SmallProduct<double>::suits(product(most, deepest)));
    EXPECT_FALSE(SmallProduct<double>::suits(product(most, deepest + 1)));
    EXPECT_FALSE(SmallProduct<double>::suits(product(32 * nr + 1, low + 1)));
    const bool by_rows = with.kernel.fetches_columns;
    EXPECT_EQ(SmallProduct<double>::suits(product(most / 2, deepest, Op::trans)), by_rows);
    EXPECT_EQ(depth_in_place(product(most, deepest), with), 0) << "as a whole";
    EXPECT_GT(depth_in_place(product(most, 4 * deepest), with), 0);
    EXPECT_EQ(depth_in_place(product(most, 4 * deepest, Op::trans), with) > 0, by_rows);
    EXPECT_EQ(depth_in_place(product(32 * nr + 1, 4 * deepest), with), 0);
}

/// Likewise a long B by rows beside few rows, where its rows have sets of their own.
TEST(SmallProduct, IsOneOfFewRowsBesideALongBByRows)
{
    const blas::Setup<double> with = setup<double>(0);
    const Index m = 4 * with.kernel.mr, deepest = with.tree[Loop::pc] * with.tree[Loop::ic] / (2 * m);
    double x = 0;
    const auto product = [&](Index k, Index ld) {
        return Product<double>{m, 2000, k, 1.0, general(&x, m), general(&x, ld, Op::trans), 0.0, &x, 1, m};
    };
    const bool by_rows = with.kernel.fetches_columns;
    EXPECT_EQ(SmallProduct<double>::suits(product(deepest, 2001)), by_rows);
    EXPECT_FALSE(SmallProduct<double>::suits(product(deepest, 2048)));
    EXPECT_EQ(depth_in_place(product(8 * deepest, 2001), with) > 0, by_rows);
    EXPECT_EQ(depth_in_place(product(8 * deepest, 2048), with), 0);
}

/// Rows of B a power of two apart share a few sets of the caches, and deep panels of it fill the first one (of 80 KiB at most,
/// here): each panel of A would drive them out, where there are several.
TEST(SmallProduct, IsNoneWhosePanelsOfADriveOutTheRowsOfB)
{
    double x = 0;
    const auto suits = [&](Index m, Index n, Index k, Index ld, Op op) {
        return SmallProduct<double>::suits({m, n, k, 1.0, general(&x, ld), general(&x, ld, op), 0.0, &x, 1, ld});
    };
    EXPECT_TRUE(suits(512, 512, 512, 512, Op::none));
    EXPECT_FALSE(suits(512, 512, 512, 512, Op::trans));
    EXPECT_FALSE(suits(640, 640, 640, 648, Op::trans));
    EXPECT_TRUE(suits(8, 640, 640, 648, Op::trans));
    EXPECT_FALSE(suits(640, 640, 240, 1024, Op::trans));
    EXPECT_TRUE(suits(640, 640, 240, 1032, Op::trans));
    EXPECT_TRUE(suits(128, 128, 128, 128, Op::trans));
    EXPECT_FALSE(suits(641, 641, 641, 641, Op::none));
}

/// A core alone goes through several pieces of columns with each panel of A; of these a packed panel stays for some only. Half of
/// a second cache of 2 MiB: 384 x 336 numbers.
TEST(SmallProductsOfOneCore, DoNotPackPanelsAnewForEachPiece)
{
    const ForcedSetup forced(instruction_set(), {384, 336, 4080});
    const auto packs_again = [](Index n, Index ld, Op op) {
        double place = 0; // nothing is read
        const Product<double> x{n, n, n, 1, general(&place, ld, op), general(&place, ld), 1, &place, 1, ld};
        return SmallProduct<double>(x, setup<double>(0), false).packs_again();
    };
    EXPECT_TRUE(packs_again(512, 512, Op::none));  // columns share few sets of the caches
    EXPECT_FALSE(packs_again(400, 400, Op::none)); // they do not
    EXPECT_FALSE(packs_again(256, 512, Op::none)); // all columns are one piece
    EXPECT_TRUE(packs_again(500, 500, Op::trans)); // rows are packed anyway
    EXPECT_FALSE(packs_again(300, 300, Op::trans));
}

/// A column or more for each page: what is packed is in few.
TEST(SmallProductsOfOneCore, AreNoneWhoseOperandsLieInMorePagesThanACoreHasAtHand)
{
    const ForcedSetup forced(instruction_set(), {384, 336, 4080});
    const auto packs_again = [](Index n, Index ld, bool shared) {
        double place = 0; // nothing is read
        const Product<double> x{n, n, n, 1, general(&place, ld), general(&place, ld), 1, &place, 1, ld};
        return SmallProduct<double>(x, setup<double>(0), shared).packs_again();
    };
    EXPECT_FALSE(packs_again(416, 416, false));
    EXPECT_TRUE(packs_again(432, 432, false));
    EXPECT_TRUE(packs_again(392, 1000, false));
    EXPECT_TRUE(packs_again(392, 100000, false));
    EXPECT_FALSE(packs_again(600, 600, true)) << "several would wait for one another";
}

/// All of A is read for every few columns of a C that the second cache does not hold: it has to stay there.
TEST(SmallProductsOfOneCore, AreNoneWhoseAIsReadFromFarther)
{
    const ForcedSetup forced(instruction_set(), {384, 336, 4080});
    const auto packs_again = [](Index m, Index n, Index k, Op op) {
        double place = 0; // nothing is read
        const Product<double> x{m, n, k, 1, general(&place, op == Op::none ? m : k, op), general(&place, k), 1, &place, 1, m};
        return SmallProduct<double>(x, setup<double>(0), false).packs_again();
    };
    EXPECT_FALSE(packs_again(1000, 1000, 32, Op::none));
    EXPECT_FALSE(packs_again(1000, 1000, 32, Op::trans)); // packed once, as a whole
    EXPECT_FALSE(packs_again(1024, 1000, 32, Op::none));  // likewise
    EXPECT_TRUE(packs_again(1500, 1500, 96, Op::none));
    EXPECT_FALSE(packs_again(1500, 50, 96, Op::none)); // C stays
}

} // namespace
} // namespace trencadis::blas
