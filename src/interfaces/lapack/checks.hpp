#pragma once
#include "base/types.hpp"
#include "matrix/ops.hpp"

#include <algorithm>

namespace trencadis::face {

/// The first bad argument of a call, in the order in which the reference BLAS looks at them. Letters of either case.
class Checks {
public:
    int bad() const { return bad_; } ///< its number, 0: none

    Op op(int number, char letter)
    {
        switch (letter) {
        case 'N':
        case 'n': return Op::none;
        case 'T':
        case 't': return Op::trans;
        case 'C':
        case 'c': return Op::conj_trans;
        }
        return refuse(number, Op::none);
    }
    /// Of a rank update: complex ones know one transposition each, for real ones both are the same.
    template <Scalar T> Op rank_op(int number, char letter, Op allowed)
    {
        const Op given = op(number, letter);
        if (is_complex<T>) return given == Op::none || given == allowed ? given : refuse(number, Op::none);
        return given == Op::none ? Op::none : Op::trans;
    }
    Uplo uplo(int number, char letter)
    {
        switch (letter) {
        case 'L':
        case 'l': return Uplo::lower;
        case 'U':
        case 'u': return Uplo::upper;
        }
        return refuse(number, Uplo::lower);
    }
    Side side(int number, char letter)
    {
        switch (letter) {
        case 'L':
        case 'l': return Side::left;
        case 'R':
        case 'r': return Side::right;
        }
        return refuse(number, Side::left);
    }
    Diag diag(int number, char letter)
    {
        switch (letter) {
        case 'N':
        case 'n': return Diag::non_unit;
        case 'U':
        case 'u': return Diag::unit;
        }
        return refuse(number, Diag::unit);
    }
    void size(int number, Index value)
    {
        if (value < 0) refuse(number, 0);
    }
    void leading(int number, Index ld, Index rows)
    {
        if (ld < std::max<Index>(1, rows)) refuse(number, 0);
    }

private:
    template <class V> V refuse(int number, V instead)
    {
        if (!bad_) bad_ = number;
        return instead;
    }
    int bad_ = 0;
};

} // namespace trencadis::face
