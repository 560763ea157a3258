// Two operands of a task at one address, of different extents: whoever has a copy has all that either names, or is told.
#include "array_on_device.hpp"
#include "base/error.hpp"
#include "drivers/linear_algebra.hpp"
#include "graph/task_flow.hpp"
#include "queue_kernels.hpp"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

namespace trencadis::testing {
namespace {

/// result[i] is the sum of what the i-th operand names.
struct SumArgs {
    std::array<Datum, 2> named;
    static double sum(const void* data, const Datum& named, Index ld)
    {
        const auto* const x = static_cast<const double*>(data);
        if (!named.element) return std::accumulate(x, x + named.ld / Index(sizeof(double)), 0.0);
        double sum = 0;
        for (Index j = 0; j < named.cols; ++j) sum = std::accumulate(x + j * ld, x + j * ld + named.rows, sum);
        return sum;
    }
    Flops flops() const { return 1; }
    void run(TaskContext& context) const
    {
        auto* const result = static_cast<double*>(context.operand(2).data);
        for (int i : {0, 1}) result[i] = sum(context.operand(i).data, named[std::size_t(i)], context.operand(i).ld);
    }
    void run_on_device(TaskContext& context) const
    {
        const std::array<Operand, 3> operands{context.operand(0), context.operand(1), context.operand(2)};
        static_cast<const QueueKernels*>(context.kernels())
            ->queue->enqueue(flops(), [operands, its = *this](const BlockMap& map) {
                auto* const result = static_cast<double*>(map.at(operands[2].data));
                for (std::size_t i : {0u, 1u}) result[i] = sum(map.at(operands[i].data), its.named[i], operands[i].ld);
            });
    }
};
constexpr Codelet summing = codelet_of<SumArgs>("sum");
constexpr Codelet summing_there = [] {
    Codelet codelet = codelet_of<SumArgs>("sum there");
    codelet.core = nullptr;
    return codelet;
}();

struct Pair {
    Datum one, other;
    double sum_of_one, sum_of_other;
};

/// Of 8 x 8 ones at x.
std::vector<Pair> pairs_of(const double* x)
{
    const auto part = [x](Index rows, Index cols) { return Datum(x, rows, cols, 8, sizeof(double)); };
    return {{part(7, 8), part(8, 8), 56, 64}, {part(8, 8), part(7, 8), 64, 56},      {part(1, 8), part(8, 8), 8, 64},
            {part(8, 1), part(8, 3), 8, 24},  {Datum(x, 80), Datum(x, 160), 10, 20}, {Datum(x, 160), Datum(x, 80), 20, 10}};
}

void expect_right(EngineOnDevices& on, const Codelet& codelet, const Pair& pair)
{
    std::vector<double> result(2, -1);
    on.engine->run({}, [&](Flow& flow) {
        flow.submit(codelet, SumArgs{{pair.one, pair.other}},
                    {read(pair.one), read(pair.other), write(Datum(result.data(), 2, 1, 2, sizeof(double)))});
    });
    EXPECT_EQ(result, (std::vector{pair.sum_of_one, pair.sum_of_other})) << pair.one.rows << " x " << pair.one.cols;
}

TEST(OneAddress, OfOperandsOfOtherExtentsIsOneCopyThatHoldsBoth)
{
    EngineOnDevices on("emulated", "eager", 1, 2);
    const std::vector<double> x(64, 1);
    for (const Pair& pair : pairs_of(x.data())) expect_right(on, summing_there, pair);
}

TEST(OneAddress, InAnArrayIsReadByCoresAsFarAsTheLargerOperandGoes)
{
    EngineOnDevices on("emulated", "eager", 1, 2);
    Codelet on_cores = summing;
    on_cores.device = nullptr;
    DeviceArrays& arrays = *on.engine->device_arrays();
    std::vector<double> ones(64, 1);
    auto* const x = static_cast<double*>(arrays.allocate(0, 512));
    arrays.write({x, 64, 64, 8}, {ones.data(), 64});
    for (const Pair& pair : pairs_of(x)) {
        expect_right(on, on_cores, pair);
        expect_right(on, summing_there, pair);
    }
    const Pair across{Datum(x, 7, 8, 8, 8), Datum(x, 8, 7, 8, 8), 56, 56};
    try {
        expect_right(on, on_cores, across);
        ADD_FAILURE() << "neither holds the other";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_argument);
        const std::string said = error.what();
        EXPECT_NE(said.find("as 7 x 8 elements of 8 bytes, columns 8 apart, and as 8 x 7 of 8, 8 apart; "), std::string::npos)
            << said;
    }
    arrays.give_up(x);
    const Pair at_home{Datum(ones.data(), 7, 8, 8, 8), Datum(ones.data(), 8, 7, 8, 8), 56, 56};
    expect_right(on, summing, at_home); // by a core, as it lies
}

TEST(OneAddress, OfTheFirstRowsOfAMatrixAndTheMatrixIsMultipliedWhereItLies)
{
    SessionOptions options;
    options.workers = {Session::standard().options().workers.front()};
    options.devices = "emulated:2,always=yes";
    Session session(options);
    constexpr Index n = 40;
    std::vector<double> values(n * n);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = double(i % 7) - 3; // products and their sums are exact
    const OnDevice<double> A(session, 0, values, n, n, n), C(session, 1, std::vector<double>(n * n, 5), n, n, n);
    for (const Index m : {n - 1, n}) {
        gemm(session, Op::none, Op::none, m, n, n, 1.0, A.at, n, A.at, n, 0.0, C.at, n);
        const std::vector<double> seen = C.in(values);
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < m; ++i) {
                double sum = 0;
                for (Index k = 0; k < n; ++k) sum += values[std::size_t(i + k * n)] * values[std::size_t(k + j * n)];
                ASSERT_EQ(seen[std::size_t(i + j * n)], sum) << m << ", " << i << ", " << j;
            }
    }
}

} // namespace
} // namespace trencadis::testing
