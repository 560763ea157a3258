// Data kept by a session: what its calls write there in whatever way is seen by the next call, also where one was stopped, and in
// a process that was forked since.
#include "base/error.hpp"
#include "base/sanitized.hpp"
#include "drivers/linear_algebra.hpp"
#include "session/session.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace trencadis::testing {
namespace {

constexpr Index n = 128, nrhs = 64, nb = 32;

/// One slow core beside a device, which so has most of the tasks.
SessionOptions beside_a_device(const std::string& words)
{
    SessionOptions options;
    options.scheduler = "eager";
    options.devices = words;
    options.workers = {Session::standard().options().workers.front()};
    options.slow = {{options.workers.front(), 0.1}};
    return options;
}

struct Matrix {
    Matrix(Index rows, Index cols, unsigned seed) : rows(rows), cols(cols), at(std::size_t(rows * cols))
    {
        std::minstd_rand random(seed);
        std::uniform_real_distribution<double> spread(-1, 1);
        for (double& x : at) x = spread(random);
    }
    /// With a diagonal that outweighs the rest of rows and columns, and is symmetric where they are.
    Matrix& dominated()
    {
        for (Index j = 0; j < cols; ++j) {
            for (Index i = 0; i < j; ++i) (*this)(i, j) = (*this)(j, i);
            (*this)(j, j) = 2.0 * double(rows);
        }
        return *this;
    }
    static Matrix identity(Index order)
    {
        Matrix I(order, order, 1);
        for (Index j = 0; j < order; ++j)
            for (Index i = 0; i < order; ++i) I(i, j) = i == j;
        return I;
    }
    /// Where it is: what is kept may not move.
    void become(const Matrix& other) { std::copy(other.at.begin(), other.at.end(), at.begin()); }
    double& operator()(Index i, Index j) { return at[std::size_t(i + j * rows)]; }
    double* data() { return at.data(); }
    Index rows, cols;
    std::vector<double> at;
};

class KeptByASession : public ::testing::Test {
protected:
    explicit KeptByASession(const std::string& words = "emulated,always=yes") : session(beside_a_device(words)) {}
    static RoutineOptions tiles(Index size = nb) { return {.nb = size}; }
    void keep(Matrix& X, Index rows = 0) { session.keep(X.data(), rows ? rows : X.rows, X.cols, X.rows, sizeof(double)); }
    /// A product of the first rows with the unit matrix is what is at home.
    void expect_seen(Matrix& X, Index rows, const char* where, Index size = nb)
    {
        Matrix I = Matrix::identity(X.cols), C(rows, X.cols, 2);
        gemm(session, Op::none, Op::none, rows, X.cols, X.cols, 1.0, X.data(), X.rows, I.data(), I.rows, 0.0, C.data(), rows,
             tiles(size));
        for (Index j = 0; j < X.cols; ++j)
            for (Index i = 0; i < rows; ++i) ASSERT_EQ(C(i, j), X(i, j)) << where << ", row " << i << ", column " << j;
    }
    Session session;
};

/// Powers of two, far enough from one another for LAPACK's drivers to scale.
double factor_of(Index i) { return std::ldexp(1.0, int(i % 9) * 4); }

TEST_F(KeptByASession, IsSeenAsTheExpertDriversHaveScaledIt)
{
    for (const bool positive : {false, true}) {
        Matrix A(n, n, 3), AF(n, n, 4), B(n, nrhs, 5), X(n, nrhs, 6);
        keep(X), keep(B), keep(A);
        std::vector<double> r(n), c(n), ferr(nrhs), berr(nrhs);
        std::vector<Index> ipiv(n);
        for (int round = 0; round < 4; ++round) {
            A.become(Matrix(n, n, 3).dominated()), B.become(Matrix(n, nrhs, unsigned(round) + 5));
            for (Index j = 0; j < n; ++j)
                for (Index i = 0; i < n; ++i) A(i, j) *= factor_of(i) * factor_of(j);
            session.touch_kept(A.data()), session.touch_kept(B.data());
            char equed = 'N';
            double rcond = 0, growth = 0;
            if (positive)
                ASSERT_EQ(posvx(session, Fact::scale, Uplo::lower, n, nrhs, A.data(), n, AF.data(), n, &equed, r.data(), B.data(),
                                n, X.data(), n, &rcond, ferr.data(), berr.data(), tiles()),
                          0);
            else
                ASSERT_EQ(gesvx(session, Fact::scale, Op::none, n, nrhs, A.data(), n, AF.data(), n, ipiv.data(), &equed, r.data(),
                                c.data(), B.data(), n, X.data(), n, &rcond, ferr.data(), berr.data(), &growth, tiles()),
                          0);
            ASSERT_NE(equed, 'N');
            expect_seen(X, n, positive ? "x of posvx" : "x of gesvx");
            expect_seen(B, n, positive ? "b of posvx" : "b of gesvx");
            expect_seen(A, n, positive ? "a of posvx" : "a of gesvx");
        }
        for (Matrix* const one : {&A, &B, &X}) session.leave(one->data());
    }
}

TEST_F(KeptByASession, IsSeenAsLeastSquaresHaveScaledItBack)
{
    Matrix A(n + nb, n, 3), B(n + nb, nrhs, 5);
    keep(A), keep(B);
    for (int round = 0; round < 6; ++round) {
        A.become(Matrix(n + nb, n, 3)), B.become(Matrix(n + nb, nrhs, unsigned(round)));
        for (Index j = 0; j < n; ++j) A(j, j) += 30;
        for (double& x : A.at) x = std::ldexp(x, -1000); // below what its squares would need
        session.touch_kept(A.data()), session.touch_kept(B.data());
        ASSERT_EQ(gels(session, Op::none, n + nb, n, nrhs, A.data(), n + nb, B.data(), n + nb, tiles()), 0);
        expect_seen(B, n, "the solution");
    }
}

TEST_F(KeptByASession, IsReadAnewByEachStepOfARefinement)
{
    constexpr Index many = 64;
    Matrix A(n, n, 3), B(n, many, 5), X(n, many, 6);
    std::vector<Index> ipiv(n);
    keep(X);
    for (const bool positive : {false, true})
        for (int round = 0; round < 4; ++round) {
            A.become(Matrix(n, n, unsigned(round)).dominated());
            int steps = 0;
            if (positive)
                ASSERT_EQ(posv_mixed(session, Uplo::lower, n, many, A.data(), n, B.data(), n, X.data(), n, &steps, tiles()), 0);
            else ASSERT_EQ(gesv_mixed(session, n, many, A.data(), n, ipiv.data(), B.data(), n, X.data(), n, &steps, tiles()), 0);
            EXPECT_GE(steps, 1) << "a step that sees another x than the last one has left does not end well";
            expect_seen(X, n, "x");
        }
}

TEST_F(KeptByASession, IsSeenInOtherTilesAndAsFactorsInPlace)
{
    Matrix A(n, n, 3);
    keep(A);
    for (int round = 0; round < 4; ++round) {
        A.become(Matrix(n, n, unsigned(round)).dominated());
        session.touch_kept(A.data());
        for (const Index size : {32, 48, 32}) expect_seen(A, n, "a", size);
        ASSERT_EQ(potrf(session, Uplo::lower, n, A.data(), n, tiles(48)), 0);
        for (const Index size : {48, 32, 128}) expect_seen(A, n, "factor", size);
    }
}

/// What a call leaves that was stopped while its results came home is kept_test.cpp's: here it may be over before.
class KeptByASlowDevice : public KeptByASession {
protected:
    KeptByASlowDevice() : KeptByASession("emulated,bandwidth=2MB/s,always=yes") {}
};

TEST_F(KeptByASlowDevice, IsSeenAsACallHasLeftItWhoseCallerWasAskedWhetherToStop)
{
    struct Enough : std::runtime_error {
        using std::runtime_error::runtime_error;
    };
    Matrix A(n, n, 3), B(n, n, 4), C(n, n, 5);
    keep(A), keep(B), keep(C);
    RoutineOptions stopped = tiles();
    for (int round = 0; round < 4; ++round) {
        const bool throws = round % 2;
        stopped.interrupted = [&]() -> bool { return throws ? throw Enough("enough of it") : true; };
        std::string said;
        try {
            gemm(session, Op::none, Op::none, n, n, n, 1.0 + round, A.data(), n, B.data(), n, 0.0, C.data(), n, stopped);
        } catch (const Enough& enough) {
            said = enough.what();
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::cancelled);
            said = "stopped";
        }
        EXPECT_TRUE(said.empty() || said == (throws ? "enough of it" : "stopped")) << said;
        expect_seen(C, n, "after a call that was stopped");
    }
}

