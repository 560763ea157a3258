#include "blas/level3/macro_kernel.hpp"
#include "blas/level3/packing.hpp"
#include "blas/testing/framed.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace trencadis::blas {
namespace {

using testing::Framed;

template <class T> class ProductsInPlace : public ::testing::Test {
protected:
    struct Free {
        void operator()(T* image) const { std::free(image); }
    };
    using Image = std::unique_ptr<T, Free>;
    static Image image(Index size) { return Image(static_cast<T*>(std::aligned_alloc(64, (size * sizeof(T) + 127) / 64 * 64))); }

    /// Panels with operands where they lie, NaN between the columns and behind each a page that nobody may touch, and packed.
    void compare(const InstructionSet& set, Index rows, Index panels, Index cols, Index k, bool by_columns)
    {
        const MicroKernel<T>& kernel = set.micro_kernel<T>();
        const Index m = rows * panels, ld = m + 1;
        Framed<T> A(m, k, Index(drawn() % 3), drawn);
        Framed<T> B(by_columns ? k : cols, by_columns ? cols : k, Index(drawn() % 3), drawn);
        const Operand<T> left = general<T>(A.data(), A.ld), right = general<T>(B.data(), B.ld, by_columns ? Op::none : Op::trans);
        const Image of_left = image(kernel.left_size(m, k)), of_right = image(kernel.right_size(k, cols));
        pack_left(kernel, left, m, k, of_left.get());
        pack_right(kernel, right, k, cols, of_right.get());
        const T alpha = T(1 + drawn() % 2), beta = T(drawn() % 3);
        std::vector<T> expected(std::size_t(ld * (cols + 1)));
        for (T& x : expected) x = testing::random_element<T>(drawn);
        std::vector<T> C = expected;
        multiply_packed<T>(kernel, 512, Part::all, 0, alpha, {of_left.get(), m, k}, 0, m, {of_right.get(), cols, k}, 0, cols,
                           beta, expected.data(), 1, ld);
        kernel.multiply_in_place({.rows = rows,
                                  .cols = cols,
                                  .k = k,
                                  .A = A.data(),
                                  .a_step = A.ld,
                                  .B = B.data(),
                                  .b_rs = right.rs,
                                  .b_cs = right.cs,
                                  .alpha = alpha,
                                  .beta = beta,
                                  .C = C.data(),
                                  .cs = ld,
                                  .panels = panels,
                                  .fetching = Fetching(drawn() % 3)});
        ASSERT_EQ(C, expected) << set.name << ' ' << panels << " of " << rows << " x " << cols << " x " << k << ' ' << by_columns;
    }

    std::mt19937 drawn{52};
};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ProductsInPlace, Reals);

TYPED_TEST(ProductsInPlace, GiveTheBitsOfPackedOnes)
{
    for (const InstructionSet* set : instruction_set_entries()) {
        if (!set->runs_here()) continue;
        const auto& kernel = set->micro_kernel<TypeParam>();
        for (Index rows = 1; rows <= kernel.mr; ++rows) {
            if (!kernel.reads_any_rows && rows % kernel.step != 0) continue;
            for (const Index cols : {Index(1), kernel.nr, kernel.nr + 1, 3 * kernel.nr - 1})
                for (const Index k : {1, 8, 63, 64, 130})
                    for (const Index panels : {1, 3})
                        for (const bool by_columns : {true, false}) this->compare(*set, rows, panels, cols, k, by_columns);
        }
    }
}

} // namespace
} // namespace trencadis::blas
