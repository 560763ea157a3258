#include "base/error.hpp"
#include "base/lasting.hpp"
#include "base/module.hpp"
#include "devices/backend.hpp"
#include "devices/driven/as_guest.hpp"
#include "devices/driven/choice.hpp"
#include "devices/driven/patience.hpp"

namespace trencadis {
namespace devices {
namespace {

constexpr Module module{"libtrencadis_opencl.so",
                        "trc_opencl_v2",
                        "no OpenCL devices",
                        "OpenCL and CLBlast",
                        "ocl-icd-opencl-dev libclblast-dev",
                        "ocl-icd-libopencl1 libclblast1"};

constexpr const char* none = "for a device made of this machine's cores, on Debian and Ubuntu: apt install pocl-opencl-icd";

/// With the drivers behind it, from its first use on. A child of a fork has the drivers without their threads, for which they
/// would wait.
DriverLibrary& library()
{
    static auto* const make = reinterpret_cast<DriverLibrary* (*)()>(module.load());
    static const int made_after = forks_so_far();
    if (forks_so_far() != made_after)
        throw Error(ErrorCode::missing_backend,
                    "it was opened before this process was forked, and its threads are not in it; open it "
                    "in the child alone, or start the child anew");
    static auto* const start = new DriverStart<DriverLibrary*>; // for good
    static DriverLibrary* started = nullptr;
    const AsGuest guest;
    if (started) return *started;
    const std::chrono::milliseconds patience = patience_with_drivers();
    const std::optional<DriverLibrary*> made = start->run(make, patience, guest);
    if (!made) fail_to_start("opencl", "a driver of OpenCL's has", patience);
    return *(started = *made);
}

/// Whoever asks has asked for devices.
std::string why_no_opencl()
{
    try {
        return library().names().empty() ? std::string("this machine has none; ") + none : std::string();
    } catch (const Error& error) {
        return error.what();
    }
}

DeviceList open_opencl(const DeviceWords& words) { return open_driven(words, library(), none); }

} // namespace
} // namespace devices

extern const DeviceBackend device_opencl;
const DeviceBackend device_opencl{
    {"opencl", "GPUs and whatever else has an OpenCL driver, by CLBlast", "CLBlast"},
    devices::why_no_opencl,
    devices::open_opencl,
    false,
    [] { static_cast<void>(devices::library()); },
};

} // namespace trencadis
