#include "algorithms/signatures.hpp"
#include "array.hpp"
#include "bind.hpp"
#include "call.hpp"
#include "drivers/linear_algebra.hpp"
#include "routine_arguments.hpp"

#include <algorithm>
#include <deque>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <tuple>
#include <vector>

// LAPACK's routines by name, with the arguments of their signatures but leading dimensions, which the arrays have themselves.

namespace trencadis::python {
namespace {

/// The caller's arguments, taken one after the other; its arrays hold scalars T.
template <Scalar T> class Given {
public:
    explicit Given(const nb::args& arguments) : arguments_(arguments) {}

    template <class E> Letter<E> letter(const char* name)
    {
        std::string text;
        if (const nb::handle given = next(name); !nb::try_cast(given, text) || text.size() != 1)
            refuse(std::string(name) + " must be one letter");
        return Letter<E>(text[0]);
    }
    Index size(const char* name)
    {
        Index value = 0;
        if (!nb::try_cast(next(name), value)) refuse(std::string(name) + " must be a whole number");
        return value;
    }
    T* matrix(const char* name, Access access)
    {
        const nb::handle array = next(name);
        buffers_.push_back(Buffer::require(array.ptr(), access, number_, name));
        require_same_kind(buffers_.front(), "the first array", buffers_.back(), number_, name);
        shapes_.push_back(buffers_.back().template column_major<T>(number_, name));
        return shapes_.back().data;
    }
    /// Kept here: the signatures want its address.
    const Real<T>* number(const char* name)
    {
        if (!nb::try_cast(next(name), numbers_.emplace_back())) refuse(std::string(name) + " must be a number");
        return &numbers_.back();
    }
    Real<T>* reals(const char* name)
    {
        if (!nb::try_cast(next(name), reals_.emplace_back(), false))
            refuse(std::string(name) + " must be a contiguous array of the matrices' real type");
        return reals_.back().data();
    }
    Index* integers(const char* name)
    {
        if (!nb::try_cast(next(name), integers_.emplace_back(), false))
            refuse(std::string(name) + " must be a contiguous array of int64");
        return integers_.back().data();
    }
    /// A letter that may be answered: the first byte of a bytearray.
    char* text(const char* name)
    {
        const nb::handle given = next(name);
        if (!PyByteArray_Check(given.ptr()) || PyByteArray_Size(given.ptr()) != 1)
            refuse(std::string(name) + " must be a bytearray of one letter");
        return PyByteArray_AsString(given.ptr());
    }
    Index leading() const { return shapes_.back().ld; }
    /// The arrays' shapes, in their order, once the sizes are known.
    bool expect(const char* name, Index rows, Index cols)
    {
        const auto& shape = shapes_[seen_++];
        require_shape(name, shape.rows, shape.cols, rows, cols, 0);
        return true;
    }
    bool expect_integers(const char* name, Index count) { return expect(name, integers_[counted_++].size(), count, " integers"); }
    bool expect_reals(const char* name, Index count) { return expect(name, reals_[measured_++].size(), count, " numbers"); }
    /// Where these are worked on. No routine takes more operations than products of the largest extents would.
    Session& session(Session* named, const RoutineOptions& options) const
    {
        if (named || options.nb || !options.variant.empty()) return session_or_standard(named);
        double elements = 0, longest = 0;
        for (const auto& shape : shapes_) {
            elements += double(shape.rows) * double(shape.cols);
            longest = std::max({longest, double(shape.rows), double(shape.cols)});
        }
        return session_for(nullptr, (is_complex<T> ? 4 : 1) * elements * longest);
    }
    void end() const
    {
        if (std::size_t(number_) != arguments_.size())
            throw Error(ErrorCode::bad_argument,
                        std::to_string(arguments_.size()) + " arguments given, there are " + std::to_string(number_));
    }

private:
    nb::handle next(const char* name)
    {
        if (std::size_t(number_) == arguments_.size()) throw Error(ErrorCode::bad_argument, std::string(name) + " is missing");
        return arguments_[std::size_t(number_++)];
    }
    static bool expect(const char* name, std::size_t given, Index count, const char* what)
    {
        if (Index(given) == count) return true;
        throw Error(ErrorCode::bad_argument, std::string(name) + " has " + std::to_string(given) + what +
                                                 "; the other arguments need " + std::to_string(count));
    }
    [[noreturn]] void refuse(const std::string& message) const { throw Error(ErrorCode::bad_argument, number_, message); }

    const nb::args& arguments_;
    int number_ = 0;
    std::size_t seen_ = 0, counted_ = 0, measured_ = 0;
    template <class V> using Vector = nb::ndarray<V, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    std::vector<Vector<std::int64_t>> integers_;
    std::vector<Vector<Real<T>>> reals_;
    std::deque<Real<T>> numbers_;
    std::vector<Buffer> buffers_;
    std::vector<Buffer::ColumnMajor<T>> shapes_;
};

/// The scalar of the first array.
ScalarKind kind_of(const nb::args& arguments)
{
    for (const nb::handle argument : arguments)
        if (const auto buffer = Buffer::open(argument.ptr(), Access::read)) return buffer->kind();
    throw Error(ErrorCode::bad_argument, "no array of float32, float64, complex64 or complex128 among the arguments");
}

/// Where there are no tiles nobody can ask for a size of them.
void no_options(const RoutineOptions& options)
{
    if (options.nb != 0 || !options.variant.empty())
        throw Error(ErrorCode::bad_argument, "this routine has neither tiles nor variants; leave nb and variant out");
}

#define TRC_GIVEN_FLAG(E, x, text) given.template letter<E>(text)
#define TRC_GIVEN_SIZE(x) given.size(#x)
#define TRC_GIVEN_IN(A, ld, rows, cols) given.matrix(#A, Access::read), given.leading()
#define TRC_GIVEN_INOUT(A, ld, rows, cols) given.matrix(#A, Access::write), given.leading()
#define TRC_GIVEN_TRIANGLE_IN(A, ld, n, uplo) TRC_GIVEN_IN(A, ld, n, n)
#define TRC_GIVEN_TRIANGLE_INOUT(A, ld, n, uplo) TRC_GIVEN_INOUT(A, ld, n, n)
#define TRC_GIVEN_TRAPEZOID_IN(A, ld, rows, cols, uplo) TRC_GIVEN_IN(A, ld, rows, cols)
#define TRC_GIVEN_CONDITION_NORM(x) given.template letter<Norm>(#x)
#define TRC_GIVEN_MAGNITUDE(x) given.number(#x)
#define TRC_GIVEN_REALS_OUT(x, count) given.reals(#x)
#define TRC_GIVEN_PIVOTS_IN(x, count, rows) given.integers(#x)
#define TRC_GIVEN_PIVOTS_OUT(x, count) given.integers(#x)
#define TRC_GIVEN_HERM_OP(x, text) given.template letter<Op>(text)
#define TRC_GIVEN_WITHIN(x, least, most) given.size(#x)
#define TRC_GIVEN_OUT(A, ld, rows, cols) given.matrix(#A, Access::write), given.leading()
#define TRC_GIVEN_TAU_IN(x, count) given.matrix(#x, Access::read)
#define TRC_GIVEN_TAU_OUT(x, count) given.matrix(#x, Access::write)
#define TRC_GIVEN_GIVEN_INOUT(A, ld, rows, cols, fact) TRC_GIVEN_INOUT(A, ld, rows, cols)
#define TRC_GIVEN_GIVEN_TRIANGLE(A, ld, n, uplo, fact) TRC_GIVEN_INOUT(A, ld, n, n)
#define TRC_GIVEN_GIVEN_PIVOTS(x, count, fact) given.integers(#x)
#define TRC_GIVEN_EQUED(x, letters, fact) given.text(#x)
#define TRC_GIVEN_SCALES(x, count, used) given.reals(#x)
#define TRC_GIVEN_GROWTH(x) , given.reals(#x)

#define TRC_SHAPE_FLAG(E, x, text) true
#define TRC_SHAPE_SIZE(x) true
#define TRC_SHAPE_IN(A, ld, rows, cols) given.expect(#A, rows, cols)
#define TRC_SHAPE_INOUT(A, ld, rows, cols) given.expect(#A, rows, cols)
#define TRC_SHAPE_TRIANGLE_IN(A, ld, n, uplo) given.expect(#A, n, n)
#define TRC_SHAPE_TRIANGLE_INOUT(A, ld, n, uplo) given.expect(#A, n, n)
#define TRC_SHAPE_TRAPEZOID_IN(A, ld, rows, cols, uplo) given.expect(#A, rows, cols)
#define TRC_SHAPE_CONDITION_NORM(x) true
#define TRC_SHAPE_MAGNITUDE(x) true
#define TRC_SHAPE_REALS_OUT(x, count) given.expect_reals(#x, count)
#define TRC_SHAPE_PIVOTS_IN(x, count, rows) given.expect_integers(#x, count)
#define TRC_SHAPE_PIVOTS_OUT(x, count) given.expect_integers(#x, count)
#define TRC_SHAPE_HERM_OP(x, text) true
#define TRC_SHAPE_WITHIN(x, least, most) true
#define TRC_SHAPE_OUT(A, ld, rows, cols) given.expect(#A, rows, cols)
#define TRC_SHAPE_TAU_IN(x, count) given.expect(#x, count, 1)
#define TRC_SHAPE_TAU_OUT(x, count) given.expect(#x, count, 1)
#define TRC_SHAPE_GIVEN_INOUT(A, ld, rows, cols, fact) given.expect(#A, rows, cols)
#define TRC_SHAPE_GIVEN_TRIANGLE(A, ld, n, uplo, fact) given.expect(#A, n, n)
#define TRC_SHAPE_GIVEN_PIVOTS(x, count, fact) given.expect_integers(#x, count)
#define TRC_SHAPE_EQUED(x, letters, fact) true
#define TRC_SHAPE_SCALES(x, count, used) given.expect_reals(#x, count)
#define TRC_SHAPE_GROWTH(x) , given.expect_reals(#x, 1)

/// Takes the arguments of `routine`, looks at them and makes of them `CALL`, without the interpreter lock. Braces take the
/// arguments from left to right.
#define TRC_CALL(routine, RESULT, CALL)                                                                                          \
    template <Scalar T>                                                                                                          \
    RESULT call_##routine([[maybe_unused]] Session* session, const nb::args& arguments, const RoutineOptions& options)           \
    {                                                                                                                            \
        Given<T> given(arguments);                                                                                               \
        const auto run = [&](TRC_ARGUMENTS_##routine(TRC_FACE)) {                                                                \
            given.end();                                                                                                         \
            (void)std::initializer_list<bool>{TRC_ARGUMENTS_##routine(TRC_SHAPE)};                                               \
            argument::require(TRC_ARGUMENTS_##routine(TRC_CHECK));                                                               \
            return compute([&]() -> RESULT { return CALL; });                                                                    \
        };                                                                                                                       \
        return std::apply(run, std::tuple{TRC_ARGUMENTS_##routine(TRC_GIVEN)});                                                  \
    }
#define TRC_TASKS(routine, ...)                                                                                                  \
    TRC_CALL(routine, Index, argument::outcome([&] {                                                                             \
                 return routine(given.session(session, options), TRC_ARGUMENTS_##routine(TRC_PASS), options);                    \
             }))
TRC_TASK_ROUTINES(TRC_TASKS)
TRC_EXPERT_ROUTINES(TRC_TASKS)
#define TRC_ESTIMATE(routine, ...)                                                                                               \
    TRC_CALL(routine, Index, (no_options(options), routine(given.session(session, options), TRC_ARGUMENTS_##routine(TRC_PASS))))
TRC_ESTIMATE_ROUTINES(TRC_ESTIMATE)
#define TRC_NORM(function, ...)                                                                                                  \
    TRC_CALL(function, double,                                                                                                   \
             (no_options(options), double(function(given.session(session, options), TRC_ARGUMENTS_##function(TRC_PASS)))))
TRC_NORM_ROUTINES(TRC_NORM)

#define TRC_REFLECTORS(routine, ...)                                                                                             \
    TRC_CALL(routine, Index, (no_options(options), argument::outcome([&] { return routine(TRC_ARGUMENTS_##routine(TRC_PASS)); })))
TRC_REFLECTOR_ROUTINES(TRC_REFLECTORS)

/// LAPACK's info of the routine called `name`.
Index call(const std::string& name, Session* session, const nb::args& arguments, Index nb, const std::string& variant)
{
    const RoutineOptions chosen = options(nb, variant);
    return with_scalar(kind_of(arguments), [&](auto zero) -> Index {
        using T = decltype(zero);
#define TRC_NAMED(routine, ...)                                                                                                  \
    if (name == #routine) return call_##routine<T>(session, arguments, chosen);
        TRC_LAPACK_ROUTINES(TRC_NAMED)
        TRC_REFLECTOR_ROUTINES(TRC_NAMED)
        throw Error(ErrorCode::bad_argument, "'" + name + "' is no routine of LAPACK that is served");
    });
}

/// The value of LAPACK's function called `name`.
double norm(const std::string& name, Session* session, const nb::args& arguments)
{
    return with_scalar(kind_of(arguments), [&](auto zero) -> double {
        using T = decltype(zero);
        const RoutineOptions none;
#define TRC_NAMED_NORM(function, ...)                                                                                            \
    if (name == #function) return call_##function<T>(session, arguments, none);
        TRC_NORM_ROUTINES(TRC_NAMED_NORM)
        throw Error(ErrorCode::bad_argument, "'" + name + "' is no norm of LAPACK's");
    });
}

/// Rows of an array exchanged in place, with pivots from 1.
void exchange_rows(nb::handle array, const nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>& pivots,
                   Index first, Index last, bool backward)
{
    const Buffer a = Buffer::require(array.ptr(), Access::write, 1, "a");
    with_scalar(a.kind(), [&](auto zero) {
        const auto matrix = a.column_major<decltype(zero)>(1, "a");
        if (last - first > 0 && last > Index(pivots.size()))
            throw Error(ErrorCode::bad_argument,
                        "there are " + std::to_string(pivots.size()) + " pivots, for rows up to " + std::to_string(last));
        compute([&] { laswp(matrix.rows, matrix.cols, matrix.data, matrix.ld, first, last, pivots.data(), backward); });
    });
}

} // namespace

void bind_lapack(nb::module_& m)
{
    using namespace nb::literals;
    m.def("lapack", &call, "routine"_a, "session"_a.none(), "arguments"_a, "nb"_a = 0, "variant"_a = "");
    m.def("exchange_rows", &exchange_rows, "a"_a, "pivots"_a, "first"_a, "last"_a, "backward"_a);
    m.def("lapack_norm", &norm, "function"_a, "session"_a.none(), "arguments"_a);
}

} // namespace trencadis::python
