#pragma once
#include "base/scalar.hpp"
#include "base/types.hpp"

#include <cstddef>
#include <vector>

namespace trencadis::estimates {

/// Memory for `count` numbers: what a caller lends (LAPACK's `work`), so that nothing is taken from the heap, or its own where
/// that is null.
template <class V> class Room {
public:
    Room(V* lent, Index count) : own_(lent ? 0 : std::size_t(count)), data_(lent ? lent : own_.data()) {}
    V* data() { return data_; }
    V& operator[](Index i) { return data_[i]; }

private:
    std::vector<V> own_;
    V* const data_;
};

/// What condition numbers and refinements of order n want: what LAPACK's first array of work has at least.
template <Scalar T> constexpr Index work_of(Index n) { return (is_complex<T> ? 2 : 3) * n; }

} // namespace trencadis::estimates
