#pragma once
#include "base/error.hpp"
#include "base/types.hpp"
#include "matrix/ops.hpp"
#include "session/region.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

namespace trencadis {

/// Checks of a routine's arguments, numbered from 1 in LAPACK's order. Each throws Error{bad_argument} that names the value
/// given and what would be right.
class Arguments {
public:
    static void size(int number, const char* name, Index value)
    {
        if (value < 0) fail(number, std::string(name) + " is " + std::to_string(value) + ", must be at least 0");
    }
    /// A column-major matrix of `rows` x `cols` elements of `element` bytes with leading dimension `ld`, the argument after it.
    static void matrix(int number, const char* name, const void* data, Index rows, Index cols, Index ld, std::size_t element,
                       int ld_number)
    {
        if (ld < std::max<Index>(1, rows))
            fail(ld_number, std::string("ld") + name + " is " + std::to_string(ld) +
                                ", must be at least max(1, rows) = " + std::to_string(std::max<Index>(1, rows)));
        Index bytes = 0;
        if (__builtin_mul_overflow(ld, cols, &bytes) || __builtin_mul_overflow(bytes, Index(element), &bytes))
            fail(ld_number, std::string("ld") + name + " is " + std::to_string(ld) + ", which with " + std::to_string(cols) +
                                " columns is beyond the address space");
        if (!data && rows > 0 && cols > 0) fail(number, std::string(name) + " is null, must point to the matrix");
    }
    /// syrk and herk know one transposition each: the symmetric or the Hermitian one. For real scalars they are the same.
    template <Scalar T> static void rank_k_op(int number, Op op, Op allowed)
    {
        if (is_complex<T> && op != Op::none && op != allowed)
            fail(number, std::string("trans is '") + char(op) + "', must be 'N' or '" + char(allowed) + "'");
    }
    /// What is written must not be what is read.
    static void apart(int number, const char* name, const Region& written, const char* other, const Region& read)
    {
        if (overlap(written, read))
            fail(number, std::string(name) + " overlaps " + other + ", which the routine reads while it writes " + name +
                             "; give it memory of its own");
    }
    static void tile(Index nb)
    {
        if (nb < 0) fail(0, "nb is " + std::to_string(nb) + ", must be at least 1, or 0 to have it chosen");
        if (nb > std::numeric_limits<std::int32_t>::max())
            fail(0, "nb is " + std::to_string(nb) + ", must be below 2^31: no tile is larger");
    }

private:
    [[noreturn]] static void fail(int number, const std::string& message)
    {
        throw Error(ErrorCode::bad_argument, number, message);
    }
};

} // namespace trencadis
