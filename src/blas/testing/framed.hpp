#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <sys/mman.h>
#include <unistd.h>

namespace trencadis::blas::testing {

/// Memory whose last byte lies before a page that nobody may touch.
template <class T> class Guarded {
public:
    explicit Guarded(std::size_t count)
    {
        const std::size_t page = std::size_t(sysconf(_SC_PAGESIZE)), bytes = count * sizeof(T);
        bytes_ = (bytes + page - 1) / page * page + page;
        base_ = static_cast<char*>(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        mprotect(base_ + bytes_ - page, page, PROT_NONE);
        span_ = {reinterpret_cast<T*>(base_ + bytes_ - page - bytes), count};
    }
    ~Guarded() { munmap(base_, bytes_); }
    Guarded(const Guarded&) = delete;
    Guarded& operator=(const Guarded&) = delete;
    T& operator[](std::size_t i) const { return span_[i]; }
    std::span<T> all() const { return span_; }

private:
    char* base_;
    std::size_t bytes_;
    std::span<T> span_;
};

template <class T> T random_element(std::mt19937& random)
{
    std::uniform_real_distribution<Real<T>> part(-1, 1);
    if constexpr (is_complex<T>) return {part(random), part(random)};
    else return part(random);
}

/// Operands in such memory with NaNs between their columns, so that whatever is read beside them shows.
template <class T> struct Framed {
    Index ld;
    Guarded<T> memory;
    Framed(Index rows, Index cols, Index padding, std::mt19937& random)
        : ld(rows + padding), memory(std::size_t(ld * (cols - 1) + rows))
    {
        std::fill(memory.all().begin(), memory.all().end(), T(NAN));
        for (Index j = 0; j < cols; ++j)
            for (Index i = 0; i < rows; ++i) memory[std::size_t(i + j * ld)] = random_element<T>(random);
    }
    T* data() { return memory.all().data(); }
};

} // namespace trencadis::blas::testing
