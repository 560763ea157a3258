#include "drivers/distributed.hpp"

#include "algorithms/graphs.hpp"
#include "drivers/laid_out.hpp"
#include "drivers/shared_call.hpp"
#include "kernels/tiles/copy_part.hpp"
#include "matrix/diagonal.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace trencadis::distributed {
namespace {

[[noreturn]] void refuse(int argument, const std::string& message) { throw Error(ErrorCode::bad_argument, argument, message); }

/// Nothing is to be computed, as all processes must find.
template <Scalar T, class... More>
void agree_on_nothing(Crew& crew, const char* routine, const HeldTiles<T>& A, const More&... more)
{
    std::string call = std::string(routine) + " in precision " + precision_letter<T>;
    for (const SharedOperand& operand : {shared(A), shared(more)...}) call += ", " + compared(operand);
    processes(crew).agree(call);
}

template <Scalar T> std::string tiles_text(const HeldTiles<T>& A)
{
    return std::to_string(A.rows) + " x " + std::to_string(A.cols) + " in tiles " + std::to_string(A.mb) + " x " +
           std::to_string(A.nb);
}

template <Scalar T> void require_square_tiles(Crew& crew, const HeldTiles<T>& A, int argument, bool square)
{
    require_owners(crew, A, argument);
    if (A.mb != A.nb) refuse(argument, "a matrix is " + tiles_text(A) + "; its tiles must be square");
    if (square && A.rows != A.cols) refuse(argument, "a matrix is " + tiles_text(A) + "; it must be square");
}
template <Scalar T> void require_rows(Crew& crew, const HeldTiles<T>& A, const HeldTiles<T>& B, int argument)
{
    require_owners(crew, B, argument);
    if (B.rows != A.rows || B.mb != A.mb)
        refuse(argument,
               "the right sides are " + tiles_text(B) + ", the matrix " + tiles_text(A) + "; their rows must be cut alike");
}

/// The form that was asked for, or the first that is called, has a graph, and is not left out.
const Form& form_of(Crew& crew, std::string_view routine, forms::Forms all, const RoutineOptions& options,
                    std::string_view usual = {})
{
    const Form* const asked = check_options(routine, options);
    if (asked && (!asked->has_graph() || asked->by_columns))
        refuse(0, "form '" + std::string(asked->name) + "' of " + std::string(routine) +
                      " cannot be carried out by several processes");
    if (asked) return form_for(crew, all, options);
    const auto form = std::ranges::find_if(all, [&](const Form& one) {
        return one.called && one.has_graph() && !one.by_columns && can_run(crew, one) && (usual.empty() || one.name == usual);
    });
    return *form;
}

template <Scalar T> Problem problem_of(const HeldTiles<T>& A, const Form& form)
{
    return {.m = A.rows, .n = A.cols, .k = std::min(A.rows, A.cols), .nb = A.nb, .inner = default_inner(form, A.nb)};
}
template <Scalar T> Problem with_right_sides(Problem problem, const HeldTiles<T>& B)
{
    problem.nrhs = B.cols;
    problem.rhs_nb = B.nb;
    return problem;
}
template <Scalar T, class... More> std::vector<SharedOperand> operands(const HeldTiles<T>& A, const More&... more)
{
    return {shared(A), shared(more)...};
}

} // namespace

Processes& processes(Crew& crew)
{
    if (Processes* const all = crew.processes()) return *all;
    throw Error(ErrorCode::bad_argument,
                crew.name() + " works in one process; matrices that several hold need engine 'starpu-mpi'");
}

template <Scalar T> Index potrf(Crew& crew, Uplo uplo, const HeldTiles<T>& A, const RoutineOptions& options)
{
    const Form& form = checked(crew, "potrf", [&]() -> const Form& {
        require_square_tiles(crew, A, 2, true);
        return form_of(crew, "potrf", forms::potrf(), options);
    });
    if (A.rows == 0) return agree_on_nothing(crew, "potrf", A), 0;
    Problem problem = problem_of(A, form);
    problem.uplo = uplo;
    return SharedCall(crew, "potrf", form, problem, layout_of_precision<T>, operands(A)).run(options);
}

template <Scalar T> void potrs(Crew& crew, Uplo uplo, const HeldTiles<T>& A, const HeldTiles<T>& B, const RoutineOptions& options)
{
    const Form& form = checked(crew, "potrs", [&]() -> const Form& {
        require_square_tiles(crew, A, 2, true);
        require_rows(crew, A, B, 3);
        return form_of(crew, "potrs", forms::potrs(), options);
    });
    if (A.rows == 0 || B.cols == 0) return agree_on_nothing(crew, "potrs", A, B);
    Problem problem = with_right_sides(problem_of(A, form), B);
    problem.uplo = uplo;
    SharedCall(crew, "potrs", form, problem, layout_of_precision<T>, operands(A, B)).run(options);
}

