// The routines through sessions on the engines that schedule themselves: bit by bit what the sequential engine gives. Every tile
// sees its operations in one order, whoever runs them, so that is so with several workers as well.
#include "drivers/incremental_lu.hpp"
#include "drivers/linear_algebra.hpp"
#include "drivers/tile_qr.hpp"
#include "kernels/testing/reference.hpp"
#include "session/session.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace trencadis {
namespace {

using namespace testing;

constexpr Index nb = 16;
constexpr Index sizes[] = {0, 1, nb - 1, nb, nb + 1, 5 * nb + 3};

struct Setup {
    const char* engine;
    int workers;
};
void PrintTo(const Setup& setup, std::ostream* out) { *out << setup.engine << " with " << setup.workers << " workers"; }

/// Null where the engine or the cores are not here, and says why.
std::unique_ptr<Session> session_of(const Setup& setup)
{
    SessionOptions options;
    options.engine = setup.engine;
    options.worker_count = setup.workers;
    try {
        return std::make_unique<Session>(options);
    } catch (const std::exception& error) {
        std::printf("%s\n", error.what());
        return nullptr;
    }
}

class RoutinesOnEngines : public ::testing::TestWithParam<Setup> {
protected:
    using Call = std::function<Index(Session&, Dense<double>& A, std::vector<double>& more, const RoutineOptions&)>;
    void SetUp() override
    {
        if (!session_) GTEST_SKIP() << "see above";
    }
    /// `make(n)`: A. `more`: what else is computed, n + 1 numbers.
    void compare(const std::function<Dense<double>(Index)>& make, const std::vector<const char*>& variants, const Call& call)
    {
        for (const Index n : sizes)
            for (const char* variant : variants) {
                const RoutineOptions options{.nb = nb, .variant = variant};
                Dense<double> A = make(n), B = A;
                std::vector<double> a(std::size_t(3 * n + 1), 1.5), b = a;
                EXPECT_EQ(call(*session_, A, a, options), call(sequential_, B, b, options));
                EXPECT_EQ(std::memcmp(A.data.data(), B.data.data(), A.data.size() * sizeof(double)), 0)
                    << variant << ", n = " << n;
                EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(double)), 0) << variant << ", n = " << n;
            }
    }
    std::unique_ptr<Session> session_ = session_of(GetParam());
    Session sequential_{[] {
        SessionOptions options;
        options.engine = "sequential";
        return options;
    }()};
};
INSTANTIATE_TEST_SUITE_P(All, RoutinesOnEngines,
                         ::testing::Values(Setup{"openmp-gnu", 1}, Setup{"openmp-gnu", 2}, Setup{"openmp-llvm", 1},
                                           Setup{"openmp-llvm", 2}),
                         [](const auto& info) {
                             std::string name = info.param.engine + std::to_string(info.param.workers);
                             std::ranges::replace(name, '-', '_');
                             return name;
                         });

Dense<double> positive_definite(Index n) { return random_triangle<double>(Uplo::lower, n, double(2 * n + 2)); }
Dense<double> general(Index n) { return random_matrix<double>(n, n); }

TEST_P(RoutinesOnEngines, CholeskyInItsForms)
{
    compare(positive_definite, {"packed", "in-place", "tile-layout", "left-looking", "two-level", "columns"},
            [](Session& on, Dense<double>& A, std::vector<double>&, const RoutineOptions& options) {
                return potrf(on, Uplo::lower, A.rows, A.data.data(), A.ld, options);
            });
}

TEST_P(RoutinesOnEngines, CholeskyOfWhatIsNotPositiveDefinite)
{
    const auto bad = [](Index n) {
        Dense<double> A = positive_definite(n);
        if (n > nb) A(nb, nb) = A(n - 1, n - 1) = -1;
        return A;
    };
    compare(bad, {"in-place"}, [](Session& on, Dense<double>& A, std::vector<double>&, const RoutineOptions& options) {
        const Index info = potrf(on, Uplo::lower, A.rows, A.data.data(), A.ld, options);
        EXPECT_EQ(info, A.rows > nb ? nb + 1 : 0);
        A = Dense<double>(0, 0); // what lies behind the pivot says nothing
        return info;
    });
}

TEST_P(RoutinesOnEngines, PositiveDefiniteSystems)
{
    compare(positive_definite, {"packed", "in-place"},
            [](Session& on, Dense<double>& A, std::vector<double>& b, const RoutineOptions& options) {
                return posv(on, Uplo::lower, A.rows, 1, A.data.data(), A.ld, b.data(), A.rows + 1, options);
            });
}

TEST_P(RoutinesOnEngines, LuInItsForms)
{
    std::vector<const char*> variants;
    for (const std::string_view variant : variants_of("getrf"))
        if (variant != "incremental") variants.push_back(variant.data()); // has a call of its own, see below
    compare(
        [](Index n) {
            Dense<double> A = general(n);
            for (Index i = 0; i < n; ++i) A(i, i) += 1.0; // also without pivots
            return A;
        },
        variants,
        [](Session& on, Dense<double>& A, std::vector<double>& pivots, const RoutineOptions& options) {
            std::vector<Index> ipiv(std::size_t(A.rows + 1));
            const Index info = getrf(on, A.rows, A.rows, A.data.data(), A.ld, ipiv.data(), options);
            for (Index i = 0; i < A.rows; ++i) pivots[std::size_t(i)] = double(ipiv[std::size_t(i)]);
            return info;
        });
}

TEST_P(RoutinesOnEngines, IncrementalLu)
{
    compare(general, {""}, [](Session& on, Dense<double>& A, std::vector<double>& b, const RoutineOptions& options) {
        const IncrementalLu<double> lu(on, A.rows, A.data.data(), A.ld, options);
        lu.solve(1, b.data(), std::max<Index>(A.rows, 1), options);
        return lu.info();
    });
}

TEST_P(RoutinesOnEngines, Qr)
{
    compare(general, {"blocked"}, [](Session& on, Dense<double>& A, std::vector<double>& tau, const RoutineOptions& options) {
        geqrf(on, A.rows, A.rows, A.data.data(), A.ld, tau.data(), options);
        return Index(0);
    });
}

TEST_P(RoutinesOnEngines, QrByTrees)
{
    const auto tall = [](Index n) { return random_matrix<double>(3 * n, n); };
    compare(tall, {"flat", "plasma", "binary", "greedy", "fibonacci"},
            [](Session& on, Dense<double>& A, std::vector<double>& b, const RoutineOptions& options) {
                const TileQr<double> qr(on, A.rows, A.cols, A.data.data(), A.ld, options);
                return qr.solve(1, b.data(), std::max<Index>(A.rows, 1), options);
            });
}

TEST_P(RoutinesOnEngines, Products)
{
    compare(general, {""}, [](Session& on, Dense<double>& A, std::vector<double>& C, const RoutineOptions& options) {
        C.resize(std::size_t(A.rows * A.rows + 1), 1.0);
        gemm(on, Op::none, Op::none, A.rows, A.rows, A.rows, 1.0, A.data.data(), A.ld, A.data.data(), A.ld, 0.5, C.data(),
             std::max<Index>(A.rows, 1), options);
        return Index(0);
    });
}

} // namespace
} // namespace trencadis
