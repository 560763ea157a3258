#pragma once
#include "base/scalar.hpp"
#include "interfaces/lapack/xerbla.hpp"

/// From CBLAS calls to column-major ones. A row-major matrix is the transpose of the column-major one in the same memory: factors
/// change places, sides and triangles turn round, nothing is copied.
namespace trencadis::face {

/// The flags of one CBLAS call as BLAS's letters. The first bad one is reported at once; the call then does nothing.
class CblasFlags {
public:
    CblasFlags(const char* routine, int layout) : routine_(routine), row_major_(layout == 101)
    {
        if (layout != 101 && layout != 102) refuse(1, "Illegal layout setting, %d\n", layout);
    }
    bool failed() const { return failed_; }
    bool row_major() const { return row_major_; }

    char op(int number, const char* message, int value)
    {
        if (value >= 111 && value <= 113) return "NTC"[value - 111];
        return refuse(number, message, value);
    }
    /// The operation of a rank update, which a row-major matrix turns round. `transposed` is 'T' or 'C', the only one for complex
    /// matrices.
    template <Scalar T> char rank_op(int number, int value, char transposed)
    {
        const char given = op(number, "Illegal Trans setting, %d\n", value);
        if (failed_ || !row_major_) return given;
        if (given == 'N') return transposed;
        return given == transposed || !is_complex<T> ? 'N' : refuse(number, "Illegal Trans setting, %d\n", value);
    }
    char uplo(int number, int value)
    {
        if (value == 121 || value == 122) return (value == 121) != row_major_ ? 'U' : 'L';
        return refuse(number, "Illegal Uplo setting, %d\n", value);
    }
    char side(int number, int value)
    {
        if (value == 141 || value == 142) return (value == 141) != row_major_ ? 'L' : 'R';
        return refuse(number, "Illegal Side setting, %d\n", value);
    }
    char diag(int number, int value)
    {
        if (value == 131 || value == 132) return value == 131 ? 'N' : 'U';
        return refuse(number, "Illegal Diag setting, %d\n", value);
    }
    /// Reports the bad argument of the column-major routine, whose arguments are one fewer.
    void report(int bad) const
    {
        if (bad) bad_cblas_argument(routine_, row_major_, bad + 1);
    }

private:
    char refuse(int number, const char* message, int value)
    {
        if (!failed_) bad_cblas_argument(routine_, row_major_, number, message, value);
        failed_ = true;
        return '?';
    }
    const char* routine_;
    bool row_major_;
    bool failed_ = false;
};

} // namespace trencadis::face
