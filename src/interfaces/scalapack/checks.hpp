#pragma once
#include "interfaces/scalapack/descriptor.hpp"

#include <array>

namespace trencadis::scalapack {

/// A matrix argument: its extents as the routine takes them, and where in its list they and the descriptor stand.
struct Checked {
    int m, m_at, n, n_at, ia, ja;
    Descriptor desc;
    int desc_at;

    template <Scalar T> static Checked of(const Operand<T>& A, int m, int m_at, int n, int n_at, int desc_at)
    {
        return {m, m_at, n, n_at, A.ia, A.ja, A.desc, desc_at};
    }
};

/// The arguments of LAPACK's part of ScaLAPACK, looked at as it does itself and by its own functions (chk1mat, pchk1mat,
/// pchk2mat): first those of this process, then whether all processes say the same. What it refuses because its own algorithm
/// does not suit it, submatrices that do not begin with a block and blocks that are not square, is in order here.
class Checks {
public:
    Checks(const char* routine, const Checked& A);
    void matrix(const Checked& B); ///< at most one more, in the same context
    void letter(char given, const char* allowed, int number);
    /// A workspace of `size`, at least `least`; -1 asks for its size.
    void workspace(int size, int least, int number);
    /// 0, or ScaLAPACK's info, the same on all processes, after pxerbla was called.
    int outcome();
    bool fine() const { return info_ == 0; }

private:
    void extra(int value, int number);
    void agree();

    const char* routine_;
    std::array<Checked, 2> matrices_;
    int count_ = 1, info_ = 0, extras_ = 0;
    bool open_;
    std::array<int, 2> extra_{}, extra_at_{};
};

} // namespace trencadis::scalapack
