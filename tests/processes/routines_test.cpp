// The routines on matrices that several processes hold: run by mpirun with as many processes as it is given, each of which runs
// all tests.
#include "base/error.hpp"
#include "drivers/distributed_matrix.hpp"
#include "drivers/shared_call.hpp"
#include "graph/flow.hpp"
#include "graph/processes.hpp"
#include "session/session.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace trencadis {
namespace {

/// One session for all tests: making one takes longer than a test.
Session& session()
{
    static auto* const made = [] {
        SessionOptions options;
        options.engine = "starpu-mpi";
        return new Session(options);
    }();
    return *made;
}
Processes& all() { return *session().processes(); }

TileOwners grid()
{
    const int size = all().size();
    int rows = int(std::sqrt(double(size)));
    while (size % rows) --rows;
    return {std::int16_t(rows), std::int16_t(size / rows)};
}

constexpr Index nb = 16;
constexpr Index sizes[] = {1, nb - 1, nb, nb + 1, 7 * nb + 5};

template <class T> class SharedRoutines : public ::testing::Test {
public:
    using Matrix = DistributedMatrix<T>;
    static constexpr double eps = std::numeric_limits<Real<T>>::epsilon();
    static Matrix matrix(Index rows, Index cols, Index tile_cols = nb)
    {
        return {session(), rows, cols, nb, tile_cols, grid(), true};
    }

    /// |A X - B| / (n eps (|A| |X| + |B|)), all of them Frobenius norms; B is lost. A backward error below c n eps in norm, with
    /// the growth of these matrices below 10, gives less than 10.
    static double residual(const Matrix& A, const Matrix& X, Matrix& B)
    {
        const double a = A.norm(all()), x = X.norm(all()), b = B.norm(all());
        distributed::gemm(session(), Op::none, Op::none, T(1), A.tiles(), X.tiles(), T(-1), B.tiles());
        return B.norm(all()) / (double(A.tiles().rows) * eps * (a * x + b));
    }
    /// Of a solution by `solve(A, B)`.
    template <class Solve> static void expect_solved(Index n, bool definite, Solve&& solve)
    {
        SCOPED_TRACE("n = " + std::to_string(n));
        Matrix A = matrix(n, n), factors = matrix(n, n), X = matrix(n, 5, 3), B = matrix(n, 5, 3);
        if (definite) A.fill_definite(3);
        else A.fill_random(3);
        factors.copy_tiles(A);
        B.fill_random(4);
        X.copy_tiles(B);
        solve(factors.tiles(), X.tiles());
        EXPECT_LT(residual(A, X, B), 10);
    }
};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(SharedRoutines, Scalars);

TYPED_TEST(SharedRoutines, SolveDefiniteSystems)
{
    for (const Index n : sizes)
        for (const Uplo uplo : {Uplo::lower, Uplo::upper})
            for (const char* form : {"packed", "in-place"})
                this->expect_solved(n, true, [&](const auto& A, const auto& B) {
                    EXPECT_EQ(distributed::posv(session(), uplo, A, B, {.variant = form}), 0) << form;
                });
}

TYPED_TEST(SharedRoutines, FactorDefiniteMatrices)
{
    for (const Index n : sizes)
        for (const char* form : {"packed", "in-place", "left-looking", "two-level"})
            this->expect_solved(n, true, [&](const auto& A, const auto& B) {
                EXPECT_EQ(distributed::potrf(session(), Uplo::lower, A, {.variant = form}), 0) << form;
                distributed::potrs(session(), Uplo::lower, A, B);
            });
}

TYPED_TEST(SharedRoutines, SolveGeneralSystems)
{
    for (const Index n : sizes)
        for (const char* form : {"tournament", "incremental", "kastors", "kastors-cw", "panel"}) {
            this->expect_solved(n, false, [&](const auto& A, const auto& B) {
                SCOPED_TRACE(form);
                std::vector<Index> pivots(std::size_t(n), -1);
                EXPECT_EQ(distributed::gesv(session(), A, pivots.data(), B, {.variant = form}), 0);
            });
        }
}

TYPED_TEST(SharedRoutines, FactorGeneralMatrices)
{
    for (const Index n : sizes)
        for (const char* form : {"tournament", "panel"})
            this->expect_solved(n, false, [&](const auto& A, const auto& B) {
                SCOPED_TRACE(form);
                std::vector<Index> pivots(std::size_t(n), -1);
                EXPECT_EQ(distributed::getrf(session(), A, pivots.data(), {.variant = form}), 0);
                distributed::getrs(session(), Op::none, A, pivots.data(), B);
            });
}

TYPED_TEST(SharedRoutines, FactorByTileQr)
{
    using T = TypeParam;
    for (const Index n : sizes)
        for (const char* form : {"flat", "binary", "greedy", "fibonacci", "plasma"}) {
            SCOPED_TRACE(std::string(form) + " n = " + std::to_string(n));
            const Index m = n + 2 * nb;
            auto A = this->matrix(m, n), R = this->matrix(m, n), C = this->matrix(n, n);
            A.fill_random(7);
            R.copy_tiles(A);
            distributed::geqrf(session(), R.tiles(), {.variant = form});
            R.keep_triangle(Uplo::upper);
            const double a = A.norm(all());
            distributed::gemm(session(), Op::conj_trans, Op::none, T(1), A.tiles(), A.tiles(), T(0), C.tiles());
            distributed::gemm(session(), Op::conj_trans, Op::none, T(1), R.tiles(), R.tiles(), T(-1), C.tiles());
            EXPECT_LT(C.norm(all()) / (double(m) * this->eps * a * a), 10);
        }
}

TYPED_TEST(SharedRoutines, CopyPartsToOtherTilesAndOwners)
{
    using T = TypeParam;
    const auto place = [](Index i, Index j) { return T(Real<T>(100 * i + j)); };
    TileOwners turned = grid();
    std::swap(turned.grid_rows, turned.grid_cols);
    DistributedMatrix<T> A(session(), 70, 50, nb, nb, grid(), true), B(session(), 60, 60, 11, 13, turned, true);
    A.fill(place);
    B.fill([](Index, Index) { return T(-1); });
    distributed::copy(session(), A.tiles(), 5, 7, B.tiles(), 3, 9, 41, 37);
    B.each([&](Index i, Index j, const T& element) {
        const bool is_inside = i >= 3 && i < 44 && j >= 9 && j < 46;
        EXPECT_EQ(element, is_inside ? place(i + 2, j - 2) : T(-1)) << i << ", " << j;
    });
    EXPECT_THROW(distributed::copy(session(), A.tiles(), 5, 7, B.tiles(), 30, 9, 41, 37), Error);
}

TEST(SharedRuns, TellAllProcessesTheSmallestIndex)
{
    const Index n = 6 * nb;
    DistributedMatrix<double> A(session(), n, n, nb, nb, grid(), true);
    A.fill_definite(1);
    A.fill([n](Index i, Index j) { return i == j ? (i == 40 || i == 70 ? -1.0 : double(n)) : 0.0; });
    EXPECT_EQ(distributed::potrf(session(), Uplo::lower, A.tiles()), 41);
}

/// More tasks than are held together to derive priorities, so that later messages may be more urgent than earlier ones. Whether
/// one then overtakes another is a matter of luck, so several rounds.
TEST(SharedRuns, ManyTilesOnARowOfProcessesAreInOrder)
{
    const Index n = 37 * nb + 8;
    const TileOwners row{1, std::int16_t(all().size())};
    for (int round = 0; round < 8; ++round) {
        const Uplo uplo = round % 4 == 3 ? Uplo::lower : Uplo::upper;
        DistributedMatrix<double> A(session(), n, n, nb, nb, row, true), factors(session(), n, n, nb, nb, row, true);
        DistributedMatrix<double> B(session(), n, 4, nb, 4, row, true), X(session(), n, 4, nb, 4, row, true);
        A.fill_definite(5);
        factors.copy_tiles(A);
        B.fill_random(6);
        X.copy_tiles(B);
        EXPECT_EQ(distributed::potrf(session(), uplo, factors.tiles()), 0);
        distributed::potrs(session(), uplo, factors.tiles(), X.tiles());
        EXPECT_LT(SharedRoutines<double>::residual(A, X, B), 10);
    }
}

TEST(SharedRuns, RefuseCallsThatDiffer)
{
    if (all().size() == 1) GTEST_SKIP() << "one process alone agrees with itself";
    const Index n = 4 * nb + (all().rank() == 1 ? nb : 0);
    DistributedMatrix<double> A(session(), n, n, nb, nb, grid(), true);
    A.fill_definite(1);
    try {
        distributed::potrf(session(), Uplo::lower, A.tiles());
        ADD_FAILURE() << "nothing was refused";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_argument);
        EXPECT_NE(std::string(error.what()).find("process 1 calls potrf"), std::string::npos) << error.what();
    }
}

