#include "glt/native/fences.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace trencadis::ult {

bool asymmetric_fences = false;

void prepare_fences() { asymmetric_fences = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0; }

void heavy_fence()
{
    full_fence();
    if (asymmetric_fences) syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

} // namespace trencadis::ult
