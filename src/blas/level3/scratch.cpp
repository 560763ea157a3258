#include "blas/level3/scratch.hpp"

#include "base/error.hpp"
#include "base/lasting.hpp"
#include "base/of_thread.hpp"
#include "matrix/work_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string>
#include <utility>

namespace trencadis::blas {
namespace {

constexpr Index line = 64, large = 256 << 10, huge_page = 2 << 20;

Index rounded_up(Index bytes)
{
    const Index unit = bytes >= huge_page ? huge_page : 4096;
    return (std::max<Index>(bytes, 1) + unit - 1) / unit * unit;
}

/// Made while there is memory: where there is none left, a message finds none either.
const Error& out_of_memory()
{
    static constinit Lasting<const Error> failure;
    return failure.get([] { return new Error(ErrorCode::out_of_memory, "no memory for a packing buffer"); });
}
[[noreturn]] void refuse(Index bytes, const Error& without_message)
{
    try {
        throw Error(ErrorCode::out_of_memory, "no memory for " + std::to_string(bytes) + " bytes of packing buffer");
    } catch (const std::bad_alloc&) {
        throw Error(without_message);
    }
}

/// `bytes` as rounded_up gives them.
void* allocate(Index bytes)
{
    const Error& failure = out_of_memory();
    const bool huge = bytes >= huge_page;
    void* data = std::aligned_alloc(std::size_t(huge ? huge_page : line), std::size_t(bytes));
    if (data && bytes >= large && !WorkMemory::leaves_room()) std::free(std::exchange(data, nullptr));
    if (!data) refuse(bytes, failure);
    if (huge) madvise(data, std::size_t(bytes), MADV_HUGEPAGE); // a wish: refused, it is only slower
    return data;
}

/// A thread's own.
struct Block {
    void* data = nullptr;
    Index bytes = 0;
    ~Block() { std::free(data); }

    /// Where there is no memory for it, the block stays as it is: smaller pieces go on fitting in.
    void grow(Index wanted)
    {
        void* const larger = allocate(wanted);
        std::free(data);
        data = larger;
        bytes = wanted;
    }
};

using Blocks = std::array<Block, std::size_t(Buffer::reflectors) + 1>;

/// Blocks that no team has at the moment.
class Store {
public:
    static Store& get()
    {
        static constinit Lasting<Store> store;
        return store.get();
    }
    /// The smallest kept block that is large enough, or none.
    void* take(Index& bytes)
    {
        std::lock_guard lock(lock_);
        Kept* best = nullptr;
        for (Kept& kept : kept_)
            if (kept.data && kept.bytes >= bytes && (!best || kept.bytes < best->bytes)) best = &kept;
        if (!best) return nullptr;
        bytes = best->bytes;
        return std::exchange(best->data, nullptr);
    }
    /// Keeps the block in place of nothing or of a smaller one, which is freed.
    void give(void* data, Index bytes)
    {
        std::lock_guard lock(lock_);
        Kept* least = kept_.data();
        for (Kept& kept : kept_)
            if (!kept.data || (least->data && kept.bytes < least->bytes)) least = &kept;
        if (least->data && least->bytes >= bytes) return std::free(data);
        std::free(std::exchange(least->data, data));
        least->bytes = bytes;
    }

private:
    struct Kept {
        void* data = nullptr;
        Index bytes = 0;
    };
    ProcessLock lock_;
    std::array<Kept, 8> kept_;
};

} // namespace

void* scratch_bytes(Buffer which, Index bytes)
{
    Block& block = of_thread<Blocks, Block>()[std::size_t(which)];
    if (block.bytes < bytes || !block.data) block.grow(rounded_up(bytes));
    return block.data;
}

SharedBuffer::SharedBuffer(Index bytes) : bytes_(rounded_up(bytes))
{
    data_ = Store::get().take(bytes_);
    if (!data_) data_ = allocate(bytes_);
}
SharedBuffer::~SharedBuffer() { Store::get().give(data_, bytes_); }

} // namespace trencadis::blas
