#include "algorithms/routines.hpp"

#include "algorithms/graphs.hpp"
#include "base/error.hpp"

#include <gtest/gtest.h>

#include <set>

namespace trencadis {
namespace {

/// Beside one or two vectors a large matrix is read for longer than its few operations take.
TEST(Routines, WeighWhatTheyRead)
{
    const RoutineEntry &trsm = find_routine("trsm"), &potrs = find_routine("potrs"), &gesv = find_routine("gesv");
    const auto from_right = [&](double vectors) { return trsm.weight({.n = 1000, .m = vectors, .k = 1000}, false); };
    EXPECT_EQ(from_right(2), 1e7);
    EXPECT_EQ(from_right(3), trsm.operations({.n = 1000, .m = 3, .k = 1000}).flops(false));
    EXPECT_EQ(potrs.weight({.n = 1000, .nrhs = 1}, true), 2e7);
    EXPECT_EQ(potrs.weight({.n = 300, .nrhs = 1}, false), 2 * 300 * 300.0) << "over before others could help";
    EXPECT_EQ(gesv.weight({.n = 1000, .nrhs = 1}, false), gesv.operations({.n = 1000}).flops(false));
}

TEST(Routines, HaveOneRowEach)
{
    std::set<std::string_view> names;
    for (const RoutineEntry& routine : routine_entries()) {
        EXPECT_TRUE(names.insert(routine.name).second) << routine.name;
        EXPECT_FALSE(routine.summary.empty() || routine.source.empty()) << routine.name;
        EXPECT_EQ(&find_routine(routine.name), &routine);
        for (const Form& form : routine.forms()) {
            if (form.called) EXPECT_EQ(&find_form(routine, form.name), &form);
            else EXPECT_THROW(find_form(routine, form.name), Error);
            EXPECT_TRUE(form.called || form.has_graph()) << "nobody could use " << form.name;
            EXPECT_EQ(form.lay[0] != nullptr && form.simulated, !form.kernels.empty()) << routine.name << form.name;
            for (const Index n : {1, 100, 3000})
                for (const std::size_t bytes : {4, 8, 16}) EXPECT_GT(form.tile(n, n, bytes, 2), 0) << routine.name << form.name;
        }
    }
    for (const std::string_view routine : graph_routines()) EXPECT_EQ(names.count(routine), 1u) << routine;
}

TEST(Routines, AreNotFoundByOtherNames)
{
    EXPECT_THROW(find_routine("gem"), Error);
    EXPECT_THROW(find_routine(""), Error);
    EXPECT_THROW(find_form(find_routine("potrs"), "packed"), Error);
    EXPECT_THROW(find_form(find_routine("gelqf"), "flat"), Error);
}

/// Counted by hand for small orders, and by the inner loops of the textbook's algorithms.
TEST(Routines, CostWhatTheirAlgorithmsDo)
{
    for (const int n : {1, 2, 5, 12}) {
        Operations factor, solve;
        for (int j = 0; j < n; ++j) {
            factor.multiplications += 1; // the root
            for (int i = j + 1; i < n; ++i) ++factor.multiplications;
            for (int i = j; i < n; ++i) factor.multiplications += j, factor.additions += j;
            solve.multiplications += 2 * (j + 1); // forwards and backwards
            solve.additions += 2 * j;
        }
        const Operations potrf = find_routine("potrf").operations({.n = double(n)}),
                         posv = find_routine("posv").operations({.n = double(n), .nrhs = 3});
        EXPECT_NEAR(potrf.multiplications, factor.multiplications, 1e-9 * factor.multiplications) << n;
        EXPECT_NEAR(potrf.additions, factor.additions, 1e-9 * (factor.additions + 1)) << n;
        EXPECT_NEAR(posv.multiplications, factor.multiplications + 3 * solve.multiplications, 1e-9 * posv.multiplications) << n;
        EXPECT_NEAR(posv.additions, factor.additions + 3 * solve.additions, 1e-9 * (posv.additions + 1)) << n;
    }
    EXPECT_EQ(find_routine("gemm").operations({.n = 4, .m = 3, .k = 5}).flops(false), 120);
    EXPECT_EQ(find_routine("gemm").operations({.n = 10}).flops(true), 8000);
    EXPECT_EQ(find_routine("trsm").operations({.n = 4, .m = 3}).flops<double>(), 36);
    EXPECT_EQ(find_routine("tasks").operations({.n = 10}).flops(false), 0);
}

} // namespace
} // namespace trencadis
