#pragma once
#include "machine/kernel_speeds.hpp"
#include "machine/machine.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trencadis {

/// How long `kernel` takes on a unit: a core kind's name, "kindA+kindB" for a team (in any order), or a device's name, for which
/// the entry of its kind ("gpu") serves when there is none of its own. A kernel without times on the machine has those of one
/// that it resembles, if any (the table in the source). Null when the machine does not say. `precision` as in KernelTime: where
/// the machine does not tell it apart, double's.
const KernelTime* find_kernel(const Machine& machine, std::string_view kernel, std::string_view unit, char precision = 0);

/// The same by the key that measured speeds have: the entry of the codelet itself ("gemm.packed"), else that of all that are
/// shown by its name ("gemm").
const KernelTime* find_kernel(const Machine& machine, const KernelKey& key);

/// Those of `names` that no unit in use has a time for: such a graph cannot run. Units are the kinds of `cores` (indices into
/// Machine::cores) and `devices` (indices into Machine::devices).
std::vector<std::string> missing_kernels(const Machine& machine, std::span<const std::string_view> names,
                                         std::span<const int> cores, std::span<const int> devices);
/// Likewise with all cores and devices, apart from cores that only drive a device.
std::vector<std::string> missing_kernels(const Machine& machine, std::span<const std::string_view> names);

/// Throws Error{bad_argument} with "file:line: what is missing; the entry to add" unless some unit in use has a time for each
/// kernel, and each unit in use has a time for some kernel.
void require_kernels(const Machine& machine, std::span<const std::string_view> names, std::span<const int> cores,
                     std::span<const int> devices);

} // namespace trencadis
