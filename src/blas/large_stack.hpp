#pragma once
#include <functional>

namespace trencadis {
struct Machine;
}

namespace trencadis::blas {

/// read(), on a thread of its own where the calling one has a small stack: BLAS needs little of that, but the first call of a process
/// reads the machine, through libraries that need more.
Machine on_a_large_stack(const std::function<Machine()>& read);

} // namespace trencadis::blas