template <Scalar T> Index posv(Crew& crew, Uplo uplo, const HeldTiles<T>& A, const HeldTiles<T>& B, const RoutineOptions& options)
{
    const Form& form = checked(crew, "posv", [&]() -> const Form& {
        require_square_tiles(crew, A, 2, true);
        require_rows(crew, A, B, 3);
        return form_of(crew, "posv", forms::posv(), options);
    });
    if (A.rows == 0) return agree_on_nothing(crew, "posv", A, B), 0;
    if (B.cols == 0) return potrf(crew, uplo, A, options);
    Problem problem = with_right_sides(problem_of(A, form), B);
    problem.uplo = uplo;
    return SharedCall(crew, "posv", form, problem, layout_of_precision<T>, operands(A, B)).run(options);
}

namespace {

constexpr std::string_view usual_lu = "tournament";

/// Forms without row interchanges of LAPACK's hand out no names for them.
Index run_with_pivots(SharedCall& call, const Form& form, Index* pivots, Index count, const RoutineOptions& options)
{
    const bool has_none = form.name == "nopiv", has_others = !has_none && !form.apart.empty();
    if (!has_none && !has_others) call.writes_vector(pivots);
    const Index info = call.run(options);
    if (has_none) std::iota(pivots, pivots + count, Index(1));
    if (has_others) std::fill_n(pivots, count, Index(0));
    return info;
}

} // namespace

template <Scalar T> Index getrf(Crew& crew, const HeldTiles<T>& A, Index* pivots, const RoutineOptions& options)
{
    const Form& form = checked(crew, "getrf", [&]() -> const Form& {
        require_square_tiles(crew, A, 1, false);
        const Form& asked = form_of(crew, "getrf", forms::getrf(), options, usual_lu);
        require_lapack_layout(&asked);
        return asked;
    });
    const Index count = std::min(A.rows, A.cols);
    if (count == 0) return agree_on_nothing(crew, "getrf", A), 0;
    SharedCall call(crew, "getrf", form, problem_of(A, form), layout_of_precision<T>, operands(A));
    return run_with_pivots(call, form, pivots, count, options);
}

template <Scalar T>
void getrs(Crew& crew, Op op, const HeldTiles<T>& A, const Index* pivots, const HeldTiles<T>& B, const RoutineOptions& options)
{
    const Form& form = checked(crew, "getrs", [&]() -> const Form& {
        require_square_tiles(crew, A, 2, true);
        require_rows(crew, A, B, 4);
        return form_of(crew, "getrs", forms::getrs(), options);
    });
    if (A.rows == 0 || B.cols == 0) return agree_on_nothing(crew, "getrs", A, B);
    Problem problem = with_right_sides(problem_of(A, form), B);
    problem.op = op;
    SharedCall call(crew, "getrs", form, problem, layout_of_precision<T>, operands(A, B));
    call.reads_vector(pivots);
    call.run(options);
}

template <Scalar T>
Index gesv(Crew& crew, const HeldTiles<T>& A, Index* pivots, const HeldTiles<T>& B, const RoutineOptions& options)
{
    const Form& form = checked(crew, "gesv", [&]() -> const Form& {
        require_square_tiles(crew, A, 1, true);
        require_rows(crew, A, B, 3);
        return form_of(crew, "gesv", forms::gesv(), options, usual_lu);
    });
    if (A.rows == 0) return agree_on_nothing(crew, "gesv", A, B), 0;
    if (B.cols == 0 && form.apart.empty()) return getrf(crew, A, pivots, options);
    SharedCall call(crew, "gesv", form, with_right_sides(problem_of(A, form), B), layout_of_precision<T>, operands(A, B));
    return run_with_pivots(call, form, pivots, A.rows, options);
}

template <Scalar T> void geqrf(Crew& crew, const HeldTiles<T>& A, const RoutineOptions& options)
{
    const Form& form = checked(crew, "geqrf", [&]() -> const Form& {
        require_square_tiles(crew, A, 1, false);
        const Form& asked = form_of(crew, "geqrf", forms::geqrf(), options, "flat");
        if (!asked.apart.empty()) return asked;
        refuse(0, "form '" + std::string(asked.name) +
                      "' of geqrf works on whole columns, which several processes hold; take flat, "
                      "plasma, binary, greedy or fibonacci");
    });
    if (A.rows == 0 || A.cols == 0) return agree_on_nothing(crew, "geqrf", A);
    SharedCall(crew, "geqrf", form, problem_of(A, form), layout_of_precision<T>, operands(A)).run(options);
}

