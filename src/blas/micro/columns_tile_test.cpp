#include "blas/level3/macro_kernel.hpp"
#include "blas/level3/packing.hpp"
#include "blas/testing/framed.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace trencadis::blas {
namespace {

using testing::Framed;

template <class T> class ColumnsWhereTheyLie : public ::testing::Test {
protected:
    using R = Real<T>;
    struct Free {
        void operator()(R* image) const { std::free(image); }
    };
    using Image = std::unique_ptr<R, Free>;
    static Image image(Index size) { return Image(static_cast<R*>(std::aligned_alloc(64, (size * sizeof(R) + 127) / 64 * 64))); }

    std::vector<T> matrix(Index elements)
    {
        std::vector<T> A(elements);
        for (T& x : A) x = testing::random_element<T>(drawn);
        return A;
    }
    /// One product with B packed and with B where it lies, NaN between its columns and behind it a page that nobody may touch.
    void compare(const InstructionSet& set, Index rows, Index cols, Index k, Part part)
    {
        const MicroKernel<T>& kernel = set.micro_kernel<T>();
        const auto A = matrix(rows * k);
        Framed<T> B(k, cols, Index(drawn() % 3), drawn);
        const Image left = image(kernel.left_size(rows, k)), right = image(kernel.right_size(k, cols));
        const Operand<T> lies = general<T>(B.data(), B.ld);
        pack_left(kernel, general(A.data(), rows), rows, k, left.get());
        pack_right(kernel, lies, k, cols, right.get());
        std::vector<T> expected = matrix(rows * cols), C = expected;
        const bool far = drawn() % 2;
        const T alpha = T(R(1 + drawn() % 2)), beta = T(R(drawn() % 3));
        const auto multiply = [&](const Packed<T>& of_B, T* to) {
            multiply_packed<T>(kernel, 256, part, 2, alpha, {left.get(), rows, k, Part::all, 0, far}, 0, rows, of_B, 0, cols,
                               beta, to, 1, rows);
        };
        multiply({right.get(), cols, k}, expected.data());
        multiply(where_it_lies(lies, k, cols), C.data());
        ASSERT_EQ(C, expected) << set.name << ' ' << rows << " x " << cols << " x " << k << " part " << int(part);
    }

    std::mt19937 drawn{51};
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(ColumnsWhereTheyLie, Scalars);

TYPED_TEST(ColumnsWhereTheyLie, GiveTheBitsOfPackedOnes)
{
    for (const InstructionSet* set : instruction_set_entries()) {
        if (!set->runs_here()) continue;
        const auto& kernel = set->micro_kernel<TypeParam>();
        for (const Index rows : {Index(1), kernel.mr + 1, 6 * kernel.mr, 9 * kernel.mr + 5})
            for (const Index cols : {Index(1), kernel.nr, kernel.nr + 1, 4 * kernel.nr - 1})
                for (const Index k : {1, 7, 8, 63, 64, 130, 265})
                    for (const Part part : {Part::all, Part::lower, Part::upper}) this->compare(*set, rows, cols, k, part);
    }
}

/// Where blocks of rows are few, columns long, and strides no such power of two that few sets of a cache have them.
TEST(ColumnsInPlace, StayWhereReadingThemAnewIsWorthIt)
{
    double place = 0; // nothing is read
    const auto stays = [&](Index rows, Index depth, Index ld, Op op = Op::none) {
        return stays_in_place(general<double>(&place, ld, op), rows, depth, 384, 336);
    };
    EXPECT_TRUE(stays(2000, 2000, 2000));
    EXPECT_TRUE(stays(2000, 192, 2000));
    EXPECT_FALSE(stays(2000, 100, 2000)) << "short columns";
    EXPECT_TRUE(stays(600, 100, 2000)) << "for few blocks of rows";
    EXPECT_FALSE(stays(2000, 2000, 4096)) << "lines that share sets";
    EXPECT_FALSE(stays(2000, 2000, 2000, Op::trans));
    const std::complex<double> other = 0;
    EXPECT_TRUE(stays_in_place(general(&other, 2000), 2000, 2000, 384, 336));
    EXPECT_FALSE(stays_in_place(general(&other, 2000).conjugate(), 2000, 2000, 384, 336));
}

} // namespace
} // namespace trencadis::blas
