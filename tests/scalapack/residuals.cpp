// Factors, solves and multiplies through ScaLAPACK's symbols on a grid of some of the processes, compares with what was given,
// and looks whether anything else was touched: scalapack_residuals ROWS COLS [aligned|all]. One line per call that is wrong.
// `aligned` leaves out what ScaLAPACK itself refuses; `all` takes every precision in every case instead of two.
#include "dealt.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>

namespace {

int wrong = 0, calls = 0;

template <class T> T conjugate(T x)
{
    if constexpr (std::is_same_v<T, Real<T>>) return x;
    else return std::conj(x);
}
/// Numbers between -1/2 and 1/2 that depend on their place alone.
double noise(unsigned i, unsigned j, unsigned salt)
{
    unsigned x = i * 2654435761u ^ j * 40503u * 65537u ^ salt * 97u;
    for (int round = 0; round < 3; ++round) x = (x ^ x >> 15) * 2246822519u;
    return double(x % 100003u) / 100003 - 0.5;
}
template <class T> T general(int i, int j, int salt = 0)
{
    if constexpr (std::is_same_v<T, Real<T>>) return T(noise(i, j, salt));
    else return T(noise(i, j, salt), noise(i, j, salt + 1000));
}
/// Hermitian, and positive definite by its diagonal.
template <class T> T positive(int i, int j)
{
    if (i == j) return T(100);
    return i > j ? general<T>(i, j) : conjugate(general<T>(j, i));
}

template <class T> Real<T> one_norm(const Whole<T>& A)
{
    Real<T> norm = 0;
    for (int j = 0; j < A.n; ++j) {
        Real<T> sum = 0;
        for (int i = 0; i < A.m; ++i) sum += std::abs(A(i, j));
        norm = std::max(norm, std::isnan(sum) ? std::numeric_limits<Real<T>>::infinity() : sum);
    }
    return norm;
}
template <class T> Whole<T> product(const Whole<T>& A, const Whole<T>& B)
{
    Whole<T> C{A.m, B.n};
    for (int j = 0; j < B.n; ++j)
        for (int k = 0; k < A.n; ++k)
            for (int i = 0; i < A.m; ++i) C(i, j) += A(i, k) * B(k, j);
    return C;
}
template <class T> Whole<T> difference(Whole<T> A, const Whole<T>& B)
{
    for (std::size_t e = 0; e < A.elements.size(); ++e) A.elements[e] -= B.elements[e];
    return A;
}
template <class T> Whole<T> herm(const Whole<T>& A)
{
    Whole<T> H{A.n, A.m};
    for (int j = 0; j < A.n; ++j)
        for (int i = 0; i < A.m; ++i) H(j, i) = conjugate(A(i, j));
    return H;
}
template <class T> Whole<T> made(int m, int n, const std::function<T(int, int)>& element)
{
    Whole<T> A{m, n};
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) A(i, j) = element(i, j);
    return A;
}

struct Case {
    const char* routine;
    Grid grid;
    int m, n;
    Deal a, b;
};

/// LAPACK's testers allow 30 units of n eps |A| for residuals of this kind.
template <class T> void judge(const Case& at, double residual, double scale, bool untouched, int info = 0)
{
    const double ratio = residual / (std::max(1, std::max(at.m, at.n)) * std::numeric_limits<Real<T>>::epsilon() * scale);
    ++calls;
    if (ratio < 30 && untouched && info == 0) return;
    ++wrong;
    if (at.grid.row == 0 && at.grid.col == 0)
        std::printf("wrong: p%c%s %dx%d blocks %dx%d from (%d, %d) process (%d, %d): ratio %g%s, info %d\n", Scalapack<T>::letter,
                    at.routine, at.m, at.n, at.a.mb, at.a.nb, at.a.ia, at.a.ja, at.a.rsrc, at.a.csrc, ratio,
                    untouched ? "" : ", touched what is not its own", info);
}