TEST(KeptByAParent, IsNobodysInAForkedChild)
{
    if (sanitized) GTEST_SKIP() << "sanitizers do not follow a fork of a process with threads";
    Session session(beside_a_device("emulated,always=yes"));
    Matrix A(n, n, 3);
    session.keep(A.data(), n, n, n, sizeof(double));
    const auto refused = [](const std::function<void()>& call) {
        try {
            call();
        } catch (const Error& error) {
            return error.code() == ErrorCode::environment;
        }
        return false;
    };
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        if (session.keeps()) _exit(1);
        session.touch(A.data(), 8);
        session.leave(A.data()), session.leave(A.data()); // what a scope does at its end: nothing, and no error
        if (!refused([&] { session.keep(A.data() + 1, 1, 1, 1, 8); })) _exit(2);
        if (!refused([&] { session.touch_kept(A.data()); })) _exit(3);
        Matrix one(8, 8, 1), two(8, 8, 2), three(8, 8, 3); // by the calling thread
        gemm(session, Op::none, Op::none, 8, 8, 8, 1.0, one.data(), 8, two.data(), 8, 0.0, three.data(), 8);
        _exit(42);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 42);
    EXPECT_TRUE(session.keeps());
    session.leave(A.data());
}

} // namespace
} // namespace trencadis::testing
