#include "bind.hpp"
#include "routine_arguments.hpp"

#include <nanobind/stl/string.h>

// The level 3 BLAS in place on column-major arrays, for benchmarks and for callers who know BLAS. Arguments in, errors out.

namespace trencadis::python {
namespace {

template <Scalar T> using Matrix = Buffer::ColumnMajor<T>;

void bind_gemm(Session* session, const std::string& transa, const std::string& transb, Complex alpha, nb::handle a, nb::handle b,
               Complex beta, nb::handle c, Index nb, const std::string& variant)
{
    const Buffer A = Buffer::require(a.ptr(), Access::read, 4, "a"), B = Buffer::require(b.ptr(), Access::read, 5, "b");
    const Buffer C = Buffer::require(c.ptr(), Access::write, 7, "c");
    require_same_kind(A, "a", B, 5, "b");
    require_same_kind(A, "a", C, 7, "c");
    const Op op_a = op(transa, 1, "transa"), op_b = op(transb, 2, "transb");
    with_scalar(A.kind(), [&](auto zero) {
        using T = decltype(zero);
        const auto x = A.column_major<T>(4, "a"), y = B.column_major<T>(5, "b"), z = C.column_major<T>(7, "c");
        const Index k = op_cols(op_a, x);
        require_shape("op(b)", op_rows(op_b, y), op_cols(op_b, y), k, op_cols(op_b, y), 5);
        require_shape("c", z.rows, z.cols, op_rows(op_a, x), op_cols(op_b, y), 7);
        const T one = scalar<T>(alpha, 3, "alpha"), other = scalar<T>(beta, 6, "beta");
        compute([&] {
            gemm(session_for(session, product_flops<T>(z.rows, z.cols, k)), op_a, op_b, z.rows, z.cols, k, one, x.data, x.ld,
                 y.data, y.ld, other, z.data, z.ld, options(nb, variant));
        });
    });
}

/// symm and hemm: `run` makes the call with the operands.
template <class Run>
void symmetric_product(const std::string& side_letter, nb::handle a, nb::handle b, nb::handle c, const Run& run)
{
    const Buffer A = Buffer::require(a.ptr(), Access::read, 4, "a"), B = Buffer::require(b.ptr(), Access::read, 5, "b");
    const Buffer C = Buffer::require(c.ptr(), Access::write, 7, "c");
    require_same_kind(A, "a", B, 5, "b");
    require_same_kind(A, "a", C, 7, "c");
    const Side side = flag<Side>(side_letter, "LR", 1, "side");
    with_scalar(A.kind(), [&](auto zero) {
        using T = decltype(zero);
        const auto x = A.column_major<T>(4, "a"), y = B.column_major<T>(5, "b"), z = C.column_major<T>(7, "c");
        const Index order = side == Side::left ? z.rows : z.cols;
        require_shape("a", x.rows, x.cols, order, order, 4);
        require_shape("b", y.rows, y.cols, z.rows, z.cols, 5);
        run(side, x, y, z);
    });
}

void bind_symm(Session* session, const std::string& side_letter, const std::string& uplo_letter, Complex alpha, nb::handle a,
               nb::handle b, Complex beta, nb::handle c, Index nb, const std::string& variant)
{
    const Uplo triangle = uplo(uplo_letter, 2);
    symmetric_product(side_letter, a, b, c, [&]<Scalar T>(Side side, const Matrix<T>& x, const Matrix<T>& y, const Matrix<T>& z) {
        const T one = scalar<T>(alpha, 3, "alpha"), other = scalar<T>(beta, 6, "beta");
        compute([&] {
            symm(session_or_standard(session), side, triangle, z.rows, z.cols, one, x.data, x.ld, y.data, y.ld, other, z.data,
                 z.ld, options(nb, variant));
        });
    });
}

void bind_hemm(Session* session, const std::string& side_letter, const std::string& uplo_letter, Complex alpha, nb::handle a,
               nb::handle b, Complex beta, nb::handle c, Index nb, const std::string& variant)
{
    const Uplo triangle = uplo(uplo_letter, 2);
    symmetric_product(side_letter, a, b, c, [&]<Scalar T>(Side side, const Matrix<T>& x, const Matrix<T>& y, const Matrix<T>& z) {
        const T one = scalar<T>(alpha, 3, "alpha"), other = scalar<T>(beta, 6, "beta");
        compute([&] {
            hemm(session_or_standard(session), side, triangle, z.rows, z.cols, one, x.data, x.ld, y.data, y.ld, other, z.data,
                 z.ld, options(nb, variant));
        });
    });
}

/// syrk and herk: `run` makes the call with the operands.
template <class Run> void rank_k(const std::string& trans, nb::handle a, nb::handle c, const Run& run)
{
    const Buffer A = Buffer::require(a.ptr(), Access::read, 4, "a"), C = Buffer::require(c.ptr(), Access::write, 6, "c");
    require_same_kind(A, "a", C, 6, "c");
    const Op form = op(trans, 2, "trans");
    with_scalar(A.kind(), [&](auto zero) {
        using T = decltype(zero);
        const auto x = A.column_major<T>(4, "a"), z = C.column_major<T>(6, "c");
        require_shape("c", z.rows, z.cols, op_rows(form, x), op_rows(form, x), 6);
        run(form, op_cols(form, x), x, z);
    });
}

void bind_syrk(Session* session, const std::string& uplo_letter, const std::string& trans, Complex alpha, nb::handle a,
               Complex beta, nb::handle c, Index nb, const std::string& variant)
{
    const Uplo triangle = uplo(uplo_letter);
    rank_k(trans, a, c, [&]<Scalar T>(Op form, Index k, const Matrix<T>& x, const Matrix<T>& z) {
        const T one = scalar<T>(alpha, 3, "alpha"), other = scalar<T>(beta, 5, "beta");
        compute([&] {
            syrk(session_or_standard(session), triangle, form, z.rows, k, one, x.data, x.ld, other, z.data, z.ld,
                 options(nb, variant));
        });
    });
}

void bind_herk(Session* session, const std::string& uplo_letter, const std::string& trans, double alpha, nb::handle a,
               double beta, nb::handle c, Index nb, const std::string& variant)
{
    const Uplo triangle = uplo(uplo_letter);
    rank_k(trans, a, c, [&]<Scalar T>(Op form, Index k, const Matrix<T>& x, const Matrix<T>& z) {
        compute([&] {
            herk<T>(session_or_standard(session), triangle, form, z.rows, k, static_cast<Real<T>>(alpha), x.data, x.ld,
                    static_cast<Real<T>>(beta), z.data, z.ld, options(nb, variant));
        });
    });
}

/// syr2k and her2k: `run` makes the call with the operands.
template <class Run> void rank_2k(const std::string& trans, nb::handle a, nb::handle b, nb::handle c, const Run& run)
{
    const Buffer A = Buffer::require(a.ptr(), Access::read, 4, "a"), B = Buffer::require(b.ptr(), Access::read, 5, "b");
    const Buffer C = Buffer::require(c.ptr(), Access::write, 7, "c");
    require_same_kind(A, "a", B, 5, "b");
    require_same_kind(A, "a", C, 7, "c");
    const Op form = op(trans, 2, "trans");
    with_scalar(A.kind(), [&](auto zero) {
        using T = decltype(zero);
        const auto x = A.column_major<T>(4, "a"), y = B.column_major<T>(5, "b"), z = C.column_major<T>(7, "c");
        require_shape("b", y.rows, y.cols, x.rows, x.cols, 5);
        require_shape("c", z.rows, z.cols, op_rows(form, x), op_rows(form, x), 7);
        run(form, op_cols(form, x), x, y, z);
    });
}

void bind_syr2k(Session* session, const std::string& uplo_letter, const std::string& trans, Complex alpha, nb::handle a,
                nb::handle b, Complex beta, nb::handle c, Index nb, const std::string& variant)
{
    const Uplo triangle = uplo(uplo_letter);
    rank_2k(trans, a, b, c, [&]<Scalar T>(Op form, Index k, const Matrix<T>& x, const Matrix<T>& y, const Matrix<T>& z) {
        const T one = scalar<T>(alpha, 3, "alpha"), other = scalar<T>(beta, 6, "beta");
        compute([&] {
            syr2k(session_or_standard(session), triangle, form, z.rows, k, one, x.data, x.ld, y.data, y.ld, other, z.data, z.ld,
                  options(nb, variant));
        });
    });
}

void bind_her2k(Session* session, const std::string& uplo_letter, const std::string& trans, Complex alpha, nb::handle a,
                nb::handle b, double beta, nb::handle c, Index nb, const std::string& variant)
{
    const Uplo triangle = uplo(uplo_letter);
    rank_2k(trans, a, b, c, [&]<Scalar T>(Op form, Index k, const Matrix<T>& x, const Matrix<T>& y, const Matrix<T>& z) {
        const T one = scalar<T>(alpha, 3, "alpha");
        compute([&] {
            her2k<T>(session_or_standard(session), triangle, form, z.rows, k, one, x.data, x.ld, y.data, y.ld,
                     static_cast<Real<T>>(beta), z.data, z.ld, options(nb, variant));
        });
    });
}

/// trmm and trsm: `run` makes the call with the operands.
template <class Run>
void triangular(const std::string& side_letter, const std::string& uplo_letter, const std::string& transa,
                const std::string& diag_letter, nb::handle a, nb::handle b, const Run& run)
{
    const Buffer A = Buffer::require(a.ptr(), Access::read, 6, "a"), B = Buffer::require(b.ptr(), Access::write, 7, "b");
    require_same_kind(A, "a", B, 7, "b");
    const Side side = flag<Side>(side_letter, "LR", 1, "side");
    const Uplo triangle = uplo(uplo_letter, 2);
    const Op form = op(transa, 3, "transa");
    const Diag diag = flag<Diag>(diag_letter, "NU", 4, "diag");
    with_scalar(A.kind(), [&](auto zero) {
        using T = decltype(zero);
        const auto x = A.column_major<T>(6, "a"), y = B.column_major<T>(7, "b");
        const Index n = side == Side::left ? y.rows : y.cols;
        require_shape("a", x.rows, x.cols, n, n, 6);
        run(side, triangle, form, diag, x, y);
    });
}

void bind_trmm(Session* session, const std::string& side_letter, const std::string& uplo_letter, const std::string& transa,
               const std::string& diag_letter, Complex alpha, nb::handle a, nb::handle b, Index nb, const std::string& variant)
{
    triangular(side_letter, uplo_letter, transa, diag_letter, a, b,
               [&]<Scalar T>(Side side, Uplo triangle, Op form, Diag diag, const Matrix<T>& x, const Matrix<T>& y) {
                   const T one = scalar<T>(alpha, 5, "alpha");
                   compute([&] {
                       trmm(session_or_standard(session), side, triangle, form, diag, y.rows, y.cols, one, x.data, x.ld, y.data,
                            y.ld, options(nb, variant));
                   });
               });
}

void bind_trsm(Session* session, const std::string& side_letter, const std::string& uplo_letter, const std::string& transa,
               const std::string& diag_letter, Complex alpha, nb::handle a, nb::handle b, Index nb, const std::string& variant)
{
    triangular(side_letter, uplo_letter, transa, diag_letter, a, b,
               [&]<Scalar T>(Side side, Uplo triangle, Op form, Diag diag, const Matrix<T>& x, const Matrix<T>& y) {
                   const T one = scalar<T>(alpha, 5, "alpha");
                   compute([&] {
                       trsm(session_for(session, solve_flops<T>(x.rows, side == Side::left ? y.cols : y.rows)), side, triangle,
                            form, diag, y.rows, y.cols, one, x.data, x.ld, y.data, y.ld, options(nb, variant));
                   });
               });
}

} // namespace

void bind_level3(nb::module_& m)
{
    using namespace nb::literals;
    m.def("gemm", &bind_gemm, "session"_a.none(), "transa"_a, "transb"_a, "alpha"_a, "a"_a, "b"_a, "beta"_a, "c"_a, "nb"_a = 0,
          "variant"_a = "");
    m.def("symm", &bind_symm, "session"_a.none(), "side"_a, "uplo"_a, "alpha"_a, "a"_a, "b"_a, "beta"_a, "c"_a, "nb"_a = 0,
          "variant"_a = "");
    m.def("hemm", &bind_hemm, "session"_a.none(), "side"_a, "uplo"_a, "alpha"_a, "a"_a, "b"_a, "beta"_a, "c"_a, "nb"_a = 0,
          "variant"_a = "");
    m.def("syrk", &bind_syrk, "session"_a.none(), "uplo"_a, "trans"_a, "alpha"_a, "a"_a, "beta"_a, "c"_a, "nb"_a = 0,
          "variant"_a = "");
    m.def("herk", &bind_herk, "session"_a.none(), "uplo"_a, "trans"_a, "alpha"_a, "a"_a, "beta"_a, "c"_a, "nb"_a = 0,
          "variant"_a = "");
    m.def("syr2k", &bind_syr2k, "session"_a.none(), "uplo"_a, "trans"_a, "alpha"_a, "a"_a, "b"_a, "beta"_a, "c"_a, "nb"_a = 0,
          "variant"_a = "");
    m.def("her2k", &bind_her2k, "session"_a.none(), "uplo"_a, "trans"_a, "alpha"_a, "a"_a, "b"_a, "beta"_a, "c"_a, "nb"_a = 0,
          "variant"_a = "");
    m.def("trmm", &bind_trmm, "session"_a.none(), "side"_a, "uplo"_a, "transa"_a, "diag"_a, "alpha"_a, "a"_a, "b"_a, "nb"_a = 0,
          "variant"_a = "");
    m.def("trsm", &bind_trsm, "session"_a.none(), "side"_a, "uplo"_a, "transa"_a, "diag"_a, "alpha"_a, "a"_a, "b"_a, "nb"_a = 0,
          "variant"_a = "");
}

} // namespace trencadis::python
