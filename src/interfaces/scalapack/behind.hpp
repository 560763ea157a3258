#pragma once
#include "base/scalar.hpp"
#include "interfaces/scalapack/descriptor.hpp"

#include <complex>
#include <cstddef>

/// The ScaLAPACK and BLACS behind us: what this library depends on, or what the program was linked with before that.
extern "C" {
void Cblacs_gridinfo(int context, int* rows, int* cols, int* row, int* col);
void Cblacs_abort(int context, int code);
void Cigsum2d(int context, const char* scope, const char* topology, int m, int n, int* A, int lda, int to_row, int to_col);
void blacs_get_(const int* context, const int* what, int* value);
void chk1mat_(const int* m, const int* m_at, const int* n, const int* n_at, const int* ia, const int* ja, const int* desc,
              const int* desc_at, int* info);
void pchk1mat_(const int* m, const int* m_at, const int* n, const int* n_at, const int* ia, const int* ja, const int* desc,
               const int* desc_at, const int* extras, const int* extra, const int* extra_at, int* info);
void pchk2mat_(const int* m, const int* m_at, const int* n, const int* n_at, const int* ia, const int* ja, const int* desca,
               const int* desca_at, const int* k, const int* k_at, const int* l, const int* l_at, const int* ib, const int* jb,
               const int* descb, const int* descb_at, const int* extras, const int* extra, const int* extra_at, int* info);
void pxerbla_(const int* context, const char* routine, const int* number, std::size_t length);
#define TRC_REDISTRIBUTION(T, p)                                                                                                 \
    void C##p##gemr2d(int m, int n, const T* A, int ia, int ja, const int* desca, T* B, int ib, int jb, const int* descb,        \
                      int context);                                                                                              \
    void C##p##trmr2d(const char* uplo, const char* diag, int m, int n, const T* A, int ia, int ja, const int* desca, T* B,      \
                      int ib, int jb, const int* descb, int context);
TRC_REDISTRIBUTION(float, ps)
TRC_REDISTRIBUTION(double, pd)
TRC_REDISTRIBUTION(std::complex<float>, pc)
TRC_REDISTRIBUTION(std::complex<double>, pz)
#undef TRC_REDISTRIBUTION
}

namespace trencadis::scalapack {

/// Which of our routines a call is of; `name_of<T>` is its name.
enum class Routine { potrf, potrs, posv, getrf, getrs, gesv, geqrf, gemm, trsm, count };
/// "PDPOTRF"; the symbol is the same in small letters with an underscore.
template <Scalar T> const char* name_of(Routine routine);

/// The routine of that name in the library behind us. Ends the program where there is none.
template <Scalar T> void* behind(Routine routine);

/// While one lives, what the calling thread calls is called by the library behind us, and none of our business.
class Inside {
public:
    Inside() { ++depth_; }
    ~Inside() { --depth_; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    static bool any() { return depth_ > 0; }

private:
    static thread_local constinit int depth_;
};

/// Calls it with the arguments that are given: addresses, and the lengths of letters that Fortran passes behind them.
template <Scalar T, class... Arguments> void pass_on(Routine routine, Arguments... arguments)
{
    const Inside inside;
    reinterpret_cast<void (*)(Arguments...)>(behind<T>(routine))(arguments...);
}
inline constexpr std::size_t one_letter = 1;

/// One line on standard error with TRENCADIS_VERBOSE: who computes, and why not we.
template <Scalar T> void tell(Routine routine, int m, int n, const char* who);

/// Ends all processes of the grid, as the BLACS do: what was to be computed cannot be, and there is no number for it.
[[noreturn]] void give_up(int context, const char* routine, const char* reason) noexcept;

} // namespace trencadis::scalapack
