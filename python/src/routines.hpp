#pragma once
#include <nanobind/nanobind.h>

namespace trencadis::python {

/// What `trencadis list routines` shows.
nanobind::list routine_rows();

} // namespace trencadis::python