template <class T> void cholesky(Case at, char uplo)
{
    at.routine = "potrf";
    const int n = at.n, nrhs = 5;
    const bool lower = uplo == 'L';
    const auto in_triangle = [&](int i, int j) { return i < n && j < n && (lower ? i >= j : i <= j); };
    Dealt<T> A(at.grid, n, n, at.a);
    A.fill([&](int i, int j) { return in_triangle(i, j) ? positive<T>(i, j) : T(-99); });
    int info = -1;
    Scalapack<T>::potrf(&uplo, &n, OF(A), &info);
    Whole<T> L = A.whole(n, n);
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i)
            if (!in_triangle(i, j)) L(i, j) = T(0);
    const Whole<T> given = made<T>(n, n, positive<T>);
    const Whole<T> again = lower ? product(L, herm(L)) : product(herm(L), L);
    judge<T>(at, one_norm(difference(again, given)), one_norm(given), A.untouched(in_triangle), info);

    at.routine = "potrs";
    Dealt<T> B(at.grid, n, nrhs, at.b);
    B.fill([&](int i, int j) { return general<T>(i, j, 7); });
    const Whole<T> right = B.whole(n, nrhs);
    Scalapack<T>::potrs(&uplo, &n, &nrhs, OF(A), OF(B), &info);
    const Whole<T> X = B.whole(n, nrhs);
    judge<T>(at, one_norm(difference(product(given, X), right)), one_norm(given) * one_norm(X),
             B.untouched([&](int i, int j) { return i < n && j < nrhs; }), info);
}

template <class T> void posv(Case at)
{
    at.routine = "posv";
    const int n = at.n, nrhs = 3;
    Dealt<T> A(at.grid, n, n, at.a), B(at.grid, n, nrhs, at.b);
    A.fill(positive<T>);
    B.fill([&](int i, int j) { return general<T>(i, j, 8); });
    const Whole<T> given = A.whole(n, n), right = B.whole(n, nrhs);
    int info = -1;
    Scalapack<T>::posv("U", &n, &nrhs, OF(A), OF(B), &info);
    const Whole<T> X = B.whole(n, nrhs);
    judge<T>(at, one_norm(difference(product(given, X), right)), one_norm(given) * one_norm(X),
             B.untouched([&](int i, int j) { return i < n && j < nrhs; }), info);
}

/// All pivots, as rows of sub(A) from 0; -1 where processes with the same row do not say the same.
template <class T> std::vector<int> all_pivots(const Dealt<T>& A, const std::vector<int>& ipiv, int count)
{
    std::vector<int> least(count, 1 << 30), most(count, -1);
    for (int k = 0; k < count; ++k)
        if (A.local_row(k) >= 0) least[k] = most[k] = ipiv[A.local_row(k)] - *A.ia();
    MPI_Allreduce(MPI_IN_PLACE, least.data(), count, MPI_INT, MPI_MIN, A.grid().processes);
    MPI_Allreduce(MPI_IN_PLACE, most.data(), count, MPI_INT, MPI_MAX, A.grid().processes);
    for (int k = 0; k < count; ++k)
        if (least[k] != most[k]) least[k] = -1;
    return least;
}

template <class T> std::vector<int> room_for_pivots(Dealt<T>& A) { return std::vector<int>(A.desc()[8] + A.desc()[4], -5); }

/// L U with the rows as they were, and the largest element of L.
template <class T> Whole<T> multiplied(const Whole<T>& LU, const std::vector<int>& pivots, double& largest)
{
    const int k = int(pivots.size());
    Whole<T> L{LU.m, k}, U{k, LU.n};
    for (int j = 0; j < k; ++j) {
        for (int i = j; i < LU.m; ++i) L(i, j) = i == j ? T(1) : LU(i, j);
        for (int i = j + 1; i < LU.m; ++i) largest = std::max(largest, double(std::abs(L(i, j))));
    }
    for (int j = 0; j < LU.n; ++j)
        for (int i = 0; i <= std::min(j, k - 1); ++i) U(i, j) = LU(i, j);
    Whole<T> A = product(L, U);
    for (int r = k - 1; r >= 0; --r)
        if (pivots[r] >= r && pivots[r] < LU.m)
            for (int j = 0; j < LU.n; ++j) std::swap(A(r, j), A(pivots[r], j));
    return A;
}

