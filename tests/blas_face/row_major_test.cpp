#include "kernels/testing/reference.hpp"
#include "symbols.hpp"

// Row-major calls against column-major ones on transposed memory, under every name.
namespace trencadis::testing {
namespace {

constexpr int row = 101, column = 102, no_trans = 111, conj_trans = 113, upper = 121, left = 141, non_unit = 131;
using Complex = std::complex<double>;
constexpr Index m = 6, n = 9, k = 4;

/// The same matrix, its rows contiguous.
template <Scalar T> Dense<T> rows_of(const Dense<T>& A)
{
    Dense<T> R(A.cols, A.rows);
    for (Index j = 0; j < A.cols; ++j)
        for (Index i = 0; i < A.rows; ++i) R(j, i) = A(i, j);
    return R;
}
template <Scalar T> void expect_transposed(const Dense<T>& A, const Dense<T>& R)
{
    for (Index j = 0; j < A.cols; ++j)
        for (Index i = 0; i < A.rows; ++i) {
            if (std::isnan(std::real(A(i, j)))) continue; // the triangle that is not stored
            // Two sums of at most 2 * 9 products below 2 each, and what was there before.
            ASSERT_LE(std::abs(A(i, j) - R(j, i)), 2 * (18 + 3) * rounding<T> * double(eps<T>) * 2 * 19) << i << ", " << j;
        }
}

template <class Int> void check(const Family& family)
{
    const Complex alpha(0.75, -0.5), beta(1, 0.25);
    const Dense<Complex> A = random_matrix<Complex>(m, k), B = random_matrix<Complex>(k, n), C = random_matrix<Complex>(m, n);
    const Dense<Complex> Ar = rows_of(A), Br = rows_of(B);
    Dense<Complex> X = C, Xr = rows_of(C);
    const auto zgemm = reinterpret_cast<void (*)(int, int, int, Int, Int, Int, const void*, const void*, Int, const void*, Int,
                                                 const void*, void*, Int)>(address(family.name("zgemm")));
    zgemm(column, no_trans, no_trans, m, n, k, &alpha, A.data.data(), A.ld, B.data.data(), B.ld, &beta, X.data.data(), X.ld);
    zgemm(row, no_trans, no_trans, m, n, k, &alpha, Ar.data.data(), Ar.ld, Br.data.data(), Br.ld, &beta, Xr.data.data(), Xr.ld);
    expect_transposed(X, Xr);

    const Dense<Complex> H = random_triangle<Complex>(Uplo::upper, m, 3), Hr = rows_of(H);
    const auto zhemm = reinterpret_cast<void (*)(int, int, int, Int, Int, const void*, const void*, Int, const void*, Int,
                                                 const void*, void*, Int)>(address(family.name("zhemm")));
    const Dense<Complex> G = random_matrix<Complex>(m, n), Gr = rows_of(G);
    zhemm(column, left, upper, m, n, &alpha, H.data.data(), H.ld, G.data.data(), G.ld, &beta, X.data.data(), X.ld);
    zhemm(row, left, upper, m, n, &alpha, Hr.data.data(), Hr.ld, Gr.data.data(), Gr.ld, &beta, Xr.data.data(), Xr.ld);
    expect_transposed(X, Xr);

    const auto ztrmm = reinterpret_cast<void (*)(int, int, int, int, int, Int, Int, const void*, const void*, Int, void*, Int)>(
        address(family.name("ztrmm")));
    ztrmm(column, left, upper, conj_trans, non_unit, m, n, &alpha, H.data.data(), H.ld, X.data.data(), X.ld);
    ztrmm(row, left, upper, conj_trans, non_unit, m, n, &alpha, Hr.data.data(), Hr.ld, Xr.data.data(), Xr.ld);
    for (Complex& value : X.data) value /= 100; // for the bound above
    for (Complex& value : Xr.data) value /= 100;
    expect_transposed(X, Xr);

    Dense<Complex> U = random_triangle<Complex>(Uplo::upper, m, 0), Ur = rows_of(U);
    const Dense<Complex> D = random_matrix<Complex>(m, k), Dr = rows_of(D);
    const auto zher2k =
        reinterpret_cast<void (*)(int, int, int, Int, Int, const void*, const void*, Int, const void*, Int, double, void*, Int)>(
            address(family.name("zher2k")));
    zher2k(column, upper, no_trans, m, k, &alpha, A.data.data(), A.ld, D.data.data(), D.ld, 0.5, U.data.data(), U.ld);
    zher2k(row, upper, no_trans, m, k, &alpha, Ar.data.data(), Ar.ld, Dr.data.data(), Dr.ld, 0.5, Ur.data.data(), Ur.ld);
    expect_transposed(U, Ur);
    const auto zherk = reinterpret_cast<void (*)(int, int, int, Int, Int, double, const void*, Int, double, void*, Int)>(
        address(family.name("zherk")));
    zherk(column, upper, no_trans, m, k, -0.5, A.data.data(), A.ld, 0.5, U.data.data(), U.ld);
    zherk(row, upper, no_trans, m, k, -0.5, Ar.data.data(), Ar.ld, 0.5, Ur.data.data(), Ur.ld);
    expect_transposed(U, Ur);
}

TEST(RowMajor, IsColumnMajorOnTransposedMemoryUnderEveryName)
{
    for (const Family& family : cblas_families) {
        SCOPED_TRACE(family.name("z..."));
        if (family.wide) check<std::int64_t>(family);
        else check<std::int32_t>(family);
    }
}

TEST(Names, AreThereForEveryRoutineAndPrecision)
{
    for (const std::string routine : {"gemm", "symm", "syrk", "syr2k", "trmm", "trsm", "hemm", "herk", "her2k"})
        for (const char precision : std::string(routine[0] == 'h' ? "cz" : "sdcz")) {
            for (const Family& family : fortran_families) address(family.name(precision + routine));
            for (const Family& family : cblas_families) address(family.name(precision + routine));
        }
    for (const std::string routine : {"potrf", "potrs", "posv", "getrf", "getrs", "gesv", "getri", "trtri", "lauum", "potri"})
        for (const char precision : std::string("sdcz"))
            for (const Family& family : fortran_families) address(family.name(precision + routine));
}

} // namespace
} // namespace trencadis::testing
