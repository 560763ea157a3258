#include "kernels/providers/native_blocks.hpp"

#include "blas/level3/block_sizes.hpp"
#include "blas/micro/micro_kernel.hpp"

namespace trencadis {
namespace {

template <Scalar T> void add(char precision, const Machine& machine, std::vector<NativeBlocks>& rows)
{
    const blas::MicroKernel<T>& kernel = blas::instruction_set().micro_kernel<T>();
    for (const blas::KindBlocks& row : blas::block_table(machine, kernel.mr, kernel.nr, sizeof(T)))
        rows.push_back({precision, row.kind, row.cores, kernel.mr, kernel.nr, row.sizes.kc, row.sizes.mc, row.sizes.nc});
}

} // namespace

std::vector<NativeBlocks> native_blocks(const Machine& machine)
{
    std::vector<NativeBlocks> rows;
    add<float>('s', machine, rows);
    add<double>('d', machine, rows);
    add<std::complex<float>>('c', machine, rows);
    add<std::complex<double>>('z', machine, rows);
    return rows;
}

} // namespace trencadis
