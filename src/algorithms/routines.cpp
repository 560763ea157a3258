#include "algorithms/routines.hpp"

#include "base/error.hpp"
#include "base/registry.hpp"

#include <algorithm>
#include <string>

namespace trencadis {
namespace {

// Costs by extents, as the table wants them.
double or_n(double extent, double n) { return extent > 0 ? extent : n; }
Operations product(const Extents& x) { return operations::gemm(or_n(x.m, x.n), x.n, or_n(x.k, x.n)); }
Operations rank_k(const Extents& x) { return operations::rank_k(x.n, or_n(x.k, x.n)); }
Operations rank_2k(const Extents& x) { return operations::rank_2k(x.n, or_n(x.k, x.n)); }
RoutineEntry::Beside beside_a_side(const Extents& x)
{
    const double m = or_n(x.m, x.n), order = or_n(x.k, m);
    return {order, order > 0 ? m * x.n / order : 0};
}
Operations triangular(const Extents& x)
{
    const auto [order, others] = beside_a_side(x);
    return operations::triangular(order, others);
}
Operations potrf(const Extents& x) { return operations::potrf(x.n); }
Operations potrs(const Extents& x) { return operations::potrs(x.n, x.nrhs); }
Operations posv(const Extents& x) { return operations::posv(x.n, x.nrhs); }
Operations trtrs(const Extents& x) { return operations::triangular(x.n, x.nrhs); }
Operations getrf(const Extents& x) { return operations::getrf(or_n(x.m, x.n), x.n); }
Operations getrs(const Extents& x) { return operations::getrs(x.n, x.nrhs); }
Operations getri(const Extents& x) { return operations::getri(x.n); }
Operations gesv(const Extents& x) { return operations::gesv(x.n, x.nrhs); }
Operations geqrf(const Extents& x) { return operations::geqrf(or_n(x.m, x.n), x.n); }
/// n x n unless they say otherwise; of LQ the rows are the few.
Operations orgqr(const Extents& x) { return operations::orgqr(or_n(x.m, x.n), x.n, or_n(x.k, x.n)); }
Operations orglq(const Extents& x) { return operations::orgqr(x.n, or_n(x.m, x.n), or_n(x.k, or_n(x.m, x.n))); }
Operations ormqr(const Extents& x) { return operations::ormqr(or_n(x.m, x.n), x.n, or_n(x.k, or_n(x.m, x.n))); }
Operations gels(const Extents& x) { return operations::gels(or_n(x.m, x.n), x.n, x.nrhs); }
Operations trtri(const Extents& x) { return operations::trtri(x.n); }
Operations lauum(const Extents& x) { return operations::lauum(x.n); }
Operations potri(const Extents& x) { return operations::potri(x.n); }
Operations nothing(const Extents&) { return {}; }

RoutineEntry::Beside beside_a_factor(const Extents& x) { return {x.n, x.nrhs}; }

constexpr std::string_view buttari = "LAPACK; tile algorithm of Buttari, Langou, Kurzak, Dongarra 2009";

constexpr std::string_view householder =
    "LAPACK; compact WY form of Schreiber, Van Loan 1989; recursion of Elmroth, Gustavson 2000";

constexpr std::string_view agullo = "LAPACK; tile algorithm of Agullo, Bouwmeester, Dongarra, Kurzak, Langou, Rosenberg 2011";

constexpr RoutineEntry table[] = {
    {"gemm", "C <- alpha op(A) op(B) + beta C", "BLAS", product, forms::gemm},
    {"symm", "C <- alpha A B + beta C or alpha B A + beta C, A symmetric", "BLAS", product, forms::symm, beside_a_side},
    {"hemm", "C <- alpha A B + beta C or alpha B A + beta C, A Hermitian", "BLAS", product, forms::hemm, beside_a_side},
    {"syrk", "C <- alpha op(A) op(A)^T + beta C, one triangle", "BLAS", rank_k, forms::syrk},
    {"herk", "C <- alpha op(A) op(A)^H + beta C, one triangle", "BLAS", rank_k, forms::herk},
    {"syr2k", "C <- alpha op(A) op(B)^T + alpha op(B) op(A)^T + beta C, one triangle", "BLAS", rank_2k, forms::syr2k},
    {"her2k", "C <- alpha op(A) op(B)^H + conj(alpha) op(B) op(A)^H + beta C, one triangle", "BLAS", rank_2k, forms::her2k},
    {"trmm", "B <- alpha op(A) B or alpha B op(A), A triangular", "BLAS", triangular, forms::trmm, beside_a_side},
    {"trsm", "B <- alpha op(A)^-1 B or alpha B op(A)^-1, A triangular", "BLAS", triangular, forms::trsm, beside_a_side},
    {"potrf", "Cholesky factorisation, A = L L^H or U^H U", buttari, potrf, forms::potrf},
    {"potrs", "A X = B with the factor of potrf", "LAPACK", potrs, forms::potrs, beside_a_factor},
    {"posv", "A X = B, A positive definite: potrf, then potrs", "LAPACK", posv, forms::posv},
    {"trtrs", "op(A) X = B, A triangular, unless its diagonal has a zero", "LAPACK", trtrs, forms::trtrs, beside_a_factor},
    {"trtri", "A <- A^-1, A triangular", agullo, trtri, forms::trtri},
    {"lauum", "A <- L^H L or U U^H in the triangle's place", agullo, lauum, forms::lauum},
    {"potri", "A^-1 from the factor of potrf: trtri, then lauum", agullo, potri, forms::potri},
    {"tasks", "empty kernels on the Cholesky graph: what the runtime costs", "trencadis", nothing, forms::tasks},
    {"getrf", "LU factorisation, P A = L U", "LAPACK; tile algorithms of PLASMA and KASTORS", getrf, forms::getrf},
    {"getrs", "op(A) X = B with the factors of getrf", "LAPACK", getrs, forms::getrs, beside_a_factor},
    {"getri", "A^-1 from the factors of getrf", "LAPACK; Du Croz, Higham 1992", getri, forms::getri},
    {"gesv", "A X = B: getrf, then getrs", "LAPACK", gesv, forms::gesv},
    {"geqrf", "QR factorisation, A = Q R", householder, geqrf, forms::geqrf},
    {"geqp3", "QR factorisation with column pivoting, A P = Q R",
     "LAPACK; Quintana-Orti, Sun, Bischof 1998; norms by Drmac, Bujanovic 2008", geqrf, forms::geqp3},
    {"gelqf", "LQ factorisation, A = L Q", householder, geqrf, forms::gelqf},
    {"orgqr", "the first n columns of Q from the reflectors of geqrf; ungqr in complex precisions", "LAPACK", orgqr,
     forms::orgqr},
    {"orglq", "the first m rows of Q from the reflectors of gelqf; unglq in complex precisions", "LAPACK", orglq, forms::orglq},
    {"ormqr", "C <- op(Q) C or C op(Q), Q from geqrf; unmqr in complex precisions", "LAPACK", ormqr, forms::ormqr},
    {"ormlq", "C <- op(Q) C or C op(Q), Q from gelqf; unmlq in complex precisions", "LAPACK", ormqr, forms::ormlq},
    {"geqrt", "QR factorisation with the triangles of its block reflectors", householder, geqrf, forms::geqrt},
    {"gemqrt", "C <- op(Q) C or C op(Q), Q from geqrt", "LAPACK", ormqr, forms::gemqrt},
    {"gels", "least squares or least norm, op(A) X = B, by QR or LQ", "LAPACK", gels, forms::gels},
};

} // namespace

std::span<const RoutineEntry> routine_entries() { return table; }

const RoutineEntry& find_routine(std::string_view name)
{
    std::vector<std::string_view> known;
    for (const RoutineEntry& entry : table) {
        if (entry.name == name) return entry;
        known.push_back(entry.name);
    }
    throw Error(ErrorCode::bad_argument, unknown_name("routine", name, known));
}

const Form& find_form(const RoutineEntry& routine, std::string_view name)
{
    for (const Form& form : routine.forms())
        if (form.called && form.name == name) return form;
    throw Error(ErrorCode::bad_argument, unknown_name(std::string(routine.name) + " variant", name, called_forms(routine)));
}

namespace {

template <class Chosen> std::vector<std::string_view> names_of(const RoutineEntry& routine, const Chosen& chosen)
{
    std::vector<std::string_view> names;
    for (const Form& form : routine.forms())
        if (chosen(form)) names.push_back(form.name);
    return names;
}

} // namespace

std::vector<std::string_view> called_forms(const RoutineEntry& routine)
{
    return names_of(routine, [](const Form& form) { return form.called; });
}
std::vector<std::string_view> simulated_forms(const RoutineEntry& routine)
{
    return names_of(routine, [](const Form& form) { return form.has_graph(); });
}

} // namespace trencadis
