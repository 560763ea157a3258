#include "devices/driven/patience.hpp"

#include "base/environment.hpp"
#include "base/error.hpp"
#include "devices/quantity.hpp"

#include <fmt/format.h>

namespace trencadis::devices {

std::chrono::milliseconds patience_with_drivers()
{
    constexpr long standard = 120, most = 86400;
    const char* const text = environment("TRENCADIS_DRIVER_SECONDS");
    return std::chrono::seconds(text && *text ? read_count("TRENCADIS_DRIVER_SECONDS", text, most) : standard);
}

void fail_to_start(const char* backend, const char* who, std::chrono::milliseconds patience)
{
    throw Error(ErrorCode::environment, fmt::format("devices '{}': {} not answered for {} s when it starts; "
                                                    "TRENCADIS_DRIVER_SECONDS says how long it may take",
                                                    backend, who, patience.count() / 1000));
}

} // namespace trencadis::devices
