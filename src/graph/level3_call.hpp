#pragma once
#include "base/types.hpp"

#include <complex>
#include <cstdint>
#include <functional>

namespace trencadis {

/// A level 3 operation on a device's memory, as a library of the device's own is told it. The letters are LAPACK's; matrices lie
/// by columns, and the factors are exact in any precision that is computed in.
///
/// - gemm: C <- alpha op_a(A) op_b(B) + beta C, C m x n, the inner dimension k
/// - syrk, herk: C <- alpha op_a(A) op_a(A)^T or ^H + beta C, the triangle `uplo` of C, n x n; the other one is not touched
/// - potrf: the triangle `uplo` of C <- its Cholesky factor, C n x n
/// - trsm: C <- alpha op_a(A)^-1 C or alpha C op_a(A)^-1, C m x n, by the triangle `uplo` of A
/// - getrf: C, m x n, <- its L U factors with partial pivoting, B <- min(m, n) interchanges, as laswp takes them
/// - laswp: rows of C, m x n, are exchanged by the k interchanges in B, of 32 bits each: row i, from 1, with row B[i], one after
///   the other
struct Level3Call {
    enum class Routine : std::uint8_t { gemm, syrk, herk, trsm, potrf, getrf, laswp };
    Routine routine = Routine::gemm;
    char precision = 'd'; ///< s, d, c or z
    char op_a = 'N', op_b = 'N';
    char side = 'L', uplo = 'L', diag = 'N';
    Index m = 0, n = 0, k = 0;
    std::complex<double> alpha = 1, beta = 0;
    const void* A = nullptr;
    Index lda = 1;
    const void* B = nullptr;
    Index ldb = 1;
    void* C = nullptr;
    Index ldc = 1;
    /// Of potrf: called with the order of the first leading minor that is not positive definite, of getrf with the number of the
    /// first pivot that is zero; 0 where there is none. Behind the kernel and before the event behind it is reached, on whichever
    /// thread; it is short. Not called where the kernel failed.
    std::function<void(Index)> told = {};
};

/// Bytes of an element.
constexpr std::size_t element_of(char precision) { return precision == 's' ? 4 : precision == 'z' ? 16 : 8; }

/// The queue of a device that has such a library.
class Level3Queue {
public:
    virtual bool computes_in(char precision) const = 0;
    virtual bool factors() const { return false; }    ///< has potrf
    virtual bool factors_lu() const { return false; } ///< has getrf and laswp
    /// What goes wrong is told by the next event. Throws std::bad_alloc.
    virtual void enqueue(const Level3Call& call) = 0;

protected:
    ~Level3Queue() = default;
};

} // namespace trencadis