template <class T> void lu(Case at)
{
    at.routine = "getrf";
    const int m = at.m, n = at.n, k = std::min(m, n), nrhs = 4;
    Dealt<T> A(at.grid, m, n, at.a);
    A.fill([](int i, int j) { return general<T>(i, j); });
    const Whole<T> given = A.whole(m, n);
    std::vector<int> ipiv = room_for_pivots(A);
    int info = -1;
    Scalapack<T>::getrf(&m, &n, OF(A), ipiv.data(), &info);
    double largest = 0;
    const Whole<T> again = multiplied(A.whole(m, n), all_pivots(A, ipiv, k), largest);
    judge<T>(at, one_norm(difference(again, given)), one_norm(given), A.untouched([&](int i, int j) { return i < m && j < n; }),
             info);
    if (largest > 1.4143) judge<T>(at, largest, 0, true); // |Re| + |Im| decides between complex pivots
    if (m != n) return;

    at.routine = "getrs";
    Dealt<T> B(at.grid, n, nrhs, at.b);
    for (const char op : {'N', 'C'}) {
        B.fill([&](int i, int j) { return general<T>(i, j, 9); });
        const Whole<T> right = B.whole(n, nrhs);
        Scalapack<T>::getrs(&op, &n, &nrhs, OF(A), ipiv.data(), OF(B), &info);
        const Whole<T> X = B.whole(n, nrhs);
        judge<T>(at, one_norm(difference(product(op == 'N' ? given : herm(given), X), right)), n * one_norm(given) * one_norm(X),
                 B.untouched([&](int i, int j) { return i < n && j < nrhs; }), info);
    }
    at.routine = "gesv";
    A.fill([](int i, int j) { return general<T>(i, j); });
    B.fill([&](int i, int j) { return general<T>(i, j, 10); });
    const Whole<T> right = B.whole(n, nrhs);
    Scalapack<T>::gesv(&n, &nrhs, OF(A), ipiv.data(), OF(B), &info);
    const Whole<T> X = B.whole(n, nrhs);
    judge<T>(at, one_norm(difference(product(given, X), right)), n * one_norm(given) * one_norm(X), true, info);
}

/// Q R from the reflectors, the last of them first.
template <class T> Whole<T> reflected(const Whole<T>& QR, const std::vector<T>& tau)
{
    Whole<T> A{QR.m, QR.n};
    for (int j = 0; j < QR.n; ++j)
        for (int i = 0; i <= std::min(j, QR.m - 1); ++i) A(i, j) = QR(i, j);
    for (int r = int(tau.size()) - 1; r >= 0; --r)
        for (int j = 0; j < QR.n; ++j) {
            T sum = A(r, j);
            for (int i = r + 1; i < QR.m; ++i) sum += conjugate(QR(i, r)) * A(i, j);
            for (int i = r; i < QR.m; ++i) A(i, j) -= tau[r] * (i == r ? T(1) : QR(i, r)) * sum;
        }
    return A;
}

template <class T> void qr(Case at)
{
    at.routine = "geqrf";
    const int m = at.m, n = at.n, k = std::min(m, n), query = -1;
    Dealt<T> A(at.grid, m, n, at.a);
    A.fill([](int i, int j) { return general<T>(i, j); });
    const Whole<T> given = A.whole(m, n);
    T size(0);
    int info = -1;
    std::vector<T> local_tau(n + A.desc()[3] + A.desc()[5]);
    Scalapack<T>::geqrf(&m, &n, OF(A), local_tau.data(), &size, &query, &info);
    const int lwork = int(std::real(size));
    std::vector<T> work(lwork), tau(k);
    Scalapack<T>::geqrf(&m, &n, OF(A), local_tau.data(), work.data(), &lwork, &info);
    for (int j = 0; j < k; ++j) // each column's factor is with all processes of its column of the grid
        if (A.local_col(j) >= 0 && at.grid.row == 0) tau[j] = local_tau[A.local_col(j)];
    MPI_Allreduce(MPI_IN_PLACE, tau.data(), k * int(sizeof(T) / sizeof(Real<T>)), sizeof(Real<T>) == 4 ? MPI_FLOAT : MPI_DOUBLE,
                  MPI_SUM, at.grid.processes);
    judge<T>(at, one_norm(difference(reflected(A.whole(m, n), tau), given)), one_norm(given),
             A.untouched([&](int i, int j) { return i < m && j < n; }), info);
}

