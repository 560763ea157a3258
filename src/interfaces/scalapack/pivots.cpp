#include "interfaces/scalapack/pivots.hpp"

#include "interfaces/scalapack/behind.hpp"

namespace trencadis::scalapack {

std::vector<int> Pivots::all(int count) const
{
    std::vector<int> found(std::size_t(count), 0);
    if (grid.col == 0) each_here(count, [&](int k, int& pivot) { found[std::size_t(k)] = pivot - (ia - 1); });
    if (count > 0) Cigsum2d(grid.context, "All", " ", count, 1, found.data(), count, -1, -1);
    return found;
}

void Pivots::put(const std::vector<int>& all) const
{
    each_here(int(all.size()), [&](int k, int& pivot) { pivot = all[std::size_t(k)] + (ia - 1); });
}

} // namespace trencadis::scalapack