namespace {

template <Scalar T>
void require_product(Crew& crew, Op op_a, Op op_b, const HeldTiles<T>& A, const HeldTiles<T>& B, const HeldTiles<T>& C)
{
    require_owners(crew, A, 4);
    require_owners(crew, B, 5);
    require_owners(crew, C, 7);
    const bool a = op_a == Op::none, b = op_b == Op::none;
    const Index k = a ? A.cols : A.rows, depth = a ? A.nb : A.mb;
    if ((a ? A.rows : A.cols) != C.rows || (a ? A.mb : A.nb) != C.mb)
        refuse(4, "A is " + tiles_text(A) + ", C " + tiles_text(C) + "; the rows of op(A) and C must be cut alike");
    if ((b ? B.rows : B.cols) != k || (b ? B.mb : B.nb) != depth || (b ? B.cols : B.rows) != C.cols || (b ? B.nb : B.mb) != C.nb)
        refuse(5, "A is " + tiles_text(A) + ", B " + tiles_text(B) + ", C " + tiles_text(C) +
                      "; they do not make a product of tiles");
}

RoutineOptions usually_in_place(RoutineOptions options)
{
    if (options.variant.empty()) options.variant = "in-place";
    return options;
}

} // namespace

template <Scalar T>
void gemm(Crew& crew, Op op_a, Op op_b, T alpha, const HeldTiles<T>& A, const HeldTiles<T>& B, T beta, const HeldTiles<T>& C,
          const RoutineOptions& options)
{
    const Form& form = checked(crew, "gemm", [&]() -> const Form& {
        require_product(crew, op_a, op_b, A, B, C);
        return form_of(crew, "gemm", forms::gemm(), usually_in_place(options));
    });
    if (C.rows == 0 || C.cols == 0) return agree_on_nothing(crew, "gemm", A, B, C);
    const Index k = op_a == Op::none ? A.cols : A.rows, depth = op_a == Op::none ? A.nb : A.mb;
    const Problem problem{.m = C.rows,
                          .n = C.cols,
                          .k = k,
                          .nb = C.nb,
                          .op = op_a,
                          .op_b = op_b,
                          .alpha = alpha,
                          .beta = beta,
                          .cut = {C.mb, C.nb, depth}};
    SharedCall(crew, "gemm", form, problem, layout_of_precision<T>, operands(A, B, C)).run(options);
}

template <Scalar T>
void trsm(Crew& crew, Side side, Uplo uplo, Op op, Diag diag, T alpha, const HeldTiles<T>& A, const HeldTiles<T>& B,
          const RoutineOptions& options)
{
    const Form& form = checked(crew, "trsm", [&]() -> const Form& {
        require_square_tiles(crew, A, 6, true);
        require_square_tiles(crew, B, 7, false);
        if ((side == Side::left ? B.rows : B.cols) != A.rows || B.nb != A.nb)
            refuse(7, "A is " + tiles_text(A) + ", B " + tiles_text(B) + "; they do not make a system of tiles");
        return form_of(crew, "trsm", forms::trsm(), usually_in_place(options));
    });
    if (B.rows == 0 || B.cols == 0) return agree_on_nothing(crew, "trsm", A, B);
    const Problem problem{.m = B.rows,
                          .n = B.cols,
                          .nb = A.nb,
                          .side = side,
                          .uplo = uplo,
                          .op = op,
                          .diag = diag,
                          .alpha = alpha,
                          .cut = {A.nb, A.nb, A.nb}};
    SharedCall(crew, "trsm", form, problem, layout_of_precision<T>, operands(A, B)).run(options);
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template Index potrf(Crew&, Uplo, const HeldTiles<T>&, const RoutineOptions&);                                               \
    template void potrs(Crew&, Uplo, const HeldTiles<T>&, const HeldTiles<T>&, const RoutineOptions&);                           \
    template Index posv(Crew&, Uplo, const HeldTiles<T>&, const HeldTiles<T>&, const RoutineOptions&);                           \
    template Index getrf(Crew&, const HeldTiles<T>&, Index*, const RoutineOptions&);                                             \
    template void getrs(Crew&, Op, const HeldTiles<T>&, const Index*, const HeldTiles<T>&, const RoutineOptions&);               \
    template Index gesv(Crew&, const HeldTiles<T>&, Index*, const HeldTiles<T>&, const RoutineOptions&);                         \
    template void geqrf(Crew&, const HeldTiles<T>&, const RoutineOptions&);                                                      \
    template void gemm(Crew&, Op, Op, T, const HeldTiles<T>&, const HeldTiles<T>&, T, const HeldTiles<T>&,                       \
                       const RoutineOptions&);                                                                                   \
    template void trsm(Crew&, Side, Uplo, Op, Diag, T, const HeldTiles<T>&, const HeldTiles<T>&, const RoutineOptions&);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::distributed
