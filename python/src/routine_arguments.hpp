#pragma once
#include "array.hpp"
#include "base/error.hpp"
#include "call.hpp"
#include "drivers/linear_algebra.hpp"
#include "matrix/ops.hpp"

#include <complex>
#include <nanobind/stl/complex.h>
#include <string>

/// BLAS's and LAPACK's arguments as Python gives them. What cannot be read throws Error{bad_argument} with the argument's number,
/// counted after the session.
namespace trencadis::python {

using Complex = std::complex<double>;

inline RoutineOptions options(Index nb, std::string variant)
{
    return {.nb = nb, .interrupted = signalled, .variant = std::move(variant)};
}

/// The flag a letter stands for, either case.
template <class Flag> Flag flag(const std::string& letter, const char* allowed, int argument, const char* name)
{
    const char upper = letter.size() == 1 ? static_cast<char>(letter[0] & ~0x20) : '\0';
    if (upper)
        for (const char* known = allowed; *known; ++known)
            if (upper == *known) return static_cast<Flag>(upper);
    std::string known;
    for (const char* c = allowed; *c; ++c) known += (known.empty() ? "'" : ", '") + std::string(1, *c) + "'";
    throw Error(ErrorCode::bad_argument, argument, std::string(name) + " is '" + letter + "'; give one of " + known);
}
inline Op op(const std::string& letter, int argument, const char* name) { return flag<Op>(letter, "NTC", argument, name); }
inline Uplo uplo(const std::string& letter, int argument = 1) { return flag<Uplo>(letter, "LU", argument, "uplo"); }

template <Scalar T> T scalar(Complex value, int argument, const char* name)
{
    if constexpr (is_complex<T>) return static_cast<T>(value);
    else {
        if (value.imag() != 0)
            throw Error(ErrorCode::bad_argument, argument, std::string(name) + " is complex but the arrays are real");
        return static_cast<T>(value.real());
    }
}

inline void require_shape(const char* what, Index rows, Index cols, Index wanted_rows, Index wanted_cols, int argument)
{
    if (rows == wanted_rows && cols == wanted_cols) return;
    const auto text = [](Index r, Index c) { return std::to_string(r) + " x " + std::to_string(c); };
    throw Error(ErrorCode::bad_argument, argument,
                std::string(what) + " is " + text(rows, cols) + "; the other arguments need " + text(wanted_rows, wanted_cols));
}

template <class M> Index op_rows(Op op, const M& m) { return op == Op::none ? m.rows : m.cols; }
template <class M> Index op_cols(Op op, const M& m) { return op == Op::none ? m.cols : m.rows; }

using Access = Buffer::Access;

} // namespace trencadis::python
