#include "blas/level3/packing.hpp"

#include "blas/testing/images.hpp"
#include "matrix/conjugate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

namespace trencadis::blas {
namespace {

using testing::Image;

/// A square matrix in memory with rows and columns in any order; what an operand's structure does not store is NaN.
template <Scalar T> struct Stored {
    Stored(Index n, Index rs, Index cs, std::mt19937& random)
        : n(n), rs(rs), cs(cs), memory(n * std::max(std::abs(rs), std::abs(cs)) + 1)
    {
        std::uniform_real_distribution<Real<T>> uniform(-1, 1);
        for (T& x : memory) {
            if constexpr (is_complex<T>) x = {uniform(random), uniform(random)};
            else x = uniform(random);
        }
        first = memory.data() + (rs < 0 ? -rs * (n - 1) : 0) + (cs < 0 ? -cs * (n - 1) : 0);
    }
    void forget_what_is_not_stored(const Operand<T>& A)
    {
        if (A.structure == Structure::general) return;
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < n; ++i) {
                const bool other_triangle = A.uplo == Uplo::lower ? i < j : i > j;
                const bool unit = i == j && A.structure == Structure::triangular && A.diag == Diag::unit;
                if (other_triangle || unit) first[i * rs + j * cs] = T(std::numeric_limits<Real<T>>::quiet_NaN());
            }
    }
    Index n, rs, cs;
    std::vector<T> memory;
    T* first;
};

/// What element (i, j) of the whole matrix means.
template <Scalar T> T meaning(const Operand<T>& whole, Index i, Index j)
{
    const auto read = [&](Index r, Index c) {
        const T x = whole.data[r * whole.rs + c * whole.cs];
        return whole.conjugated ? conjugate(x) : x;
    };
    if (whole.structure == Structure::general) return read(i, j);
    const bool is_stored = whole.uplo == Uplo::lower ? i > j : i < j;
    if (whole.structure == Structure::triangular) {
        if (i == j) return whole.diag == Diag::unit ? T(1) : read(i, j);
        return is_stored ? read(i, j) : T(0);
    }
    if (i == j) return whole.structure == Structure::hermitian ? T(std::real(read(i, i))) : read(i, i);
    if (is_stored) return read(i, j);
    return whole.structure == Structure::hermitian ? conjugate(read(j, i)) : read(j, i);
}

/// Element (i, p) of a packed operand whose panels are `height` rows high at row i's panel.
template <Scalar T>
T packed_element(const MicroKernel<T>& kernel, bool left, const Real<T>* image, Index extent, Index k, Index i, Index p)
{
    const Index width = left ? kernel.mr : kernel.nr, first = i / width * width;
    const Index height = left ? kernel.height(extent - first) : kernel.nr;
    const Real<T>* const column = image + planes<T> * (first * k + p * height);
    if constexpr (!is_complex<T>) return column[i - first];
    else if (left) return {column[i - first], column[height + i - first]};
    else return {column[2 * (i - first)], column[2 * (i - first) + 1]};
}

template <class T> class Packing : public ::testing::Test {
public:
    /// Packs the block of `whole` at (i0, j0) both ways and compares every element, padding included.
    static void check(const InstructionSet& set, const Operand<T>& whole, Index i0, Index j0, Index rows, Index cols)
    {
        const MicroKernel<T>& kernel = set.micro_kernel<T>();
        const Operand<T> block = whole.block(i0, j0);
        for (const bool left : {true, false}) {
            const Index extent = left ? rows : cols, depth = left ? cols : rows;
            Image<Real<T>> image(left ? kernel.left_size(rows, cols) : kernel.right_size(rows, cols));
            if (left) pack_left(kernel, block, rows, cols, image.data);
            else pack_right(kernel, block, rows, cols, image.data);
            ASSERT_FALSE(image.overrun());
            const Index padded = left ? kernel.padded_rows(extent) : kernel.padded_cols(extent);
            for (Index i = 0; i < padded; ++i)
                for (Index p = 0; p < depth; ++p) {
                    const T expected = i >= extent ? T(0)
                                       : left      ? meaning(whole, i0 + i, j0 + p)
                                                   : meaning(whole, i0 + p, j0 + i);
                    ASSERT_EQ(packed_element(kernel, left, image.data, extent, depth, i, p), expected)
                        << set.name << (left ? " left" : " right") << " structure " << int(whole.structure) << " uplo "
                        << int(whole.uplo) << " strides " << whole.rs << ',' << whole.cs << " conjugated " << whole.conjugated
                        << " block at " << i0 << ',' << j0 << " of " << rows << " x " << cols << " element " << i << ',' << p;
                }
        }
    }
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Packing, Scalars);

constexpr Structure structures[] = {Structure::general, Structure::symmetric, Structure::hermitian, Structure::triangular};
constexpr Index n = 70;
constexpr std::pair<Index, Index> orders[] = {{1, n + 3}, {n + 1, 1}, {2, 2 * n}, {-1, n}, {n, -1}, {-n, 1}, {-1, -n}};

TYPED_TEST(Packing, OfEveryStructureIsWhatItsElementsMean)
{
    using T = TypeParam;
    std::mt19937 random(31);
    for (const InstructionSet* set : instruction_set_entries()) {
        if (!set->runs_here()) continue;
        for (const Structure structure : structures)
            for (const auto& [rs, cs] : orders)
                for (const Uplo uplo : {Uplo::lower, Uplo::upper})
                    for (const bool conjugated : {false, true})
                        for (const auto& [i0, j0, rows, cols] :
                             {std::array<Index, 4>{0, 0, n, n}, {3, 20, 50, 33}, {40, 1, 29, 60}}) {
                            Stored<T> memory(n, rs, cs, random);
                            Operand<T> whole{memory.first, rs, cs, conjugated && is_complex<T>, structure, uplo};
                            whole.diag = conjugated ? Diag::unit : Diag::non_unit;
                            memory.forget_what_is_not_stored(whole);
                            TestFixture::check(*set, whole, i0, j0, rows, cols);
                            if (::testing::Test::HasFatalFailure()) return;
                        }
    }
}

TYPED_TEST(Packing, TakesEverySizeUpToThreePanels)
{
    using T = TypeParam;
    std::mt19937 random(32);
    for (const InstructionSet* set : instruction_set_entries()) {
        if (!set->runs_here()) continue;
        for (const auto& [rs, cs] : {std::pair<Index, Index>{1, n}, {n, 1}, {n, -1}, {-n, 1}})
            for (Index rows = 0; rows <= n; rows += rows < 34 ? 1 : 7)
                for (const Index cols : {0, 1, 3, 7, 8, 15, 17, 33}) {
                    Stored<T> memory(n, rs, cs, random);
                    TestFixture::check(*set, Operand<T>{memory.first, rs, cs}, 0, 0, rows, cols);
                    TestFixture::check(*set, Operand<T>{memory.first, rs, cs}, 0, 0, cols, rows);
                    if (::testing::Test::HasFatalFailure()) return;
                }
    }
}

/// What is more than stays in the first caches is packed some columns at a time.
TYPED_TEST(Packing, TakesSizesOfWhichSomeColumnsArePackedForManyPanels)
{
    using T = TypeParam;
    constexpr Index size = 300;
    std::mt19937 random(34);
    for (const InstructionSet* set : instruction_set_entries()) {
        if (!set->runs_here()) continue;
        for (const auto& [rs, cs] : {std::pair<Index, Index>{1, size}, {size, 1}}) {
            const Stored<T> memory(size, rs, cs, random);
            for (const bool conjugated : {false, true})
                TestFixture::check(*set, Operand<T>{memory.first, rs, cs, conjugated && is_complex<T>}, 1, 2, size - 3, size - 5);
            if (::testing::Test::HasFatalFailure()) return;
        }
    }
}

TYPED_TEST(Packing, IsUndoneByUnpackingWhichTouchesNothingElse)
{
    using T = TypeParam;
    std::mt19937 random(33);
    for (const InstructionSet* set : instruction_set_entries()) {
        if (!set->runs_here()) continue;
        const MicroKernel<T>& kernel = set->micro_kernel<T>();
        for (const auto& [rs, cs] : orders)
            for (const auto& [rows, cols] :
                 {std::pair<Index, Index>{n - 1, n - 2}, {kernel.mr, 8}, {1, 1}, {kernel.mr + 1, 5}, {0, 4}}) {
                const Stored<T> from(n, rs, cs, random);
                Stored<T> to(n, rs, cs, random);
                auto expected = to.memory;
                for (Index j = 0; j < cols; ++j)
                    for (Index i = 0; i < rows; ++i) {
                        const Index at = to.first - to.memory.data() + i * rs + j * cs;
                        expected[at] = from.memory[at];
                    }
                Image<Real<T>> image(kernel.left_size(rows, cols));
                pack_left(kernel, Operand<T>{from.first, rs, cs}, rows, cols, image.data);
                unpack_left(kernel, image.data, rows, cols, to.first, rs, cs);
                ASSERT_EQ(to.memory, expected) << set->name << " strides " << rs << ',' << cs << " of " << rows << " x " << cols;
            }
    }
}

} // namespace
} // namespace trencadis::blas
