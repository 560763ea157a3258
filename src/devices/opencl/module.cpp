// The module: what of trencadis is linked to OpenCL and CLBlast. It is loaded when an OpenCL device is asked for, so that drivers
// stay out of processes that asked for none.
#include "base/error.hpp"
#include "devices/opencl/driver.hpp"

#include <fmt/format.h>

namespace trencadis::devices::opencl {
namespace {

template <class Handle, class Ask> std::string words_from(const Ask& ask, Handle handle, cl_uint question)
{
    std::size_t size = 0;
    if (ask(handle, question, 0, nullptr, &size) != CL_SUCCESS || size == 0) return "?";
    std::string words(size, '\0');
    if (ask(handle, question, size, words.data(), nullptr) != CL_SUCCESS) return "?";
    return words.c_str(); // up to the zero
}

class OpenClLibrary final : public DriverLibrary {
public:
    /// All platforms' devices, one platform after the other. By whoever is a guest meanwhile.
    OpenClLibrary()
    {
        cl_uint count = 0;
        if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0) return;
        std::vector<cl_platform_id> platforms(count);
        clGetPlatformIDs(count, platforms.data(), nullptr);
        for (cl_platform_id const platform : platforms) {
            cl_uint its = 0;
            if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &its) != CL_SUCCESS || its == 0) continue;
            std::vector<cl_device_id> devices(its);
            clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, its, devices.data(), nullptr);
            const std::string name = words_from(clGetPlatformInfo, platform, CL_PLATFORM_NAME);
            for (cl_device_id const device : devices) {
                devices_.push_back(device);
                names_.push_back(words_from(clGetDeviceInfo, device, CL_DEVICE_NAME) + ", " + name);
            }
        }
    }

    std::vector<std::string> names() override { return names_; }
    std::string version(std::size_t number) override
    {
        cl_ulong bytes = 0;
        clGetDeviceInfo(devices_.at(number), CL_DEVICE_GLOBAL_MEM_SIZE, sizeof bytes, &bytes, nullptr);
        return fmt::format("driver {}, {} bytes", words_from(clGetDeviceInfo, devices_.at(number), CL_DRIVER_VERSION), bytes);
    }
    std::unique_ptr<Driver> open(std::size_t number) override
    {
        return std::make_unique<OpenClDriver>(devices_.at(number), fmt::format("opencl {}", number));
    }

private:
    std::vector<cl_device_id> devices_;
    std::vector<std::string> names_;
};

} // namespace
} // namespace trencadis::devices::opencl

extern "C" __attribute__((visibility("default"))) trencadis::devices::DriverLibrary* trc_opencl_v2()
{
    static auto* const library = new trencadis::devices::opencl::OpenClLibrary; // for good, as the drivers behind it are
    return library;
}
