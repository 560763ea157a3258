#include "matrix/tile_storage.hpp"

#include "base/error.hpp"

#include <string>
#include <sys/mman.h>

namespace trencadis {
namespace {

constexpr Index cache_line = 64;

std::size_t checked_bytes(Index tiles, Index tile_elements, std::size_t element)
{
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(std::size_t(tiles), std::size_t(tile_elements), &bytes) ||
        __builtin_mul_overflow(bytes, element, &bytes))
        throw Error(ErrorCode::out_of_memory, "a tile layout of " + std::to_string(tiles) + " tiles of " +
                                                  std::to_string(tile_elements) + " elements is beyond the address space");
    return bytes;
}

} // namespace

template <Scalar T>
TileStorage<T>::TileStorage(Index rows, Index cols, Index mb, Index nb)
    : rows_(rows), cols_(cols), mb_(mb), nb_(nb),
      ld_((mb * Index(sizeof(T)) + cache_line - 1) / cache_line * cache_line / Index(sizeof(T))), tile_elements_(ld_ * nb)
{
    const TileMatrix<T> shape({nullptr, rows, cols, mb}, mb, nb);
    bytes_ = checked_bytes(shape.row_tiles() * shape.col_tiles(), tile_elements_, sizeof(T));
    if (bytes_ == 0) return;
    void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        throw Error(ErrorCode::out_of_memory, "no memory for a tile layout of " + std::to_string(bytes_) + " bytes");
    madvise(memory, bytes_, MADV_HUGEPAGE); // a wish: without it the storage works all the same
    data_ = static_cast<T*>(memory);
}

template <Scalar T> TileStorage<T>::~TileStorage()
{
    if (data_) munmap(data_, bytes_);
}

template <Scalar T> TileMatrix<T> TileStorage<T>::matrix() const
{
    const Index row_tiles = TileMatrix<T>({data_, rows_, cols_, ld_}, mb_, nb_).row_tiles();
    return {{data_, rows_, cols_, ld_}, mb_, nb_, tile_elements_, tile_elements_ * row_tiles};
}

template class TileStorage<float>;
template class TileStorage<double>;
template class TileStorage<std::complex<float>>;
template class TileStorage<std::complex<double>>;

} // namespace trencadis
