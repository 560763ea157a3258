#pragma once
#include "base/types.hpp"

#include <algorithm>
#include <cstdlib>

namespace trencadis::blas::testing {

/// Memory for a packed operand, aligned as it has to be, with numbers behind that nobody may write.
template <class R> struct Image {
    explicit Image(Index size) : size(size), data(static_cast<R*>(std::aligned_alloc(64, (size * sizeof(R) + 255) / 64 * 64)))
    {
        std::fill_n(data, size + behind, R(-77));
    }
    ~Image() { std::free(data); }
    Image(const Image&) = delete;
    bool overrun() const
    {
        return std::any_of(data + size, data + size + behind, [](R x) { return x != R(-77); });
    }

    static constexpr Index behind = 8;
    Index size;
    R* data;
};

} // namespace trencadis::blas::testing
