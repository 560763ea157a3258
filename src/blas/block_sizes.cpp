#include "blas/block_sizes.hpp"

#include "machine/machine.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace trencadis::blas {
namespace {

Index round_down(Index value, Index to) { return std::max(to, value / to * to); }

CacheSizes caches_of(const Machine& machine, int core)
{
    CacheSizes sizes;
    for (const Cache& cache : machine.caches) {
        if (std::find(cache.cores.begin(), cache.cores.end(), core) == cache.cores.end()) continue;
        const Index part = Index(cache.bytes) / Index(cache.cores.size());
        if (cache.level == 1) sizes.l1 = part;
        else if (cache.level == 2) sizes.l2 = part;
        else if (cache.level == 3) sizes.l3 = part;
    }
    return sizes;
}

struct Core {
    int cpu;
    BlockSizes sizes;
};

template <Scalar T> std::vector<Core> read_machine()
{
    const MicroKernel<T>& kernel = instruction_set().micro_kernel<T>();
    const Machine machine = discover_machine();
    std::vector<Core> cores;
    for (std::size_t i = 0; i < machine.cores.size(); ++i)
        cores.push_back({machine.cores[i].cpu, derive_block_sizes(kernel.mr, kernel.nr, sizeof(T), caches_of(machine, int(i)))});
    long kc = 0, mc = 0, nc = 0;
    if (const char* const text = std::getenv("TRENCADIS_BLOCKS"); text && std::sscanf(text, "%ld,%ld,%ld", &kc, &mc, &nc) == 3)
        for (Core& core : cores) core.sizes = {std::max<Index>(1, kc), round_down(mc, kernel.mr), round_down(nc, kernel.nr)};
    return cores;
}

} // namespace

BlockSizes derive_block_sizes(Index mr, Index nr, Index element_bytes, const CacheSizes& caches)
{
    // Half of L1 for the panel of B, the rest for the streams of A and C; half of L2 for the block of A; half of L3 for B.
    const Index kc = std::clamp<Index>(round_down(caches.l1 / 2 / (nr * element_bytes), 8), 64, 512);
    const Index mc = round_down(caches.l2 / 2 / (kc * element_bytes), mr);
    const Index nc = round_down(std::min<Index>(caches.l3 / 2 / (kc * element_bytes), 4096), nr);
    return {kc, mc, nc};
}

template <Scalar T> const BlockSizes& block_sizes(int cpu)
{
    static const std::vector<Core> cores = read_machine<T>();
    for (const Core& core : cores)
        if (core.cpu == cpu) return core.sizes;
    return cores.front().sizes;
}

template const BlockSizes& block_sizes<float>(int);
template const BlockSizes& block_sizes<double>(int);
template const BlockSizes& block_sizes<std::complex<float>>(int);
template const BlockSizes& block_sizes<std::complex<double>>(int);

} // namespace trencadis::blas
