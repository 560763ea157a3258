#pragma once
#include "array.hpp"

#include <nanobind/nanobind.h>

namespace trencadis::python {

/// What we need of numpy, through its Python face (its C headers are not needed to build). Interpreter lock held.

/// Is the object exactly a numpy.ndarray, none of the subclasses (matrix, masked array) that mean something else?
bool is_plain_array(nanobind::handle object);
/// numpy.empty. `order` is 'C' or 'F'; a vector when dimensions is 1. Throws Error{out_of_memory} before the system would kill.
nanobind::object empty(ScalarKind kind, Index rows, Index cols, int dimensions, char order);

} // namespace trencadis::python
