#include "graph/immediate_flow.hpp"

#include <gtest/gtest.h>

namespace trencadis {
namespace {

/// The sum stands behind something else, so that a part is not a small datum.
struct Counted {
    double name = 7;
    long sum = 1;
};
const Reduction count{sizeof(long), [](void* part) { *static_cast<long*>(part) = 0; },
                      [](void* into, const void* part) { static_cast<Counted*>(into)->sum += *static_cast<const long*>(part); }};

TEST(ImmediateFlows, ReduceOnPartsThatMayBeSomethingElseThanTheDatum)
{
    Counted datum;
    ImmediateFlow flow(nullptr);
    for (int i = 0; i < 3; ++i)
        flow.submit("add", [](TaskContext& context) { context.part<long>(0) += 10, context.part<long>(0) += 1; },
                    {reduce(&datum, count)});
    EXPECT_EQ(datum.name, 7);
    EXPECT_EQ(datum.sum, 34);
    EXPECT_THROW(flow.submit("writes", [](TaskContext& context) { context.part(0); }, {write(&datum)}), Error);
}

} // namespace
} // namespace trencadis