template <class T> void products(Case at)
{
    at.routine = "gemm";
    const int m = at.m, n = at.n, k = 37;
    const T alpha(2), beta(-1);
    Dealt<T> A(at.grid, m, k, at.a), B(at.grid, n, k, at.b), C(at.grid, m, n, at.a);
    A.fill([](int i, int j) { return general<T>(i, j, 1); });
    B.fill([](int i, int j) { return general<T>(i, j, 2); });
    C.fill([](int i, int j) { return general<T>(i, j, 3); });
    const Whole<T> AB = product(A.whole(m, k), herm(B.whole(n, k))), before = C.whole(m, n);
    Scalapack<T>::gemm("N", "C", &m, &n, &k, &alpha, OF(A), OF(B), &beta, OF(C));
    const Whole<T> right = made<T>(m, n, [&](int i, int j) { return alpha * AB(i, j) - before(i, j); });
    judge<T>(at, one_norm(difference(C.whole(m, n), right)), k + one_norm(right),
             C.untouched([&](int i, int j) { return i < m && j < n; }));

    at.routine = "trsm";
    Dealt<T> L(at.grid, m, m, at.a);
    L.fill([](int i, int j) { return i >= j ? positive<T>(i, j) : T(-99); });
    Scalapack<T>::trsm("L", "L", "N", "N", &m, &n, &alpha, OF(L), OF(C));
    const Whole<T> lower = made<T>(m, m, [](int i, int j) { return i >= j ? positive<T>(i, j) : T(0); });
    const Whole<T> doubled = made<T>(m, n, [&](int i, int j) { return alpha * right(i, j); });
    const Whole<T> X = C.whole(m, n);
    judge<T>(at, one_norm(difference(product(lower, X), doubled)), one_norm(lower) * one_norm(X) + k * one_norm(right), true);
}

template <class T> void all(const Case& square, const Case& oblong)
{
    cholesky<T>(square, 'L');
    cholesky<T>(square, 'U');
    posv<T>(square);
    lu<T>(square);
    lu<T>(oblong);
    qr<T>(oblong);
    products<T>(oblong);
}

void run(const Grid& grid, const std::string& which)
{
    const int p = grid.rows - 1, q = grid.cols - 1; // the last of the grid
    struct {
        int n, m;
        Deal a, b;
    } const cases[] = {
        {60, 45, {16, 16, 1, 1, 0, 0}, {16, 8, 1, 1, 0, 0}},
        {53, 64, {16, 16, 17, 33, p, q}, {16, 5, 17, 1, p, 0}},
        {1, 7, {8, 8, 1, 1, p, 0}, {8, 4, 1, 3, p, q}},
        {40, 51, {16, 16, 17, 1, 0, q}, {16, 16, 33, 17, p, 0}},
        // From here on what ScaLAPACK has no algorithm for.
        {50, 33, {16, 16, 4, 6, p, 0}, {8, 4, 4, 2, 0, q}},
        {61, 70, {15, 19, 1, 1, 0, q}, {17, 13, 2, 3, p, 0}},
        {47, 20, {64, 13, 13, 2, 0, 0}, {12, 64, 5, 1, 0, q}},
        {38, 50, {7, 9, 8, 19, p, q}, {9, 7, 10, 5, 0, 0}},
    };
    int number = 0;
    for (const auto& [n, m, a, b] : cases) {
        if (which == "aligned" && number == 4) break;
        const Case square{"", grid, n, n, a, b}, oblong{"", grid, m, n, a, b};
        const bool odd = number++ % 2 == 1, every = which == "all";
        if (every || odd) all<float>(square, oblong), all<std::complex<double>>(square, oblong);
        if (every || !odd) all<double>(square, oblong), all<std::complex<float>>(square, oblong);
    }
}

/// The last rows * cols processes of the world, the last one first: a grid that is neither all of them nor in their order.
Grid last_ones(int rows, int cols)
{
    int me = 0, processes = 0;
    Cblacs_pinfo(&me, &processes);
    Grid grid{};
    Cblacs_get(-1, 0, &grid.context);
    std::vector<int> map(rows * cols);
    for (int at = 0; at < rows * cols; ++at) map[at] = processes - 1 - at;
    Cblacs_gridmap(&grid.context, map.data(), rows, rows, cols);
    Cblacs_gridinfo(grid.context, &grid.rows, &grid.cols, &grid.row, &grid.col);
    const bool in = grid.row >= 0 && grid.row < rows && grid.col >= 0 && grid.col < cols;
    MPI_Comm_split(MPI_COMM_WORLD, in ? 1 : MPI_UNDEFINED, 0, &grid.processes);
    return grid;
}

} // namespace

int main(int count, char** words)
{
    if (count < 3) return std::fprintf(stderr, "usage: scalapack_residuals ROWS COLS [aligned|all]\n"), 2;
    const Grid grid = last_ones(std::atoi(words[1]), std::atoi(words[2]));
    if (grid.processes != MPI_COMM_NULL) {
        run(grid, count > 3 ? words[3] : "");
        if (grid.row == 0 && grid.col == 0) std::printf("%d calls, %d wrong\n", calls, wrong);
        Cblacs_gridexit(grid.context);
    }
    Cblacs_exit(0);
    return wrong != 0;
}
