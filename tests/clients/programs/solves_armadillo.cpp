// What Armadillo's users call for a dense system; every result is held against its definition, in norms.
#define ARMA_DONT_USE_WRAPPER // the BLAS and LAPACK that the program is linked with
#include <armadillo>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace {

template <class Difference> void near(const char* what, const Difference& difference, double scale)
{
    const double n = 300, error = arma::norm(difference, "fro"); // the bound: as in solves.R
    const double bound = 10 * n * scale * double(std::numeric_limits<typename Difference::pod_type>::epsilon());
    if (error <= bound) return;
    std::fprintf(stderr, "%s: %g, at most %g\n", what, error, bound);
    std::exit(1);
}
template <class T> double size_of(const arma::Mat<T>& M) { return double(arma::norm(M, "fro")); }

template <class T> void all_of()
{
    using Matrix = arma::Mat<T>;
    const arma::uword n = 300;
    const Matrix A(n, n, arma::fill::randn), B(n, 5, arma::fill::randn), one(n, n, arma::fill::eye);
    Matrix X = arma::solve(A, B);
    near("solve", Matrix(B - A * X), size_of(A) * size_of(X));
    X = arma::solve(A, B, arma::solve_opts::fast);
    near("solve, fast", Matrix(B - A * X), size_of(A) * size_of(X));
    X = arma::inv(A);
    near("inv", Matrix(A * X - one), size_of(A) * size_of(X));
    Matrix L, U, P;
    arma::lu(L, U, P, A);
    near("lu", Matrix(P * A - L * U), size_of(A));
    const Matrix S = A.t() * A + T(n) * one;
    const Matrix R = arma::chol(S);
    near("chol", Matrix(S - R.t() * R), size_of(S));
    X = arma::solve(S, B, arma::solve_opts::likely_sympd);
    near("solve, positive definite", Matrix(B - S * X), size_of(S) * size_of(X));
    X = arma::inv_sympd(S);
    near("inv_sympd", Matrix(S * X - one), size_of(S) * size_of(X));
    X = arma::solve(arma::trimatu(R), B);
    near("solve, triangular", Matrix(B - R * X), size_of(R) * size_of(X));
    const std::complex<double> by_lu(arma::log_det(S)), by_cholesky(T(2) * arma::sum(arma::log(R.diag())));
    if (std::abs(by_lu - by_cholesky) > 1e-5 * std::abs(by_lu)) std::exit((std::fprintf(stderr, "log_det\n"), 1));
    Matrix singular = A;
    singular.col(6).zeros();
    if (arma::inv(X, singular)) std::exit((std::fprintf(stderr, "a singular matrix was inverted\n"), 1));
}

} // namespace

int main()
{
    all_of<double>();
    all_of<float>();
    all_of<std::complex<double>>();
    all_of<std::complex<float>>();
    std::puts("right");
}
