#pragma once

namespace trencadis::devices::opencl {

/// What CLBlast has not, or not without waiting for it, in OpenCL C: the source of `solve` and `scale`. It is compiled for one
/// precision by -DREAL=float or double, -DCOMPLEX for complex numbers, and -DORDER=, the largest order that `solve` takes.
extern const char* const kernel_source;

} // namespace trencadis::devices::opencl
