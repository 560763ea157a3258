#include "base/error.hpp"
#include "devices/backend.hpp"
#include "devices/cuda/driver.hpp"
#include "devices/driven/as_guest.hpp"
#include "devices/driven/choice.hpp"
#include "devices/driven/patience.hpp"

#include <fmt/format.h>

namespace trencadis {
namespace devices {
namespace cuda {
namespace {

class CudaLibrary final : public DriverLibrary {
public:
    CudaLibrary() : api_(load_api())
    {
        const AsGuest guest;
        const std::chrono::milliseconds patience = patience_with_drivers();
        static auto* const start = new DriverStart<Result>; // for good
        const std::optional<Result> started = start->run([init = api_.cuInit] { return init(0); }, patience, guest);
        if (!started) fail_to_start("cuda", "NVIDIA's driver has", patience);
        Result code = *started;
        if (code == no_device) return;
        int count = 0;
        if (code == success) code = api_.cuDeviceGetCount(&count);
        if (code != success)
            throw Error(ErrorCode::environment, fmt::format("devices 'cuda': {} when NVIDIA's driver starts", name_of(code)));
        for (int number = 0; number < count; ++number) {
            char name[256] = "?";
            DeviceNumber device = 0;
            if (api_.cuDeviceGet(&device, number) == success) api_.cuDeviceGetName(name, sizeof name, device);
            devices_.push_back(device);
            names_.emplace_back(name);
        }
    }
    std::vector<std::string> names() override { return names_; }
    std::string version(std::size_t number) override
    {
        int driver = 0;
        std::size_t bytes = 0;
        api_.cuDriverGetVersion(&driver);
        api_.cuDeviceTotalMem_v2(&bytes, devices_.at(number));
        return fmt::format("driver {}, {} bytes", driver, bytes);
    }
    std::unique_ptr<Driver> open(std::size_t number) override
    {
        return std::make_unique<CudaDriver>(api_, devices_.at(number), fmt::format("cuda {}", number));
    }

private:
    const Api& api_;
    std::vector<DeviceNumber> devices_;
    std::vector<std::string> names_;
};

} // namespace
} // namespace cuda

namespace {

constexpr const char* none = "it takes a GPU of NVIDIA's and its driver, which nvidia-smi shows";

/// To know, the driver has to be started; whoever asks has asked for devices.
std::string why_no_cuda()
{
    try {
        return cuda::CudaLibrary().names().empty() ? std::string("this machine has none; ") + none : std::string();
    } catch (const Error& error) {
        return error.what();
    }
}

DeviceList open_cuda(const DeviceWords& words)
{
    cuda::CudaLibrary library;
    return open_driven(words, library, none);
}

} // namespace
} // namespace devices

extern const DeviceBackend device_cuda;
const DeviceBackend device_cuda{
    {"cuda", "NVIDIA's GPUs, by their driver and cuBLAS, which are opened when a device is asked for", "NVIDIA"},
    devices::why_no_cuda,
    devices::open_cuda,
    false,
    [] { devices::cuda::CudaLibrary(); },
};

} // namespace trencadis
