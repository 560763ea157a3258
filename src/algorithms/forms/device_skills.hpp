#pragma once
#include "algorithms/forms/form.hpp"
#include "kernels/providers/device_kernels.hpp"

namespace trencadis {

/// Does a device compute in the precision, counted as in Form::lay, and can(its routines)?
template <class Can> bool has_routines(const DeviceKernels& kernels, int precision, const Can& can)
{
    const auto asked = [&]<Scalar T>(T) {
        return layout_of_precision<T> == precision && kernels.computes<T>() && can(kernels.routines<T>());
    };
    return asked(float()) || asked(double()) || asked(std::complex<float>()) || asked(std::complex<double>());
}

/// Form::asks_of_devices: Cholesky's factorization, and LU's of whole columns.
inline bool factors(const DeviceKernels& kernels, int precision)
{
    return has_routines(kernels, precision, [](const auto& routines) { return routines.factors(); });
}
inline bool factors_lu(const DeviceKernels& kernels, int precision)
{
    return has_routines(kernels, precision, [](const auto& routines) { return routines.factors_lu(); });
}

} // namespace trencadis
