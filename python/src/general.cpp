#include "bind.hpp"
#include "factors.hpp"
#include "numpy.hpp"
#include "truth.hpp"

#include <limits>
#include <nanobind/stl/string.h>
#include <string>

// General systems and inverses for plain arrays, as direct.cpp has them for positive definite ones: structure, copy, finite
// check, factors and condition in one call from Python.

namespace trencadis::python {
namespace {

struct Answer {
    Word structure = {}; ///< not empty: the caller's work, nothing was done
    Index info = 0;      ///< LAPACK's, of the factorization
    double rcond = 1;
};

struct Flags {
    bool overwrite_a, check_finite;
};

bool is_mirrored(const Word& structure) { return structure == "symmetric" || structure == "hermitian"; }

template <Scalar T>
Answer solve_general(Session& session, const Strided& a, const Strided& b, Buffer::ColumnMajor<T> x, bool b_in_place,
                     Word assumed, Uplo uplo, Op op, Flags flags)
{
    if (assumed.empty())
        if (Word structure = structure_of<T>(session, a); structure != "general") return {.structure = structure};
    const Work<T> work = work_on<T>(session, a, flags.overwrite_a, flags.check_finite, "the work copy of a");
    prepare_right_side(session, b, x, b_in_place, false, flags.check_finite); // refuses b before a is changed in its place
    if (is_mirrored(assumed)) mirror(session, uplo, a.rows, work.data, work.ld, assumed == "hermitian");
    const Factors<T, OnWorkers> factors({session}, a.rows, work.data, work.ld);
    if (factors.info()) return {.info = factors.info()};
    factors.solve(op, x.cols, x.data, x.ld);
    return {.rcond = factors.estimated_rcond()};
}

/// The result itself; or what the caller has to know: a structure, the number of a pivot that is zero, a doubtful condition.
template <Scalar T> nb::object told(const Answer& answer, nb::object result)
{
    if (!answer.structure.empty()) return nb::str(answer.structure.c_str());
    if (answer.info) return nb::int_(answer.info);
    if (!(answer.rcond >= std::numeric_limits<Real<T>>::epsilon())) return nb::make_tuple(result, answer.rcond);
    return result;
}

nb::object bind_solve_general(Session* session, nb::handle a_array, nb::handle b_array, const Word& assumed, Truth lower,
                              Truth transposed, Truth overwrite_a, Truth overwrite_b, Truth check_finite)
{
    const Uplo uplo = lower ? Uplo::lower : Uplo::upper;
    const Op op = transposed ? Op::trans : Op::none;
    const auto system = open_system(a_array, b_array, overwrite_a, overwrite_b);
    if (!system) return nb::none();
    const Flags flags{.overwrite_a = system->a_writable, .check_finite = check_finite};
    nb::object x_array = system->solution(b_array);
    const Buffer x = Buffer::require(x_array.ptr(), Buffer::Access::write, 2, "x");
    return with_scalar(system->a.kind(), [&](auto zero) -> nb::object {
        using T = decltype(zero);
        return told<T>(compute([&] {
                           return solve_general<T>(session_for(session, system_flops<T>(system->A.rows, system->B.cols)),
                                                   system->A, system->B, x.column_major<T>(2, "x"), system->in_place(), assumed,
                                                   uplo, op, flags);
                       }),
                       x_array);
    });
}

/// The inverse in the place of a matrix.
template <Scalar T> class Inversion {
public:
    Inversion(Session& session, const Buffer::ColumnMajor<T>& A) : session_(session), n_(A.rows), A_(A.data), ld_(A.ld) {}

    Answer triangular(Uplo uplo)
    {
        clear_opposite(session_, uplo, n_, A_, ld_);
        const Real<T> norm = norm1<T>(session_, matrix());
        return judged(norm, trtri(session_, uplo, Diag::non_unit, n_, A_, ld_, polled()));
    }
    /// Leaves the other triangle as it is where A is not positive definite.
    Answer positive(Uplo uplo)
    {
        const Real<T> norm = norm1_of_triangle<T>(matrix(), uplo);
        Index info = potrf(session_, uplo, n_, A_, ld_, polled());
        if (info == 0) info = potri(session_, uplo, n_, A_, ld_, polled());
        if (info == 0) mirror(session_, uplo, n_, A_, ld_, true);
        return judged(norm, info);
    }
    Answer mirrored(Uplo uplo, bool conjugated)
    {
        mirror(session_, uplo, n_, A_, ld_, conjugated);
        return general();
    }
    Answer general()
    {
        Factors<T, OnWorkers> factors({session_}, n_, A_, ld_);
        if (factors.info() == 0) factors.invert();
        return judged(factors.norm(), factors.info());
    }

private:
    Strided matrix() const { return seen(A_, n_, n_, ld_); }
    Answer judged(Real<T> norm, Index info)
    {
        if (info) return {.info = info};
        return {.rcond = reciprocal_condition(norm, norm1<T>(session_, matrix()))};
    }

    Session& session_;
    Index n_;
    T* A_;
    Index ld_;
};

template <Scalar T>
Answer invert(Session& session, const Strided& a, const Buffer::ColumnMajor<T>& x, bool in_place, Word structure, Uplo uplo,
              bool check)
{
    const bool detected = structure.empty();
    if (detected) structure = structure_of<T>(session, a);
    if (structure == "diagonal") return {.structure = structure};
    const bool good = in_place ? !check || all_finite<T>(session, a) : copy(session, a, x.data, x.ld, check);
    if (!good) not_finite();

    Inversion<T> inversion(session, x);
    if (structure == "upper triangular") return inversion.triangular(Uplo::upper);
    if (structure == "lower triangular") return inversion.triangular(Uplo::lower);
    if (is_mirrored(structure)) return inversion.mirrored(uplo, structure == "hermitian");
    if (structure == "positive definite" && !(detected && in_place)) { // in place there would be nothing to go back to
        const Answer answer = inversion.positive(uplo);
        if (answer.info == 0 || !detected) return answer;
        copy(session, a, x.data, x.ld, false);
    }
    return inversion.general();
}

nb::object bind_invert(Session* session, nb::handle a_array, const Word& assumed, Truth lower, Truth overwrite_a,
                       Truth check_finite)
{
    const Uplo uplo = lower ? Uplo::lower : Uplo::upper;
    const bool check = check_finite;
    if (!is_plain_array(a_array)) return nb::none();
    bool writable;
    const auto a = open(a_array, overwrite_a, writable);
    if (!a || a->dimensions() != 2) return nb::none();
    const Strided A = a->matrix();
    if (A.rows != A.cols || A.rows < 1) return nb::none();

    const bool in_place = writable && A.column_major();
    nb::object result = in_place ? nb::borrow(a_array) : empty(a->kind(), A.rows, A.cols, 2, 'F');
    const Buffer x = Buffer::require(result.ptr(), Buffer::Access::write, 1, "a");
    return with_scalar(a->kind(), [&](auto zero) -> nb::object {
        using T = decltype(zero);
        const auto target = x.column_major<T>(1, "a");
        return told<T>(compute([&] {
                           return invert<T>(session_for(session, 2 * system_flops<T>(A.rows)), A, target, in_place, assumed, uplo,
                                            check);
                       }),
                       result);
    });
}

/// Of a triangular matrix; one stored by rows is seen as its transpose, with the other triangle and the other norm.
template <Scalar T> double triangular_rcond(Session& session, const Strided& A, Uplo uplo)
{
    const bool by_columns = A.column_major();
    const Strided seen = by_columns ? A : A.transposed();
    Real<T> rcond;
    trcon(session, by_columns ? Norm::one : Norm::inf, by_columns ? uplo : opposite(uplo), Diag::non_unit, A.rows,
          static_cast<const T*>(seen.data), seen.leading(), &rcond);
    return rcond;
}

double bind_triangular_rcond(Session* session, nb::handle array, Truth lower)
{
    const Buffer a = Buffer::require(array.ptr(), Buffer::Access::read, 1, "a");
    const Strided A = a.matrix();
    if (A.rows != A.cols || !(A.column_major() || A.row_major()))
        throw Error(ErrorCode::bad_argument, 1, "a is not a square matrix stored by columns or by rows");
    const Uplo uplo = lower ? Uplo::lower : Uplo::upper;
    return with_scalar(a.kind(), [&](auto zero) {
        return compute([&] {
            return triangular_rcond<decltype(zero)>(session_for(session, 10 * double(A.rows) * double(A.rows)), A, uplo);
        });
    });
}

/// A column-major array that may be overwritten, with the elements of a: a itself where that is allowed.
nb::object bind_columns(Session* session, nb::handle a_array, Truth overwrite, Truth check_finite)
{
    const bool check = check_finite;
    if (!is_plain_array(a_array)) return nb::none();
    bool writable;
    const auto a = open(a_array, overwrite, writable);
    if (!a) return nb::none();
    const Strided A = a->matrix();
    const bool in_place = writable && A.column_major();
    nb::object result = in_place ? nb::borrow(a_array) : empty(a->kind(), A.rows, A.cols, a->dimensions(), 'F');
    const Buffer x = Buffer::require(result.ptr(), Buffer::Access::write, 1, "a");
    with_scalar(a->kind(), [&](auto zero) {
        using T = decltype(zero);
        const auto target = x.column_major<T>(1, "a");
        compute([&] {
            Session& computing = session_for(session, double(A.rows) * double(A.cols));
            const bool good =
                in_place ? !check || all_finite<T>(computing, A) : copy(computing, A, target.data, target.ld, check);
            if (!good) not_finite();
        });
    });
    return result;
}

} // namespace

void bind_general(nb::module_& m)
{
    using namespace nb::literals;
    m.def("solve_general", &bind_solve_general, "session"_a.none(), "a"_any, "b"_any, "assumed"_a, "lower"_any, "transposed"_any,
          "overwrite_a"_any, "overwrite_b"_any, "check_finite"_any);
    m.def("invert", &bind_invert, "session"_a.none(), "a"_any, "assumed"_a, "lower"_any, "overwrite_a"_any, "check_finite"_any);
    m.def("triangular_rcond", &bind_triangular_rcond, "session"_a.none(), "a"_any, "lower"_any);
    m.def("columns", &bind_columns, "session"_a.none(), "a"_any, "overwrite"_any, "check_finite"_any);
}

} // namespace trencadis::python
