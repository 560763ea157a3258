#include "routines.hpp"

namespace bits {
namespace {

template <class T> using R = typename Operands<T>::R;

template <class T> T factor(double x)
{
    if constexpr (is_complex<T>) return T(R<T>(x), R<T>(x / 3 - 0.5));
    else return T(x);
}
template <class T> const char* transpositions() { return is_complex<T> ? "NTC" : "NT"; }
template <class T> std::string unitary(const char* what) { return (is_complex<T> ? "un" : "or") + std::string(what); }

template <class T> void add_products(std::vector<Case<T>>& all)
{
    // What beta and alpha are decides how an element is stored; zeros of C have a sign.
    const std::pair<double, double> factors[] = {{1, 0}, {1, 1}, {-1, 1}, {0.7, 0.3}};
    for (const auto& [a, b] : factors)
        for (const char* p = transpositions<T>(); *p; ++p)
            for (const char* q = transpositions<T>(); *q; ++q)
                all.push_back({std::string("gemm ") + *p + *q + " " + std::to_string(a) + " " + std::to_string(b),
                               [=, x = *p, y = *q, alpha = a == 0.7 ? factor<T>(a) : T(R<T>(a)),
                                beta = b == 0.3 ? factor<T>(b) : T(R<T>(b))](Operands<T>& o) {
                                   call<T>("gemm", x, y, o.s.m, o.s.n, o.s.k, alpha, o.A.data(), o.ld, o.B.data(), o.ld, beta,
                                           o.C.data(), o.ld);
                               }});
    all.push_back({"gemm A A", [](Operands<T>& o) {
                       call<T>("gemm", 'N', 'N', o.s.m, o.s.m, o.s.m, T(1), o.A.data(), o.ld, o.A.data(), o.ld, T(0), o.C.data(),
                               o.ld);
                   }});
    all.push_back({"gemm A A^T", [](Operands<T>& o) {
                       call<T>("gemm", 'N', 'T', o.s.m, o.s.m, o.s.k, T(1), o.A.data(), o.ld, o.A.data(), o.ld, T(0), o.C.data(),
                               o.ld);
                   }});
    for (const char* routine : {"symm", "hemm"})
        for (const char side : {'L', 'R'})
            for (const char uplo : {'L', 'U'}) {
                if (!is_complex<T> && *routine == 'h') continue;
                all.push_back({std::string(routine) + side + uplo, [=](Operands<T>& o) {
                                   call<T>(routine, side, uplo, o.s.m, o.s.n, factor<T>(0.7), o.A.data(), o.ld, o.B.data(), o.ld,
                                           factor<T>(0.3), o.C.data(), o.ld);
                               }});
            }
}

template <class T> void add_rank_k(std::vector<Case<T>>& all)
{
    for (const char uplo : {'L', 'U'})
        for (const bool hermitian : {false, true})
            for (const char op : {'N', hermitian ? 'C' : 'T'})
                for (const bool two : {false, true}) {
                    if (hermitian && !is_complex<T>) continue;
                    const std::string name = std::string(hermitian ? "her" : "syr") + (two ? "2k" : "k");
                    all.push_back({name + uplo + op, [=](Operands<T>& o) {
                                       const T alpha = factor<T>(0.7), beta = factor<T>(0.3);
                                       const R<T> ra = R<T>(0.7), rb = R<T>(0.3);
                                       T *const A = o.A.data(), *const B = o.B.data(), *const C = o.C.data();
                                       const char* const routine = name.c_str();
                                       if (two && hermitian)
                                           call<T>(routine, uplo, op, o.s.n, o.s.k, alpha, A, o.ld, B, o.ld, rb, C, o.ld);
                                       else if (two)
                                           call<T>(routine, uplo, op, o.s.n, o.s.k, alpha, A, o.ld, B, o.ld, beta, C, o.ld);
                                       else if (hermitian) call<T>(routine, uplo, op, o.s.n, o.s.k, ra, A, o.ld, rb, C, o.ld);
                                       else call<T>(routine, uplo, op, o.s.n, o.s.k, alpha, A, o.ld, beta, C, o.ld);
                                   }});
                }
}

template <class T> void add_triangular(std::vector<Case<T>>& all)
{
    for (const char* routine : {"trmm", "trsm"})
        for (const char side : {'L', 'R'})
            for (const char uplo : {'L', 'U'})
                for (const char* op = transpositions<T>(); *op; ++op)
                    for (const char diag : {'N', 'U'}) {
                        const bool scaled =
                            diag == 'N'; // a unit triangle of such entries grows: products and solutions stay small
                        all.push_back({std::string(routine) + side + uplo + *op + diag, [=, x = *op](Operands<T>& o) {
                                           call<T>(routine, side, uplo, x, diag, o.s.m, o.s.n, scaled ? factor<T>(0.7) : T(1),
                                                   o.P.data(), o.ld, o.B.data(), o.ld);
                                       }});
                    }
    for (const char* op = transpositions<T>(); *op; ++op) {
        all.push_back({std::string("trtrs") + *op, [x = *op](Operands<T>& o) {
                           call<T>("trtrs", 'U', x, 'N', o.s.m, o.s.n, o.P.data(), o.ld, o.B.data(), o.ld, &o.info);
                       }});
        all.push_back({std::string("getrs") + *op, [x = *op](Operands<T>& o) {
                           call<T>("getrs", x, o.s.m, o.s.n, o.P.data(), o.ld, o.pivots.data(), o.B.data(), o.ld, &o.info);
                       }});
    }
}

template <class T> void add_factorizations(std::vector<Case<T>>& all)
{
    for (const char uplo : {'L', 'U'}) {
        for (const char* routine : {"potrf", "potri", "lauum"})
            all.push_back(
                {std::string(routine) + uplo, [=](Operands<T>& o) { call<T>(routine, uplo, o.s.n, o.P.data(), o.ld, &o.info); }});
        all.push_back({std::string("trtri") + uplo,
                       [=](Operands<T>& o) { call<T>("trtri", uplo, 'N', o.s.n, o.P.data(), o.ld, &o.info); }});
        for (const char* routine : {"potrs", "posv"})
            all.push_back({std::string(routine) + uplo, [=](Operands<T>& o) {
                               call<T>(routine, uplo, o.s.m, o.s.n, o.P.data(), o.ld, o.B.data(), o.ld, &o.info);
                           }});
    }
    all.push_back({"getrf", [](Operands<T>& o) { call<T>("getrf", o.s.m, o.s.n, o.A.data(), o.ld, o.pivots.data(), &o.info); }});
    all.push_back({"gesv", [](Operands<T>& o) {
                       call<T>("gesv", o.s.m, o.s.n, o.A.data(), o.ld, o.pivots.data(), o.B.data(), o.ld, &o.info);
                   }});
    all.push_back({"getri", [](Operands<T>& o) {
                       const int size = o.most * 66;
                       call<T>("getri", o.s.n, o.P.data(), o.ld, o.pivots.data(), o.work.data(), size, &o.info);
                   }});
}

template <class T> void add_orthogonal(std::vector<Case<T>>& all)
{
    for (const char* routine : {"geqrf", "gelqf"})
        all.push_back({routine, [=](Operands<T>& o) {
                           const int size = o.most * 66;
                           call<T>(routine, o.s.m, o.s.n, o.A.data(), o.ld, o.tau.data(), o.work.data(), size, &o.info);
                       }});
    all.push_back({"geqp3", [](Operands<T>& o) {
                       const int size = o.most * 66;
                       std::memset(o.pivots.data(), 0, std::size_t(o.most) * sizeof(int));
                       if constexpr (is_complex<T>) {
                           std::vector<R<T>> more(std::size_t(2 * o.most));
                           call<T>("geqp3", o.s.m, o.s.n, o.A.data(), o.ld, o.pivots.data(), o.tau.data(), o.work.data(), size,
                                   more.data(), &o.info);
                       } else
                           call<T>("geqp3", o.s.m, o.s.n, o.A.data(), o.ld, o.pivots.data(), o.tau.data(), o.work.data(), size,
                                   &o.info);
                   }});
    for (const char op : {'N', is_complex<T> ? 'C' : 'T'})
        all.push_back({std::string("gels") + op, [=](Operands<T>& o) {
                           const int size = o.most * 66, columns = std::min(o.s.k, 40);
                           call<T>("gels", op, o.s.m, o.s.n, columns, o.A.data(), o.ld, o.B.data(), o.ld, o.work.data(), size,
                                   &o.info);
                       }});
    // Reflectors are what any columns and small scalars make; the results stay small enough.
    const auto reflectors = [](Operands<T>& o) {
        for (int i = 0; i < o.most; ++i) o.tau.data()[i] = T(R<T>(1) / R<T>(o.most));
    };
    for (const char* form : {"gqr", "glq"})
        all.push_back({unitary<T>(form), [=](Operands<T>& o) {
                           reflectors(o);
                           const bool rows = form[1] == 'l';
                           const int size = o.most * 66, longer = std::max(o.s.m, o.s.n), shorter = std::min(o.s.m, o.s.n);
                           call<T>(unitary<T>(form).c_str(), rows ? shorter : longer, rows ? longer : shorter, shorter,
                                   o.A.data(), o.ld, o.tau.data(), o.work.data(), size, &o.info);
                       }});
    for (const char* form : {"mqr", "mlq"})
        for (const char side : {'L', 'R'})
            for (const char op : {'N', is_complex<T> ? 'C' : 'T'})
                all.push_back({unitary<T>(form) + side + op, [=](Operands<T>& o) {
                                   reflectors(o);
                                   const int size = o.most * 66, k = std::min(o.s.k, side == 'L' ? o.s.m : o.s.n);
                                   call<T>(unitary<T>(form).c_str(), side, op, o.s.m, o.s.n, k, o.A.data(), o.ld, o.tau.data(),
                                           o.C.data(), o.ld, o.work.data(), size, &o.info);
                               }});
}

} // namespace

template <class T> std::vector<Case<T>> cases()
{
    std::vector<Case<T>> all;
    add_products(all);
    add_rank_k(all);
    add_triangular(all);
    add_factorizations(all);
    add_orthogonal(all);
    return all;
}
template std::vector<Case<float>> cases();
template std::vector<Case<double>> cases();
template std::vector<Case<std::complex<float>>> cases();
template std::vector<Case<std::complex<double>>> cases();

} // namespace bits
