#pragma once
#include <functional>

namespace trencadis {

/// body(), on a thread of its own where the calling one has a small stack: BLAS needs little of that, but tasks more, and so do
/// the libraries through which the first call of a process reads the machine. It rounds there as here, and what it raises is
/// raised here. To be called with no lock held that `body` takes.
void on_a_large_stack(const std::function<void()>& body);

} // namespace trencadis
