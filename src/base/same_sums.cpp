#include "base/same_sums.hpp"

namespace trencadis {

thread_local constinit bool SameSums::here_ = false;

} // namespace trencadis
