#pragma once
#include "engines/openmp/runtime.hpp"

#include <functional>

namespace trencadis::openmp {

/// A thread of ours that holds parallel regions for others and never ends. libomp frees the tasks of a thread that ends under the
/// workers that have run them (seen with 19.1: assertion in kmp_alloc.cpp), so only threads that stay may submit any; and a
/// runtime keeps a team for each of them, which the next region finds there.
class Holder {
public:
    /// One that has nothing to do, or a new one; Error{environment} where there can be none.
    static Holder& take(const Kind& kind);
    /// Begins `work`, which must not throw; afterwards the holder is another one's to take. `work` lasts until then.
    virtual void begin(const std::function<void()>& work) = 0;

protected:
    ~Holder() = default;
};

} // namespace trencadis::openmp
