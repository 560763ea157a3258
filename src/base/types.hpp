#pragma once
#include <cstdint>

namespace trencadis {

using Index = std::int64_t; ///< sizes and positions; 64 bits everywhere

using Seconds = double;
using Bytes = double;
using Flops = double;
using Joules = double;

using WorkerId = int; ///< 0 .. workers-1 within one session
inline constexpr WorkerId no_worker = -1;

} // namespace trencadis
