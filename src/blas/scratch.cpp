#include "blas/scratch.hpp"

#include "base/error.hpp"

#include <sys/mman.h>

#include <array>
#include <cstdlib>
#include <string>

namespace trencadis::blas {
namespace {

constexpr Index line = 64, huge_page = 2 << 20;

struct Block {
    void* data = nullptr;
    Index bytes = 0;
    ~Block() { std::free(data); }

    void grow(Index wanted)
    {
        const Index unit = wanted >= huge_page ? huge_page : 4096;
        const Index size = (wanted + unit - 1) / unit * unit;
        std::free(data);
        bytes = 0;
        data = std::aligned_alloc(std::size_t(unit >= huge_page ? huge_page : line), std::size_t(size));
        if (!data) throw Error(ErrorCode::out_of_memory, "no memory for " + std::to_string(size) + " bytes of packing buffer");
        if (unit == huge_page) madvise(data, std::size_t(size), MADV_HUGEPAGE); // a wish: refused, it is only slower
        bytes = size;
    }
};

} // namespace

void* scratch_bytes(Buffer which, Index bytes)
{
    thread_local std::array<Block, std::size_t(Buffer::panel) + 1> blocks;
    Block& block = blocks[std::size_t(which)];
    if (block.bytes < bytes || !block.data) block.grow(bytes > 0 ? bytes : 1);
    return block.data;
}

} // namespace trencadis::blas
