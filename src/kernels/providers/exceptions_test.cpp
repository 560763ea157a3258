#include "blas/level3/control_tree.hpp"
#include "kernels/providers/provider.hpp"
#include "kernels/testing/exceptions.hpp"

namespace trencadis {
namespace {

/// Our own routines on the calling thread.
struct Direct {
    const KernelProvider& kernels = load_kernels("native");

    template <class... A> void gemm(A... a) const { kernels.gemm(a...); }
    template <class... A> void symm(A... a) const { kernels.symm(a...); }
    template <class... A> void hemm(A... a) const { kernels.hemm(a...); }
    template <class... A> void syrk(A... a) const { kernels.syrk(a...); }
    template <class... A> void herk(A... a) const { kernels.herk(a...); }
    template <class... A> void syr2k(A... a) const { kernels.syr2k(a...); }
    template <class... A> void her2k(A... a) const { kernels.her2k(a...); }
    template <class... A> void trmm(A... a) const { kernels.trmm(a...); }
    template <class... A> void trsm(A... a) const { kernels.trsm(a...); }
    template <class... A> void potrf(A... a) const { EXPECT_EQ(kernels.potrf(a...), 0); }
    template <class... A> void potrs(A... a) const { kernels.potrs(a...); }
    template <Scalar T> void posv(Uplo uplo, Index n, Index nrhs, T* A, Index lda, T* B, Index ldb) const
    {
        potrf(uplo, n, A, lda);
        potrs(uplo, n, nrhs, A, lda, B, ldb);
    }
    template <class... A> void getrf(A... a) const { EXPECT_EQ(kernels.getrf(a...), 0); }
    template <class... A> void getrs(A... a) const { kernels.getrs(a...); }
    template <Scalar T> void gesv(Index n, Index nrhs, T* A, Index lda, Index* pivots, T* B, Index ldb) const
    {
        getrf(n, n, A, lda, pivots);
        getrs(Op::none, n, nrhs, A, lda, pivots, B, ldb);
    }
};

template <class T> class DirectCalls : public ::testing::Test {
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(DirectCalls, Scalars);

TYPED_TEST(DirectCalls, RaiseNoFloatingPointExceptionOnOrdinaryNumbers)
{
    const Direct direct;
    for (const blas::InstructionSet* set : instruction_set_entries()) {
        if (!set->runs_here()) continue;
        for (const Index n : {1,  2,  3,  4,  5,  6,  7,  8,  9,  11, 12, 13, 15, 16, 17, 19,  23,  24,
                              25, 29, 31, 32, 33, 37, 41, 47, 48, 49, 55, 63, 64, 65, 97, 129, 150, 200}) {
            const blas::ForcedSetup forced(*set, n < 50 ? blas::BlockSizes{16, 50, 20} : blas::BlockSizes{256, 240, 4000});
            testing::expect_no_exceptions<TypeParam>(direct, n, set->name);
        }
    }
}

} // namespace
} // namespace trencadis
