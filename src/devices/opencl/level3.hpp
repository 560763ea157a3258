#pragma once
#include "devices/driven/driver.hpp"
#include "devices/opencl/objects.hpp"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace trencadis::devices::opencl {

/// Level 3 operations of one device: CLBlast's products, and solves by blocks whose diagonal ones are solved by a kernel of ours
/// and the rest of which is products, since CLBlast's own solve waits for the device.
class Level3 {
public:
    Level3(cl_context context, cl_device_id device, std::string name);

    bool has_double() const { return has_double_; }
    /// Enqueues; `told` is given each event that comes of it, to be released by it.
    Status enqueue(cl_command_queue queue, const Level3Call& call, const Spots& at, const std::function<void(cl_event)>& told);

private:
    struct Own {
        Program program;
        Kernel solve, scale;
    };
    template <class T> struct Work;
    Status own(char precision, Own*& kernels);
    void announce(const Level3Call& call);

    const cl_context context_;
    const cl_device_id device_;
    const std::string name_;
    const bool has_double_;
    std::map<char, Own> own_; ///< by precision
    std::set<std::pair<Level3Call::Routine, char>> used_;
};

bool has_double(cl_device_id device);

} // namespace trencadis::devices::opencl
