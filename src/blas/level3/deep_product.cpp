#include "blas/level3/deep_product.hpp"

#include <algorithm>

namespace trencadis::blas {
namespace {

constexpr Index line = 64;

template <Scalar T> Index lines_apart(Index rows)
{
    return (rows * Index(sizeof(T)) + line - 1) / line * line / Index(sizeof(T));
}

} // namespace

template <Scalar T> bool DeepProduct<T>::suits(const Product<T>& x, const Setup<T>& with)
{
    // Of a whole C other ways share as much of what is read: it has to stay in the first cache. Of a triangle they read more.
    const Index kc = with.tree[Loop::pc], first = 2 * kc * with.kernel.nr, second = planes<T> * kc * with.tree[Loop::ic];
    return x.alpha != T(0) && x.A.structure == Structure::general && x.B.structure == Structure::general &&
           depth_of_piece(x.k, with) < x.k && planes<T> * x.m * x.n <= (x.part == Part::all ? first : second);
}

template <Scalar T> Index DeepProduct<T>::most_pieces(const Product<T>& x)
{
    constexpr Index most_bytes = 8 << 20;
    return std::max<Index>(8, most_bytes / (lines_apart<T>(x.m) * x.n * Index(sizeof(T))));
}

template <Scalar T>
DeepProduct<T>::DeepProduct(const Product<T>& x, Index depth)
    : x_(x), depth_(depth), pieces_((x.k + depth - 1) / depth), ld_(lines_apart<T>(x.m)),
      places_(pieces_ * (ld_ * x.n * Index(sizeof(T)) + 1))
{
    std::fill_n(&is_made(0), pieces_, char{0});
}

template <Scalar T> void DeepProduct<T>::make(Index p)
{
    Product<T> own = piece(p);
    own.C = place(p);
    own.rs = 1;
    own.cs = ld_;
    own.beta = T(0);
    multiply(own);
    is_made(p) = 1;
}

template <Scalar T> void DeepProduct<T>::work(Team& team)
{
    Index next = 0; // of the pieces in C: no other member takes the first one
    while (const Chunks taken = team.next_of_two_ends(1))
        for (Index p = taken.begin; p < taken.end; ++p) try {
                if (p != next) make(p);
                else {
                    multiply(piece(p));
                    added_ = ++next;
                }
            } catch (const Error& failure) {
                if (failure.code() != ErrorCode::out_of_memory || !team.is_joined()) throw;
                return;
            }
}

template <Scalar T> void DeepProduct<T>::finish()
{
    if (added_ == 0) {
        multiply(piece(0));
        added_ = 1;
    }
    for (Index p = added_; p < pieces_; ++p)
        if (!is_made(p)) make(p);
}

/// As the kernels add: a product with alpha is rounded before.
template <Scalar T> void DeepProduct<T>::add(Index first, Index count) const
{
    for (Index p = added_; p < pieces_; ++p)
        for (Index j = first; j < first + count; ++j) {
            const Index begin = x_.part == Part::lower ? j : 0, end = x_.part == Part::upper ? std::min(x_.m, j + 1) : x_.m;
            const T* const from = place(p) + j * ld_;
            T* const to = x_.C + j * x_.cs;
            for (Index i = begin; i < end; ++i) to[i] += from[i];
        }
}

#define TRC_INSTANTIATE(T) template class DeepProduct<T>;
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::blas
