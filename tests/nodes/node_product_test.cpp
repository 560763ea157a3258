#include "algorithms/node_product.hpp"
#include "drivers/linear_algebra.hpp"
#include "kernels/testing/reference.hpp"
#include "overlay.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <deque>

namespace trencadis::testing {
namespace {

Session& plain()
{
    SessionOptions options;
    options.engine = "native";
    options.kernels = "native";
    static Session session(options);
    return session;
}

struct Shape {
    Index m, n, k;
};
constexpr Index nb = 24;
const std::vector<Shape> ragged{{1, 1, 1}, {23, 24, 25}, {97, 5, 31}, {5, 97, 31}, {150, 131, 77}, {64, 64, 0}};

template <Scalar T>
void product(Session& session, const char* variant, const Dense<T>& A, const Dense<T>& B, T beta, Dense<T>& C, Op op_a = Op::none,
             Op op_b = Op::none)
{
    const Index k = op_a == Op::none ? A.cols : A.rows;
    gemm(session, op_a, op_b, C.rows, C.cols, k, T(0.75), A.data.data(), A.ld, B.data.data(), B.ld, beta, C.data.data(), C.ld,
         {.nb = nb, .variant = variant});
}

template <class T> class NodeProducts : public ::testing::Test {
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(NodeProducts, Scalars);

TYPED_TEST(NodeProducts, AreWithinTheBoundForEveryNumberOfNodesAndRaggedSizes)
{
    using T = TypeParam;
    std::deque<DescribedNodes> machines;
    std::deque<Session> sessions;
    for (const std::vector<int>& cores :
         std::vector<std::vector<int>>{{2}, {1, 1}, {2, 1, 1}, {2, 2, 2}, {1, 1, 1, 1}, {3, 1, 0, 2}})
        sessions.emplace_back(machines.emplace_back(cores).options());
    for (const Shape& s : ragged)
        for (const Op op : {Op::none, Op::conj_trans})
            for (const T beta : {T(0), T(-0.5)}) {
                const auto A = op == Op::none ? random_matrix<T>(s.m, s.k) : random_matrix<T>(s.k, s.m);
                const auto B = op == Op::none ? random_matrix<T>(s.k, s.n) : random_matrix<T>(s.n, s.k);
                const Dense<T> C = beta == T(0) ? Dense<T>(s.m, s.n) : random_matrix<T>(s.m, s.n);
                std::vector<Dense<T>> results;
                for (Session& session : sessions) product(session, "nodes", A, B, beta, results.emplace_back(C), op, op);
                product(plain(), "packed", A, B, beta, results.emplace_back(C), op, op);
                for (Index j = 0; j < s.n; ++j)
                    for (Index i = 0; i < s.m; ++i) {
                        Sum<T> sum;
                        for (Index l = 0; l < s.k; ++l) sum.add(T(0.75), A.at(op, i, l) * B.at(op, l, j));
                        if (beta != T(0)) sum.add(beta, C(i, j));
                        for (const Dense<T>& result : results)
                            expect_within(result(i, j), sum.value, sum.magnitude, double(s.k + 3), "product by nodes");
                    }
            }
}

/// What tasks of tiles nb x nb touch, counted tile by tile: operands packed and C updated, and the images.
struct Counted {
    Bytes operands_read = 0, images_read = 0, C_written = 0, images_written = 0;
};
Counted count(const std::vector<NodeBlock>& blocks, Index k, bool beta_zero, Bytes element)
{
    Counted counted;
    const auto tiles = [](Index size) {
        std::vector<Index> extents;
        for (Index begin = 0; begin < size; begin += nb) extents.push_back(std::min(nb, size - begin));
        return extents;
    };
    for (const NodeBlock& block : blocks) {
        bool first = true;
        for (const Index depth : tiles(k)) {
            for (const Index rows : tiles(block.rows)) {
                if (block.cols > 0) counted.operands_read += element * double(rows * depth);
                if (block.cols > 0) counted.images_written += element * double(rows * depth);
                for (const Index cols : tiles(block.cols)) {
                    counted.images_read += element * double((rows + cols) * depth);
                    counted.C_written += element * double(rows * cols);
                    if (!first || !beta_zero) counted.operands_read += element * double(rows * cols);
                }
            }
            for (const Index cols : tiles(block.cols)) {
                if (block.rows > 0) counted.operands_read += element * double(cols * depth);
                if (block.rows > 0) counted.images_written += element * double(cols * depth);
            }
            first = false;
        }
    }
    return counted;
}

std::vector<NodeShare> equal_shares(int nodes)
{
    std::vector<NodeShare> shares;
    for (int node = 0; node < nodes; ++node) shares.push_back({node, 1, 1});
    return shares;
}

TYPED_TEST(NodeProducts, CountTheBytesThatTheAccessPatternSaysWhereverThePagesAre)
{
    using T = TypeParam;
    for (int nodes = 1; nodes <= 4; ++nodes)
        for (const char* pages : {"first-touch", "interleave"})
            for (const T beta : {T(0), T(1)}) {
                const DescribedNodes machine(std::vector<int>(std::size_t(nodes), 1));
                Session session(machine.options("mosaic", pages));
                session.count_node_bytes(true);
                const Shape s{150, 131, 77};
                const auto A = random_matrix<T>(s.m, s.k), B = random_matrix<T>(s.k, s.n);
                auto C = random_matrix<T>(s.m, s.n);
                product(session, nodes > 1 ? "nodes" : "packed", A, B, beta, C);
                const std::vector<NodeBytes> rows = session.node_bytes();
                ASSERT_EQ(rows.size(), std::size_t(nodes));
                const auto blocks = node_blocks(s.m, s.n, equal_shares(nodes));
                const Counted counted = count(blocks, s.k, beta == T(0), sizeof(T));
                NodeBytes sum;
                for (const NodeBytes& row : rows) {
                    sum.local_read += row.local_read;
                    sum.remote_read += row.remote_read;
                    sum.local_written += row.local_written;
                    sum.remote_written += row.remote_written;
                }
                EXPECT_EQ(sum.local_read + sum.remote_read, counted.operands_read + counted.images_read);
                EXPECT_EQ(sum.local_written + sum.remote_written, counted.C_written + counted.images_written);
                if (std::string_view(pages) == "interleave") continue;
                // All operands are on node 0: it has everything near, the others their images only.
                EXPECT_EQ(rows[0].remote_read + rows[0].remote_written, 0);
                for (int node = 1; node < nodes; ++node) {
                    const Counted own = count({blocks[node]}, s.k, beta == T(0), sizeof(T));
                    EXPECT_EQ(rows[node].local_read, own.images_read);
                    EXPECT_EQ(rows[node].remote_read, own.operands_read);
                    EXPECT_EQ(rows[node].remote_written, own.C_written);
                }
                session.reset_statistics();
                EXPECT_TRUE(session.node_bytes().empty());
            }
}

/// The same operands on one node, page by page in turn, and at other places within a page.
TEST(NodeProductPlacement, DoesNotChangeABitOfTheResult)
{
    const DescribedNodes machine({2, 2, 2, 2});
    Session first(machine.options("mosaic", "first-touch")), turns(machine.options("mosaic", "interleave"));
    const auto A = random_matrix<double>(301, 203), B = random_matrix<double>(203, 257);
    Dense<double> C(301, 257), D = C, E = C;
    product(first, "nodes", A, B, 0.0, C);
    product(turns, "nodes", A, B, 0.0, D);
    expect_same_bits(C, D);
    for (const std::size_t shift : {1, 3, 512}) {
        std::vector<double> moved(A.data.size() + shift);
        std::copy(A.data.begin(), A.data.end(), moved.begin() + std::ptrdiff_t(shift));
        gemm(first, Op::none, Op::none, 301, 257, 203, 0.75, moved.data() + shift, A.ld, B.data.data(), B.ld, 0.0, E.data.data(),
             E.ld, {.nb = nb, .variant = "nodes"});
        expect_same_bits(C, E);
    }
}

TEST(NodeProductPlacement, InTurnMakesThreeQuartersOfTheOperandsRemoteOnFourNodes)
{
    const DescribedNodes machine({1, 1, 1, 1});
    Session session(machine.options("mosaic", "interleave"));
    session.count_node_bytes(true);
    const Index n = 512; // a column is a page: every node's block is spread over all nodes
    std::vector<double> A(n * n, 1.0), B(n * n, 1.0), C(n * n);
    gemm(session, Op::none, Op::none, n, n, n, 1.0, A.data(), n, B.data(), n, 0.0, C.data(), n, {.nb = 128, .variant = "nodes"});
    EXPECT_EQ(C[0], double(n));
    for (const NodeBytes& row : session.node_bytes()) {
        const double written = row.local_written + row.remote_written, block = double(n) * double(n) / 4 * 8;
        EXPECT_NEAR(row.remote_written, 4 * 0.75 * block, 0.02 * written) << "C is written once per step along k";
    }
}

TEST(NodeBlocks, CoverEveryElementOnceInGridsOrInProportionToTheWeights)
{
    const std::vector<std::vector<double>> weights{{1},    {1, 1},      {1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1, 1, 1},
                                                   {3, 1}, {1, 0.25, 2}};
    for (const auto& w : weights)
        for (const auto& [m, n] : std::vector<std::pair<Index, Index>>{{1, 1}, {100, 100}, {1000, 10}, {10, 1000}, {333, 777}}) {
            std::vector<NodeShare> shares;
            for (std::size_t i = 0; i < w.size(); ++i) shares.push_back({static_cast<int>(i), 1, w[i]});
            std::vector<int> covered(m * n);
            for (const NodeBlock& b : node_blocks(m, n, shares))
                for (Index j = b.col; j < b.col + b.cols; ++j)
                    for (Index i = b.row; i < b.row + b.rows; ++i) ++covered[i + j * m];
            EXPECT_EQ(std::count(covered.begin(), covered.end(), 1), m * n) << w.size() << " nodes, " << m << " x " << n;
        }
    const std::vector<NodeShare> uneven{{0, 3, 3.0}, {1, 1, 1.0}};
    EXPECT_NEAR(double(node_blocks(4000, 100, uneven)[0].rows), 3000, 16);
    const auto grid = node_blocks(800, 800, equal_shares(4));
    EXPECT_EQ(grid[0].rows, 400);
    EXPECT_EQ(grid[0].cols, 400) << "2 x 2 copies less than strips";
}

TEST(NodeVariant, IsChosenByItselfForLargeProductsOnSeveralNodesOnly)
{
    const blas::Operand<double> none{nullptr, 1, 1};
    const auto pays = [&](Index n, int nodes, int workers) {
        std::vector<NodeShare> shares;
        for (int node = 0; node < nodes; ++node) shares.push_back({node, workers / nodes, double(workers) / nodes});
        return nodes_pay(PackedProduct<double>{n, n, n, 1.0, none, none, 0.0, {nullptr, n, n, n}}, shares);
    };
    EXPECT_FALSE(pays(100'000, 1, 24));
    EXPECT_FALSE(pays(4'000, 4, 96)) << "published: below n = 15360 the plain product is faster on 96 cores";
    EXPECT_TRUE(pays(40'000, 4, 96));
    for (Index n = 1'000; n < 40'000; n += 1'000) EXPECT_LE(pays(n, 4, 96), pays(n + 1'000, 4, 96)) << n;
}

TEST(NodeVariant, IsRefusedWhereTasksCannotBeKeptToANodeAndForOtherRoutines)
{
    const DescribedNodes machine({2, 2});
    Session teams(machine.options("virtual-cores:teams=0+1/2+3"));
    EXPECT_FALSE(teams.binds_nodes());
    const auto A = random_matrix<double>(50, 50);
    Dense<double> C(50, 50);
    try {
        product(teams, "nodes", A, A, 0.0, C);
        FAIL() << "should have been refused";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), ::testing::HasSubstr("whose options do not number workers"));
    }
    EXPECT_THROW(symm(plain(), Side::left, Uplo::lower, 50, 50, 1.0, A.data.data(), A.ld, A.data.data(), A.ld, 0.0, C.data.data(),
                      C.ld, {.variant = "nodes"}),
                 Error);
}

TEST(NodeVariant, IsObeyedOnOneNodeToo)
{
    const DescribedNodes machine({2});
    Session one(machine.options());
    one.count_node_bytes(true);
    const auto A = random_matrix<double>(50, 50);
    Dense<double> C(50, 50), D = C;
    product(one, "nodes", A, A, 0.0, C);
    ASSERT_EQ(one.node_bytes().size(), 1u);
    EXPECT_EQ(one.node_bytes()[0].remote_read + one.node_bytes()[0].remote_written, 0);
    product(plain(), "packed", A, A, 0.0, D);
    expect_same_bits(C, D);
}

TEST(NodeVariant, SaysInATraceWhatEachNodeReadAndWrote)
{
    const DescribedNodes machine({1, 1});
    Session session(machine.options());
    const auto A = random_matrix<double>(90, 90);
    Dense<double> C(90, 90);
    session.start_trace();
    product(session, "nodes", A, A, 0.0, C);
    const Trace trace = session.stop_trace();
    ASSERT_EQ(trace.node_bytes.size(), 2u);
    EXPECT_GT(trace.node_bytes[1].remote_read, 0);
    EXPECT_EQ(trace.node_bytes[0].remote_read, 0);
}

} // namespace
} // namespace trencadis::testing
