#pragma once
#include "base/types.hpp"

#include <string>
#include <vector>

namespace trencadis {

class KernelProvider;

/// A square product in double precision, or a Cholesky factorization, as it was measured.
struct MeasuredProduct {
    Flops flops;
    double rate; ///< flops per second
};
/// By size.
struct MeasuredCore {
    std::vector<MeasuredProduct> products, factors;
};

/// One device as it was found.
struct DeviceReport {
    std::string name, backend, model;
    Bytes bytes = 0;       ///< of its memory
    bool emulated = false; ///< then what follows is emulated as well
    // Measured; 0: it was not.
    double flops_per_second = 0;                ///< of products of tiles in double precision
    double bytes_per_second[2] = {0, 0};        ///< to it and from it, of page-locked memory
    Seconds latency = 0;                        ///< of the smallest copy to it
    std::vector<MeasuredProduct> products = {}; ///< by size
    std::vector<MeasuredProduct> factors = {};  ///< likewise; none: it has no factorization
};

/// The devices that the words name, measured for some hundredths of a second; of one model the first, whose figures all have.
/// Throws as devices::open_devices, and Error{environment} for one that fails.
std::vector<DeviceReport> survey_devices(const std::string& words, const KernelProvider& kernels);
/// On the calling thread, which is a core.
MeasuredCore measure_core(const KernelProvider& kernels);
/// Those of all back ends that are there, emulated ones left out; not measured. A back end whose devices do not start has none.
std::vector<DeviceReport> devices_here();

} // namespace trencadis