/// A factor that is 0 on one process leaves out tasks that others wait for.
TEST(SharedRuns, RefuseFactorsThatDifferInTheirLastBit)
{
    if (all().size() == 1) GTEST_SKIP() << "one process alone agrees with itself";
    const DistributedMatrix<double> A(session(), nb, nb, nb, nb, grid(), true), C(session(), nb, nb, nb, nb, grid(), true);
    const double odd = all().rank() == 1 ? std::nextafter(1.0, 2.0) : 1.0;
    const auto product = [&](double alpha, double beta) {
        distributed::gemm(session(), Op::none, Op::none, alpha, A.tiles(), A.tiles(), beta, C.tiles());
    };
    EXPECT_THROW(product(odd, 1), Error);
    EXPECT_THROW(product(1, odd), Error);
    product(1, 1);
}

TEST(SharedRuns, RefusePrecisionsThatDiffer)
{
    if (all().size() == 1) GTEST_SKIP() << "one process alone agrees with itself";
    const auto try_all = [](auto scalar) {
        const DistributedMatrix<decltype(scalar)> A(session(), nb, nb, nb, nb, grid(), true),
            none(session(), 0, 0, nb, nb, grid(), true);
        EXPECT_THROW(distributed::copy(session(), A.tiles(), 0, 0, A.tiles(), 0, 0, nb, nb), Error);
        EXPECT_THROW(distributed::copy(session(), A.tiles(), 0, 0, A.tiles(), 0, 0, 0, 0), Error);
        EXPECT_THROW(distributed::potrf(session(), Uplo::lower, none.tiles()), Error);
    };
    all().rank() == 1 ? try_all(1.0F) : try_all(1.0);
}

