#pragma once
#include <nanobind/nanobind.h>

namespace trencadis::python {

/// The name of an argument that may be anything, None too: what it is, is looked at by the function.
inline auto operator""_any(const char* name, std::size_t) { return nanobind::arg(name).none(); }

// One per source file; each adds its part to the module.
void bind_choices(nanobind::module_& m);
void bind_session(nanobind::module_& m);
void bind_routines(nanobind::module_& m);
void bind_lapack(nanobind::module_& m);
void bind_level3(nanobind::module_& m);
void bind_distributed(nanobind::module_& m);
void bind_device_arrays(nanobind::module_& m);
void bind_direct(nanobind::module_& m);
void bind_energy(nanobind::module_& m);
void bind_general(nanobind::module_& m);
void bind_graph(nanobind::module_& m);
void bind_incremental(nanobind::module_& m);
void bind_stacks(nanobind::module_& m);
void bind_products(nanobind::module_& m);
void bind_registries(nanobind::module_& m);
void bind_simulation(nanobind::module_& m);
void bind_tile_qr(nanobind::module_& m);
void bind_turns(nanobind::module_& m);

} // namespace trencadis::python
