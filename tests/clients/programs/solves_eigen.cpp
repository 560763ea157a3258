// What Eigen's users get when it is told to call BLAS and LAPACKE; every result is held against its definition, in norms.
#define EIGEN_USE_BLAS
#define EIGEN_USE_LAPACKE_STRICT
#include <Eigen/Dense>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace {

template <class Difference> void near(const char* what, const Difference& difference, double scale)
{
    const double n = 300, error = double(difference.norm()); // the bound: as in solves.R
    const double bound = 10 * n * scale * double(Eigen::NumTraits<typename Difference::Scalar>::epsilon());
    if (error <= bound) return;
    std::fprintf(stderr, "%s: %g, at most %g\n", what, error, bound);
    std::exit(1);
}

template <class T> void all_of()
{
    using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
    const int n = 300;
    const Matrix A = Matrix::Random(n, n), B = Matrix::Random(n, 5), one = Matrix::Identity(n, n);
    near("product", Matrix((A * B).colwise().sum() - A.colwise().sum() * B), double(A.norm() * B.norm()) * 20);
    const Eigen::PartialPivLU<Matrix> lu(A);
    Matrix X = lu.solve(B);
    near("LU", Matrix(B - A * X), double(A.norm() * X.norm()));
    near("its factors", Matrix(lu.reconstructedMatrix() - A), double(A.norm()));
    X = A.inverse();
    near("inverse", Matrix(A * X - one), double(A.norm() * X.norm()));
    Matrix S = T(n) * one;
    S.template selfadjointView<Eigen::Lower>().rankUpdate(A);
    S = Matrix(S.template selfadjointView<Eigen::Lower>());
    near("rankUpdate", Matrix(S - A * A.adjoint() - T(n) * one), double(S.norm()));
    const Eigen::LLT<Matrix> cholesky(S);
    X = cholesky.solve(B);
    near("LLT", Matrix(B - S * X), double(S.norm() * X.norm()));
    near("its factor", Matrix(cholesky.reconstructedMatrix() - S), double(S.norm()));
    X = S.template selfadjointView<Eigen::Upper>() * B;
    near("selfadjointView", Matrix(X - S * B), double(S.norm() * B.norm()));
    const Matrix L = cholesky.matrixL();
    X = L.template triangularView<Eigen::Lower>().solve(B);
    near("triangularView, solve", Matrix(B - L * X), double(L.norm() * X.norm()));
    X = L.template triangularView<Eigen::Lower>() * B;
    near("triangularView", Matrix(X - L * B), double(L.norm() * B.norm()));
    if (Eigen::LLT<Matrix>(S - T(2) * S(4, 4) * one).info() != Eigen::NumericalIssue)
        std::exit((std::fprintf(stderr, "LLT took an indefinite matrix\n"), 1));
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
