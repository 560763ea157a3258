#include "blas/level3/block_sizes.hpp"

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/large_stack.hpp"
#include "base/lasting.hpp"
#include "base/same_sums.hpp"
#include "machine/machine.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <sched.h>
#include <string_view>

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

Index depth(Index nr, Index element_bytes, const CacheSizes& caches)
{
    return std::clamp<Index>(round_down(caches.l1 / 2 / (nr * element_bytes), 8), 64, 512);
}

BlockSizes derive(Index kc, Index mr, Index nr, Index element_bytes, const CacheSizes& caches)
{
    constexpr Index widest = 4096;
    const Index mc = round_down(caches.l2 / 2 / (kc * element_bytes), mr);
    const Index nc = caches.l3 > 0 ? std::min(caches.l3 / 2 / (kc * element_bytes), widest) : widest;
    return {kc, mc, round_down(nc, nr)};
}

/// The sizes of every core of this machine, by its number in the operating system.
struct Cores {
    using Sizes = std::array<BlockSizes, 2>; ///< by the machine, and with sums that are the same on every machine
    std::vector<int> kind_of_cpu;            ///< -1: no core
    std::vector<Sizes> of_kind;
};

/// A process whose sessions are all reproducible computes so without a session too.
bool always_same_sums()
{
    const char* const word = environment("TRENCADIS_REPRODUCIBLE");
    return word && std::string_view(word) == "1";
}

/// Without memory to read it in: then blocks are those of a core with small caches.
Machine machine_or_none()
{
    try {
        return machine_at_hand();
    } catch (const Error& failure) {
        if (failure.code() != ErrorCode::out_of_memory) throw;
        return {};
    }
}

template <Scalar T> Cores read_machine()
{
    const MicroKernel<T>& kernel = instruction_set().micro_kernel<T>();
    const auto both = [always = always_same_sums()](const BlockSizes& by_caches, const BlockSizes& same) {
        return Cores::Sizes{always ? same : by_caches, same};
    };
    if (const char* const text = environment("TRENCADIS_BLOCKS"); text && *text) {
        const BlockSizes sizes = parse_block_sizes(text, kernel.mr, kernel.nr);
        return {{}, {both(sizes, {depth(kernel.nr, sizeof(T), {}), sizes.mc, sizes.nc})}};
    }
    const Machine machine = machine_or_none();
    Cores cores;
    for (const Core& core : machine.cores) {
        if (core.cpu >= int(cores.kind_of_cpu.size())) cores.kind_of_cpu.resize(core.cpu + 1, -1);
        cores.kind_of_cpu[core.cpu] = core.kind;
    }
    const auto by_caches = block_table(machine, kernel.mr, kernel.nr, sizeof(T)),
               same = block_table(machine, kernel.mr, kernel.nr, sizeof(T), true);
    for (std::size_t i = 0; i < same.size(); ++i) cores.of_kind.push_back(both(by_caches[i].sizes, same[i].sizes));
    return cores;
}

} // namespace

BlockSizes derive_block_sizes(Index mr, Index nr, Index element_bytes, const CacheSizes& caches)
{
    return derive(depth(nr, element_bytes, caches), mr, nr, element_bytes, caches);
}

BlockSizes parse_block_sizes(std::string_view text, Index mr, Index nr)
{
    Index sizes[3] = {};
    const char* at = text.data();
    const char* const end = at + text.size();
    for (int i = 0; i < 3; ++i) {
        const auto [next, error] = std::from_chars(at, end, sizes[i]);
        const bool separated = i < 2 ? next != end && *next == ',' : next == end;
        if (error != std::errc{} || sizes[i] < 1 || !separated)
            throw Error(ErrorCode::bad_argument, "TRENCADIS_BLOCKS is '" + std::string(text) +
                                                     "'; it takes three positive numbers kc,mc,nc, as in 256,240,4080");
        at = i < 2 ? next + 1 : next;
    }
    return {sizes[0], round_down(sizes[1], mr), round_down(sizes[2], nr)};
}

std::vector<KindBlocks> block_table(const Machine& machine, Index mr, Index nr, Index element_bytes, bool same_sums)
{
    std::vector<KindBlocks> table;
    for (const CoreKind& kind : machine.kinds) table.push_back({kind.name, 0, {}, {}});
    if (table.empty()) table.push_back({"core", 0, {}, {}});
    for (std::size_t i = 0; i < machine.cores.size(); ++i) {
        KindBlocks& row = table[machine.cores[i].kind];
        if (row.cores++ == 0) row.caches = caches_of(machine, int(i));
    }
    Index kc = same_sums ? depth(nr, element_bytes, {}) : 512;
    for (const KindBlocks& row : table)
        if (row.cores > 0 && !same_sums) kc = std::min(kc, depth(nr, element_bytes, row.caches));
    for (KindBlocks& row : table) row.sizes = derive(kc, mr, nr, element_bytes, row.caches);
    return table;
}

template <Scalar T> const BlockSizes& block_sizes(int cpu)
{
    static constinit Lasting<const Cores> of_this_machine;
    const auto make = [] { return new Cores(read_machine<T>()); };
    if (!of_this_machine.is_made()) on_a_large_stack([&] { of_this_machine.get(make); });
    const Cores& cores = of_this_machine.get(make);
    const bool same = SameSums::here();
    if (cores.of_kind.size() == 1) return cores.of_kind.front()[same];
    if (cpu < 0) cpu = sched_getcpu();
    const int kind = cpu >= 0 && cpu < int(cores.kind_of_cpu.size()) ? cores.kind_of_cpu[cpu] : -1;
    return cores.of_kind[std::size_t(std::max(kind, 0))][same];
}

template const BlockSizes& block_sizes<float>(int);
template const BlockSizes& block_sizes<double>(int);
template const BlockSizes& block_sizes<std::complex<float>>(int);
template const BlockSizes& block_sizes<std::complex<double>>(int);

} // namespace trencadis::blas
