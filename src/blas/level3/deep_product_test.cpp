#include "blas/level3/deep_product.hpp"

#include "blas/testing/reference.hpp"

#include <thread>

namespace trencadis::blas {
namespace {

using namespace testing;

template <class T> class DeepProducts : public ::testing::Test {
protected:
    static constexpr Index depth = 16;
    Random random{71};

    /// By the members that `take` lets work, in pieces of a depth that the product itself is cut by, too.
    template <class Take>
    void expect_bits_of_the_whole(Index m, Index n, Index pieces, Part part, T alpha, T beta, const Take& take)
    {
        const ForcedSetup forced(instruction_set(), {depth, 48, 480});
        const Index k = pieces * depth - 3;
        const auto A = random_matrix<T>(random, m, k), B = random_matrix<T>(random, k, n);
        const auto before = random_matrix<T>(random, m, n);
        auto wanted = before, got = before;
        Product<T> x{
            m, n,         k,   alpha, general(A.data.data(), A.ld), general(B.data.data(), B.ld), beta, wanted.data.data(),
            1, wanted.ld, part};
        multiply(x);
        x.C = got.data.data();
        DeepProduct<T> deep(x, depth);
        ASSERT_EQ(deep.chunks(), pieces);
        SharedWork work(pieces, 1);
        take(deep, work);
        deep.finish();
        for (Index j = 0; j < n; j += 5) deep.add(j, std::min<Index>(5, n - j));
        // NaNs lie between columns.
        EXPECT_EQ(std::memcmp(wanted.data.data(), got.data.data(), got.data.size() * sizeof(T)), 0)
            << m << " x " << n << ", " << pieces << " pieces, part " << int(part);
    }
    template <class Take> void expect_bits_in_all_parts(const Take& take)
    {
        for (const T beta : {T(0), T(1), T(Real<T>(0.7))})
            for (const Index pieces : {2, 5, 9}) {
                expect_bits_of_the_whole(37, 23, pieces, Part::all, random.number<T>(), beta, take);
                expect_bits_of_the_whole(29, 29, pieces, Part::lower, random.number<T>(), beta, take);
                expect_bits_of_the_whole(50, 50, pieces, Part::upper, T(1), beta, take);
            }
    }
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(DeepProducts, Scalars);

TYPED_TEST(DeepProducts, HaveTheBitsOfTheWholeByOneMemberOrTheOther)
{
    using Deep = DeepProduct<TypeParam>;
    this->expect_bits_in_all_parts([](Deep& deep, SharedWork& work) {
        Team own(work);
        deep.work(own);
    });
    this->expect_bits_in_all_parts([](Deep& deep, SharedWork& work) {
        Team joined(work, nullptr, 1, true); // from the end to the first one
        deep.work(joined);
    });
}

TYPED_TEST(DeepProducts, HaveTheBitsOfTheWholeByManyAtOnce)
{
    using Deep = DeepProduct<TypeParam>;
    for (int turn = 0; turn < 5; ++turn)
        this->expect_bits_in_all_parts([&](Deep& deep, SharedWork& work) {
            std::vector<std::thread> others;
            for (int member = 0; member < turn % 3 + 1; ++member)
                others.emplace_back([&] {
                    Team joined(work, nullptr, 1, true);
                    deep.work(joined);
                });
            Team own(work);
            deep.work(own);
            for (std::thread& other : others) other.join();
        });
}

/// Members that had no memory: whatever nobody has made is made in the end.
TYPED_TEST(DeepProducts, MakeInTheEndWhatWasLeft)
{
    using Deep = DeepProduct<TypeParam>;
    for (const bool from_the_first : {true, false})
        this->expect_bits_in_all_parts([&](Deep& deep, SharedWork& work) {
            from_the_first ? work.take() : work.take_last();
            Team own(work);
            deep.work(own);
        });
}

TYPED_TEST(DeepProducts, AreThoseOfSeveralPiecesAndASmallResult)
{
    using T = TypeParam;
    const auto with = setup<T>(0);
    const Index kc = with.tree[Loop::pc];
    const auto suits = [&](Index n, Index k, T alpha, Part part) {
        const Operand<T> A = general<T>(nullptr, n), B = general<T>(nullptr, k);
        return DeepProduct<T>::suits({n, n, k, alpha, A, B, T(1), nullptr, 1, n, part}, with);
    };
    EXPECT_TRUE(suits(20, 3 * kc, T(1), Part::all));
    EXPECT_FALSE(suits(20, kc, T(1), Part::all)) << "one piece";
    EXPECT_FALSE(suits(20, 3 * kc, T(0), Part::all)) << "nothing is added, and a zero may have a sign";
    EXPECT_FALSE(suits(300, 3 * kc, T(1), Part::all)) << "farther than the first cache";
    EXPECT_TRUE(suits(150, 3 * kc, T(1), Part::lower)) << "of a triangle";
    EXPECT_FALSE(suits(1000, 3 * kc, T(1), Part::lower));
    auto symmetric = general<T>(nullptr, 20);
    symmetric.structure = Structure::symmetric;
    EXPECT_FALSE(DeepProduct<T>::suits({20, 20, 3 * kc, T(1), symmetric, symmetric, T(1), nullptr, 1, 20}, with));
}

} // namespace
} // namespace trencadis::blas
