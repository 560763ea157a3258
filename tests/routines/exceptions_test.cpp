#include "drivers/linear_algebra.hpp"
#include "kernels/testing/exceptions.hpp"
#include "session/session.hpp"

namespace trencadis {
namespace {

/// The routines as tasks, one after the other on the calling thread.
struct Tasks {
    Session& session;
    RoutineOptions options;

    template <class... A> void gemm(A... a) const { trencadis::gemm(session, a..., options); }
    template <class... A> void symm(A... a) const { trencadis::symm(session, a..., options); }
    template <class... A> void hemm(A... a) const { trencadis::hemm(session, a..., options); }
    template <class... A> void syrk(A... a) const { trencadis::syrk(session, a..., options); }
    template <class... A> void herk(A... a) const { trencadis::herk(session, a..., options); }
    template <class... A> void syr2k(A... a) const { trencadis::syr2k(session, a..., options); }
    template <class... A> void her2k(A... a) const { trencadis::her2k(session, a..., options); }
    template <class... A> void trmm(A... a) const { trencadis::trmm(session, a..., options); }
    template <class... A> void trsm(A... a) const { trencadis::trsm(session, a..., options); }
    template <class... A> void potrf(A... a) const { EXPECT_EQ(trencadis::potrf(session, a..., options), 0); }
    template <class... A> void posv(A... a) const { EXPECT_EQ(trencadis::posv(session, a..., options), 0); }
    template <class... A> void getrf(A... a) const { EXPECT_EQ(trencadis::getrf(session, a..., of_lu()), 0); }
    template <class... A> void gesv(A... a) const { EXPECT_EQ(trencadis::gesv(session, a..., of_lu()), 0); }
    template <class... A> void potrs(A... a) const { trencadis::potrs(session, a..., of_solves()); }
    template <class... A> void getrs(A... a) const { trencadis::getrs(session, a..., of_solves()); }

    /// In place by panels.
    RoutineOptions of_lu() const
    {
        RoutineOptions same = options;
        if (same.variant == "in-place") same.variant = "panel";
        return same;
    }
    /// They have one variant only.
    RoutineOptions of_solves() const
    {
        RoutineOptions same;
        same.nb = options.nb;
        return same;
    }
};

template <class T> class TaskCalls : public ::testing::Test {
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(TaskCalls, Scalars);

TYPED_TEST(TaskCalls, RaiseNoFloatingPointExceptionOnOrdinaryNumbers)
{
    SessionOptions choice;
    choice.engine = "sequential";
    Session session(choice);
    for (const char* const variant : {"packed", "in-place"})
        for (const Index nb : {7, 0})
            for (const Index n : {1, 2, 5, 7, 8, 13, 24, 25, 40, 64, 97, 150}) {
                RoutineOptions options;
                options.nb = nb;
                options.variant = variant;
                testing::expect_no_exceptions<TypeParam>(Tasks{session, options}, n,
                                                         std::string(variant) + " nb = " + std::to_string(nb));
            }
}

} // namespace
} // namespace trencadis