TEST(SharedRuns, RefuseTablesOfOwnersThatDiffer)
{
    if (all().size() == 1) GTEST_SKIP() << "one process alone agrees with itself";
    const Index tiles = 3, n = tiles * nb;
    DistributedMatrix<double> A(session(), n, n, nb, nb, grid(), true);
    A.fill_definite(1);
    std::vector<std::int16_t> table;
    for (Index j = 0; j < tiles; ++j)
        for (Index i = 0; i < tiles; ++i) table.push_back(grid()(i, j));
    HeldTiles<double> named = A.tiles();
    named.owners.rule = TileOwners::Rule::given;
    named.owners.table_rows = tiles;
    named.owners.table = table.data();
    const auto other = std::int16_t((table[4] + 1) % all().size());
    const std::int16_t right = std::exchange(table[4], all().rank() == 1 ? other : table[4]);
    EXPECT_THROW(distributed::potrf(session(), Uplo::lower, named), Error);
    table[4] = right;
    EXPECT_EQ(distributed::potrf(session(), Uplo::lower, named), 0);
}

/// Where the memory for its books is not there.
TEST(SharedRuns, AreRefusedByAllWhereOneCannotLayThemOut)
{
    const bool odd = all().rank() == all().size() - 1;
    DistributedMatrix<double> A(session(), nb, nb, nb, nb, grid(), true);
    Form form = forms::potrf().front();
    if (odd) form.lay[layout_of_precision<double>] = [](LayoutRoom&, Place&, const Problem&) { throw std::bad_alloc(); };
    const SharedOperand operand = shared(A.tiles());
    const auto call = [&] {
        SharedCall(session(), "potrf", form, {.m = nb, .n = nb, .k = nb, .nb = nb}, layout_of_precision<double>, {&operand, 1})
            .run({});
    };
    EXPECT_ANY_THROW(call());
    const Residence nowhere{all().rank(), all().size(), {}, {}};
    const auto submit = [&](Flow&) {
        if (odd) throw std::bad_alloc();
    };
    EXPECT_THROW(run_resident(session(), {"books", "books", "books"}, nowhere, submit, {}), Error);
}

