#pragma once
#include "graph/flow.hpp"

namespace trencadis {

/// The task graph of tile Cholesky with `tiles` tile rows and kernels that do nothing: what the runtime itself
/// costs. `tiles` + tiles (tiles - 1) + tiles (tiles - 1) (tiles - 2) / 6 tasks with one to three accesses. `data` stands for the
/// tiles: tiles x tiles bytes that are only named, never read.
void empty_cholesky(Flow& flow, char* data, Index tiles);

/// How many tasks that is.
Index empty_cholesky_tasks(Index tiles);

} // namespace trencadis
