#pragma once
#include "base/types.hpp"

#include <string>
#include <vector>

namespace trencadis {

class KernelProvider;

/// A square product in double precision, or another kernel on squares, as it was measured: from its launch until its end is
/// known.
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
    std::vector<MeasuredProduct> factors = {};  ///< likewise, of Cholesky; none: it has no factorization
    std::vector<MeasuredProduct> updates = {};  ///< of rank n; none: not measured, as of a device whose products take long
    std::vector<MeasuredProduct> solves = {};   ///< with a triangle; likewise
    std::vector<MeasuredProduct> panels = {};   ///< of LU; none: it has no such factorization
};

/// How large the squares become that a device is measured with, and how long a kernel takes at which they become no larger. A
/// device that is quick at products of half the largest size has other kernels measured as well, for which launches and short
/// loops count more.
struct SurveyBounds {
    Seconds enough = 0.005;
    Index largest = 4096, largest_factor = 8192;
};

/// The devices that the words name, measured for some hundredths of a second, where kernels are loaded at their first use some
/// tenths; of one model the first, whose figures all have. Throws as devices::open_devices, and Error{environment} for one that
/// fails.
std::vector<DeviceReport> survey_devices(const std::string& words, const KernelProvider& kernels,
                                         const SurveyBounds& bounds = {});
/// On the calling thread, which is a core.
MeasuredCore measure_core(const KernelProvider& kernels);
/// Those of all back ends that are there, emulated ones left out; not measured. A back end whose devices do not start has none.
std::vector<DeviceReport> devices_here();

} // namespace trencadis
