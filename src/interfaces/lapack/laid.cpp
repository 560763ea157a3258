#include "interfaces/lapack/laid.hpp"

#include <complex>

// Apart from laid.hpp, because LAPACKE's routines take matrices in a thousand places.

namespace trencadis::face {
namespace {

/// Column by column; rows that are stored as such are read with a stride, as many at a time as fit the nearest cache.
template <class Visit> void for_each(const Part& part, const Visit& visit)
{
    constexpr Index block = 32;
    for (Index j0 = 0; j0 < part.cols; j0 += block)
        for (Index i0 = 0; i0 < part.rows; i0 += block)
            for (Index j = j0; j < std::min(j0 + block, part.cols); ++j)
                for (Index i = i0; i < std::min(i0 + block, part.rows); ++i)
                    if (part.shape == Region::Shape::all || (part.shape == Region::Shape::lower ? i >= j : i <= j)) visit(i, j);
}

} // namespace

template <class T> void lay_by_columns(const Part& part, const T* by_rows, Index ld, T* columns)
{
    for_each(part, [&](Index i, Index j) { columns[i + j * part.rows] = by_rows[i * ld + j]; });
}

template <class T> void lay_by_rows(const Part& part, const T* columns, T* by_rows, Index ld)
{
    for_each(part, [&](Index i, Index j) { by_rows[i * ld + j] = columns[i + j * part.rows]; });
}

template <class T> bool has_nan(const Part& part, bool unit, const T* columns, Index ld)
{
    bool found = false;
    for_each(part, [&](Index i, Index j) {
        if (unit && part.shape != Region::Shape::all && i == j) return;
        const T& x = columns[i + j * ld];
        found = found || x != x;
    });
    return found;
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void lay_by_columns(const Part&, const T*, Index, T*);                                                              \
    template void lay_by_rows(const Part&, const T*, T*, Index);                                                                 \
    template bool has_nan(const Part&, bool, const T*, Index);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis::face
