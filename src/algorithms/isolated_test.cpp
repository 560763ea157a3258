#include "algorithms/graphs.hpp"
#include "algorithms/testing/isolated_flow.hpp"
#include "base/sanitized.hpp"
#include "graph/overlaps.hpp"
#include "kernels/testing/reference.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <complex>
#include <random>
#include <set>
#include <string>

namespace trencadis::testing {
namespace {

using ::testing::HasSubstr;

template <class T> void fill(const Pages& pages, std::mt19937& random)
{
    std::uniform_real_distribution<Real<T>> numbers(-1, 1);
    Real<T>* const begin = reinterpret_cast<Real<T>*>(pages.begin());
    std::generate_n(begin, pages.size() / sizeof(Real<T>), [&] { return numbers(random); });
}
bool is_pivots(const Datum& datum) { return datum.element == sizeof(Index) && datum.cols == 1; }

/// Makes the diagonals of all triangles that the tasks use as large as sums of their rows may be, and all pivots that they may
/// find there the last row.
template <class T> void strengthen(const IsolatedFlow& flow, Index n)
{
    std::set<const void*> done;
    for (const IsolatedFlow::Submission& task : flow.submissions()) {
        const std::string_view name = task.codelet->name;
        for (const Access& access : task.accesses)
            if (name == "laswp" && is_pivots(access.datum) && access.mode == AccessMode::read)
                std::fill_n(static_cast<Index*>(const_cast<void*>(access.datum.address)), access.datum.rows, n);
        if (name != "potrf" && name != "potrf_nested" && name != "trsm" && name != "trtri" && name != "getrf_nopiv" &&
            name != "pack" && name != "find_zero")
            continue;
        for (const Access& access : task.accesses) {
            const Datum& datum = access.datum;
            if (datum.element == 0 || datum.rows != datum.cols || is_pivots(datum) || name == "trsm" ||
                !done.insert(datum.address).second)
                continue;
            T* const A = static_cast<T*>(const_cast<void*>(datum.address));
            for (Index i = 0; i < datum.rows; ++i) A[i * (datum.ld + 1)] = T(Real<T>(3 * n));
        }
    }
}
std::size_t place_of(char letter) { return std::string_view("sdcz").find(letter); }
constexpr void (*fills[])(const Pages&, std::mt19937&) = {fill<float>, fill<double>, fill<std::complex<float>>,
                                                          fill<std::complex<double>>};
constexpr void (*strengthens[])(const IsolatedFlow&, Index) = {strengthen<float>, strengthen<double>,
                                                               strengthen<std::complex<float>>, strengthen<std::complex<double>>};

/// Some sizes are those at which something ends.
GraphShape random_shape(std::mt19937& random, const Form& form, char precision)
{
    const auto upto = [&](Index most) { return Index(random() % std::uint64_t(most + 1)); };
    const Index nb = 1 + upto(8);
    const Index edges[] = {0, 1, nb - 1, nb, nb + 1};
    GraphShape shape{.n = random() % 3 ? upto(4 * nb + 3) : edges[upto(4)], .nb = nb};
    shape.inner = 1 + upto(nb - 1);
    shape.nrhs = 1 + upto(4);
    shape.precision = precision;
    if (form.tall_rows) shape.m = std::max<Index>(2 * shape.n, 1) + upto(60);
    return shape;
}

/// What differs though no task has left it unwritten that it declared to write without reading it.
std::string difference(const IsolatedFlow& flow, const Pages& isolated, const Pages& in_order)
{
    for (std::size_t i = 0; i < isolated.size(); ++i)
        if (isolated.begin()[i] != in_order.begin()[i] && isolated.begin()[i] != std::byte{IsolatedFlow::poison})
            return "byte " + std::to_string(i) + " differs";
    for (const auto& [address, datum] : flow.kept())
        for (Index j = 0; j < datum.cols; ++j)
            if (const std::size_t at = std::size_t(static_cast<const std::byte*>(address) - isolated.begin()) +
                                       std::size_t(j * datum.ld * datum.element);
                std::memcmp(isolated.begin() + at, in_order.begin() + at, std::size_t(datum.rows * datum.element)) != 0)
                return "what is read and written has lost its values";
    return {};
}

/// One form of one routine, all at home and all isolated; what is wrong, or nothing.
std::string compare(std::string_view routine, std::string_view variant, const GraphShape& shape, unsigned seed)
{
    const TrappedAccesses trapped;
    const Form& form = graph_form(routine, variant);
    const auto lay = form.lay[place_of(shape.precision)];
    const Problem problem = graph_problem(routine, form, shape);
    Place counted(nullptr, true);
    LayoutRoom laid, again;
    lay(laid, counted, problem);
    const std::size_t bytes = counted.bytes();
    const Pages isolated(bytes + 64), in_order(bytes + 64);
    const KernelProvider* const kernels = providers().front();
    std::mt19937 random(seed);
    fills[place_of(shape.precision)](isolated, random);
    try {
        IsolatedFlow apart(kernels, Operands::isolated, isolated, seed), home(kernels, Operands::at_home, in_order, seed);
        Place place(isolated.begin(), true), other(in_order.begin(), true);
        lay(laid, place, problem);
        lay(again, other, problem);
        laid->submit(apart);
        strengthens[place_of(shape.precision)](apart, shape.n);
        std::memcpy(in_order.begin(), isolated.begin(), isolated.size());
        again->submit(home);
        home.wait();
        apart.wait();
        if (home.outcome().value() != apart.outcome().value()) return "another outcome";
        return difference(apart, isolated, in_order);
    } catch (const Error& breach) {
        return breach.what();
    }
}

/// Graphs of which only the cost exists: some kernel has no implementation.
bool only_simulated(std::string_view routine, std::string_view variant)
{
    return routine == "tasks" || variant == "shared-panel";
}

/// Every graph, in four precisions and 50 shapes each: tasks touch what they have declared, wherever it is.
TEST(IsolatedTasks, ComputeTheSameBitsWhereverTheirOperandsAre)
{
    if (providers().empty()) GTEST_SKIP() << "no kernels on this machine";
    if (sanitized) GTEST_SKIP() << "memory that is protected says what a task touches; a sanitizer makes it 20 times slower";
    int runs = 0;
    for (const std::string_view routine : graph_routines())
        for (const std::string_view variant : graph_variants(routine)) {
            if (only_simulated(routine, variant)) continue;
            for (const char precision : std::string_view("sdcz")) {
                std::mt19937 random(20);
                for (int i = 0; i < 50; ++i, ++runs) {
                    const GraphShape shape = random_shape(random, graph_form(routine, variant), precision);
                    const std::string wrong = compare(routine, variant, shape, unsigned(i + 1));
                    EXPECT_EQ(wrong, "") << routine << ' ' << variant << ' ' << precision << " m=" << shape.m << " n=" << shape.n
                                         << " nb=" << shape.nb << " inner=" << shape.inner << " nrhs=" << shape.nrhs;
                    if (!wrong.empty()) break;
                }
            }
        }
    EXPECT_GT(runs, 6000);
}

/// Two data of a graph that share memory; nothing where there are none. A datum and its parts have no dependence between them.
std::string data_that_overlap(std::string_view routine, std::string_view variant, const GraphShape& shape)
{
    const Form& form = graph_form(routine, variant);
    const Problem problem = graph_problem(routine, form, shape);
    const auto lay = form.lay[place_of(shape.precision)];
    LayoutRoom laid;
    Place counted(nullptr, true);
    lay(laid, counted, problem);
    const Pages memory(counted.bytes() + 64);
    Place place(memory.begin(), true);
    IsolatedFlow flow(nullptr, Operands::at_home, memory);
    lay(laid, place, problem);
    laid->submit(flow);
    Overlaps data;
    for (const IsolatedFlow::Submission& task : flow.submissions())
        for (const Access& access : task.accesses) {
            if (data.find(access.datum)) return task.name;
            data.add(access.datum);
        }
    return {};
}

TEST(ClosedGraphs, DataAreTheSameOrApart)
{
    for (const std::string_view routine : graph_routines())
        for (const std::string_view variant : graph_variants(routine)) {
            if (only_simulated(routine, variant)) continue;
            std::mt19937 random(21);
            for (int i = 0; i < 20; ++i) {
                const GraphShape shape = random_shape(random, graph_form(routine, variant), 'd');
                EXPECT_EQ(data_that_overlap(routine, variant, shape), "")
                    << routine << ' ' << variant << " m=" << shape.m << " n=" << shape.n << " nb=" << shape.nb
                    << " inner=" << shape.inner << " nrhs=" << shape.nrhs;
            }
        }
}

/// What a task does that breaks its contract.
template <class Body> std::string refusal(const Pages& home, std::initializer_list<Access> accesses, const Body& body)
{
    const TrappedAccesses trapped;
    IsolatedFlow flow(nullptr, Operands::isolated, home);
    try {
        flow.submit("breach", body, accesses);
        flow.wait();
    } catch (const Error& breach) {
        return breach.what();
    }
    return {};
}
/// Where the tests below have their data; a task gets it from here, not from its arguments.
double* at_home = nullptr;

TEST(IsolatedTasks, BreachesAreSeen)
{
    const Pages home(1 << 16);
    double* const A = at_home = reinterpret_cast<double*>(home.begin());
    const Datum tile(A, 3, 2, 8, sizeof(double)), other(A + 3, 3, 2, 8, sizeof(double)), across(A + 1, 3, 2, 8, sizeof(double));
    EXPECT_EQ(refusal(home, {readwrite(tile)}, [](TaskContext& c) { *static_cast<double*>(c.operand(0).data) = 1; }), "");
    EXPECT_EQ(*A, 1);
    EXPECT_THAT(refusal(home, {readwrite(tile)}, [] { *at_home = 2; }), HasSubstr("has not declared"));
    if (!sanitized) {
        EXPECT_THAT(refusal(home, {readwrite(tile)}, [A] { (void)A; }), HasSubstr("pointer"));
    }
    EXPECT_THAT(refusal(home, {read(tile)}, [](TaskContext& c) { *static_cast<double*>(c.operand(0).data) = 3; }),
                HasSubstr("declares to read"));
    EXPECT_THAT(refusal(home, {readwrite(tile)}, [](TaskContext& c) { static_cast<double*>(c.operand(0).data)[3] = 3; }),
                HasSubstr("beside its operands"));
    EXPECT_THAT(refusal(home, {read(tile), readwrite(across)}, [] {}), HasSubstr("overlap"));
    EXPECT_EQ(refusal(home, {read(tile), readwrite(other)}, [] {}), "");
    EXPECT_EQ(*A, 1);
}

TEST(IsolatedTasks, AddToPartsOfAReduction)
{
    const Pages home(4096);
    long* const sum = reinterpret_cast<long*>(home.begin());
    *sum = 5;
    static constexpr Reduction adding{
        sizeof(long), [](void* part) { *static_cast<long*>(part) = 0; },
        [](void* into, const void* part) { *static_cast<long*>(into) += *static_cast<const long*>(part); }};
    IsolatedFlow flow(nullptr, Operands::isolated, home);
    for (const long term : {1L, 2L})
        flow.submit("add", [term](TaskContext& c) { c.part<long>(0) += term; }, {reduce(sum, adding)});
    flow.submit("again", [](TaskContext& c) { *static_cast<long*>(c.operand(0).data) *= 10; }, {commute(sum, sizeof(long))});
    flow.wait();
    EXPECT_EQ(*sum, 80);
}

} // namespace
} // namespace trencadis::testing