TEST(SharedRuns, SendWhatTheOwnersSay)
{
    const Index tiles = 9, n = tiles * nb;
    const TileOwners owners = grid();
    DistributedMatrix<double> A(session(), n, n, nb, nb, owners, true);
    A.fill_definite(1);
    ASSERT_EQ(distributed::potrf(session(), Uplo::lower, A.tiles(), {.variant = "in-place"}), 0);
    // (k, k) goes to who has a tile below it; (i, k) to who has (i, j) or (j, i) in the rest, each once.
    double messages = 0;
    for (Index k = 0; k < tiles; ++k)
        for (Index i = k; i < tiles; ++i) {
            std::vector<bool> needs(std::size_t(all().size()));
            if (i == k)
                for (Index j = k + 1; j < tiles; ++j) needs[std::size_t(owners(j, k))] = true;
            else
                for (Index j = k + 1; j < tiles; ++j) needs[std::size_t(j <= i ? owners(i, j) : owners(j, i))] = true;
            for (int p = 0; p < all().size(); ++p)
                if (needs[std::size_t(p)] && p != owners(i, k)) ++messages;
        }
    double sent[] = {double(session().sent().messages), session().sent().bytes};
    all().sum(sent);
    EXPECT_EQ(sent[0], messages);
    EXPECT_EQ(sent[1], messages * nb * nb * sizeof(double));
}

TEST(SharedRuns, ThrowOnAllProcessesWhatOneThrows)
{
    const auto body = [](Flow& flow) {
        const Datum far = Datum(reinterpret_cast<void*>(1 << 20), 8).owned_by(std::int16_t(all().size() - 1)).at_home(named_only);
        flow.submit("fails", [] { throw std::runtime_error("it broke"); }, {write(far)});
    };
    try {
        session().run_shared(body);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const std::exception& error) {
        EXPECT_NE(std::string(error.what()).find("it broke"), std::string::npos);
        if (all().size() > 1) {
            EXPECT_NE(std::string(error.what()).find("process " + std::to_string(all().size() - 1)), std::string::npos)
                << error.what();
        }
    }
}

TEST(SharedRuns, RefuseToNameMoreOfADatumThanItsFirstTask)
{
    const auto last = std::int16_t(all().size() - 1);
    std::vector<double> mine(64, 1);
    const void* const address = last == all().rank() ? mine.data() : nullptr;
    double where[] = {double(reinterpret_cast<std::uintptr_t>(address))};
    all().sum(where); // one name for all
    const auto named = [&](Index rows, Index cols) {
        const auto* const at = reinterpret_cast<const void*>(std::uintptr_t(where[0])); // NOLINT(performance-no-int-to-ptr)
        return Datum(at, rows, cols, 8, sizeof(double)).owned_by(last);
    };
    const auto use = [&](const Datum& first, const Datum& second) {
        session().run_shared([&](Flow& flow) {
            flow.submit("first", [] {}, {readwrite(first)});
            flow.submit("second", [] {}, {readwrite(second)});
        });
    };
    use(named(8, 8), named(8, 4));
    for (const Datum& larger : {named(8, 8), named(4, 8), named(8, 5)}) {
        try {
            use(named(8, 4), larger);
            ADD_FAILURE() << larger.rows << " x " << larger.cols << " was taken";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::bad_argument) << error.what();
        }
    }
    EXPECT_EQ(mine, std::vector<double>(64, 1));
}

TEST(SharedRuns, AreRefusedByAllWhereOneCannotBegin)
{
    const Index n = 3 * nb;
    DistributedMatrix<double> A(session(), n, n, nb, nb, grid(), true);
    A.fill_definite(1);
    {
        std::unique_ptr<Session> other;
        std::unique_ptr<Flow> open; // StarPU's workers are in use by it
        if (all().rank() == all().size() - 1) {
            SessionOptions options;
            options.engine = "starpu", options.scheduler = "eager", options.worker_count = 1;
            other = std::make_unique<Session>(options);
            open = other->open_flow(0);
        }
        try {
            distributed::potrf(session(), Uplo::lower, A.tiles());
            ADD_FAILURE() << "nothing was refused";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::environment);
            EXPECT_NE(std::string(error.what()).find("end that flow"), std::string::npos) << error.what();
        }
    }
    EXPECT_EQ(distributed::potrf(session(), Uplo::lower, A.tiles()), 0);
}

} // namespace
} // namespace trencadis
