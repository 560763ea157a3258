#include "devices/opencl/driver.hpp"

#include "base/error.hpp"
#include "devices/driven/as_guest.hpp"

#include <fmt/format.h>

#include <utility>

namespace trencadis::devices::opencl {
namespace {

template <class T> T answer(cl_device_id device, cl_device_info question, T otherwise)
{
    T value = otherwise;
    return clGetDeviceInfo(device, question, sizeof value, &value, nullptr) == CL_SUCCESS ? value : otherwise;
}

/// What blocks may take: an eighth is left for what CLBlast needs beside them, half where it is the host's own memory.
std::size_t bytes_of(cl_device_id device)
{
    const auto all = answer<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE, 0);
    return std::size_t(answer<cl_bool>(device, CL_DEVICE_HOST_UNIFIED_MEMORY, CL_FALSE) ? all / 2 : all - all / 8);
}

[[noreturn]] void fail(const std::string& name, int code, const char* what)
{
    throw Error(ErrorCode::environment, fmt::format("device '{}': {} for {}", name, name_of(code), what));
}

cl_mem buffer_of(Memory memory) { return reinterpret_cast<cl_mem>(memory); } // NOLINT(performance-no-int-to-ptr)

std::string words_of(Extent extent, const char* where)
{
    return fmt::format("a copy of {} columns of {} bytes {} the device", extent.columns, extent.bytes, where);
}

} // namespace

OpenClDriver::OpenClDriver(cl_device_id device, std::string name) : name_(std::move(name)), bytes_(bytes_of(device))
{
    const AsGuest guest;
    cl_int code = CL_SUCCESS;
    context_ = Context(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code));
    if (code != CL_SUCCESS) fail(name_, code, "a context");
    for (CommandQueue* queue : {&lines_[0].queue, &lines_[1].queue, &lines_[2].queue, &service_}) {
        *queue = CommandQueue(clCreateCommandQueue(context_.get(), device, 0, &code));
        if (code != CL_SUCCESS) fail(name_, code, "a queue");
    }
    level3_ = std::make_unique<Level3>(context_.get(), device, name_);
    watch_ = std::make_unique<Watch>();
}

/// What a lost device has is left to it: whether it ends what was enqueued nobody knows, and giving a queue back may wait for it.
OpenClDriver::~OpenClDriver()
{
    if (!given_up_)
        for (Line& line : lines_) clFinish(line.queue.get());
    watch_.reset();
    if (!given_up_) return;
    for (Line& line : lines_) line.queue.leave();
    service_.leave();
    (void)level3_.release();
    context_.leave();
}

void OpenClDriver::give_up()
{
    given_up_ = true;
    watch_->give_up();
}

bool OpenClDriver::computes_in(char precision) const { return precision == 's' || precision == 'c' || level3_->has_double(); }

// ---- memory

Status OpenClDriver::allocate(std::size_t bytes, Memory& memory)
{
    cl_int code = CL_SUCCESS;
    cl_mem const buffer = clCreateBuffer(context_.get(), CL_MEM_READ_WRITE, bytes, nullptr, &code);
    if (code == CL_SUCCESS) memory = reinterpret_cast<Memory>(buffer);
    return status_of(code, Fault::out_of_memory, fmt::format("{} bytes of the device's memory", bytes));
}

Status OpenClDriver::release(Memory memory)
{
    return status_of(clReleaseMemObject(buffer_of(memory)), Fault::bad_argument, "giving memory back");
}

Status OpenClDriver::allocate_host(std::size_t bytes, void*& memory)
{
    cl_int code = CL_SUCCESS;
    Buffer buffer(clCreateBuffer(context_.get(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, nullptr, &code));
    void* place = nullptr;
    if (code == CL_SUCCESS)
        place = clEnqueueMapBuffer(service_.get(), buffer.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, nullptr,
                                   nullptr, &code);
    if (code == CL_SUCCESS) host_memory_.emplace(memory = place, std::move(buffer));
    return status_of(code, Fault::out_of_memory, fmt::format("{} bytes of page-locked memory", bytes));
}

Status OpenClDriver::release_host(void* memory)
{
    const auto found = host_memory_.find(memory);
    if (found == host_memory_.end()) return {Fault::bad_argument, "no page-locked memory begins there"};
    if (given_up_) {
        found->second.leave();
        host_memory_.erase(found);
        return {};
    }
    int code = clEnqueueUnmapMemObject(service_.get(), found->second.get(), memory, 0, nullptr, nullptr);
    if (code == CL_SUCCESS) code = clFinish(service_.get());
    host_memory_.erase(found);
    return status_of(code, Fault::bad_argument, "giving page-locked memory back");
}

/// OpenCL locks memory of the caller's as long as a buffer uses it.
Status OpenClDriver::lock_pages(void* memory, std::size_t bytes)
{
    cl_int code = CL_SUCCESS;
    Buffer buffer(clCreateBuffer(context_.get(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, memory, &code));
    const std::lock_guard lock(locking_);
    if (code == CL_SUCCESS) locked_.emplace(memory, std::move(buffer));
    return status_of(code, Fault::out_of_memory, fmt::format("page-locking {} bytes", bytes));
}

Status OpenClDriver::unlock_pages(void* memory)
{
    const std::lock_guard lock(locking_);
    if (locked_.erase(memory) == 0) return {Fault::bad_argument, "no memory is page-locked there"};
    return {};
}

// ---- what is enqueued

/// `call(queue, event)` enqueues one thing.
template <class Enqueue> Status OpenClDriver::enqueue(Queue queue, Fault fault, const std::string& asked, const Enqueue& call)
{
    Line& its = line(queue);
    Event event;
    int code = call(its.queue.get(), event.put());
    if (event) its.since_mark.push_back(std::move(event));
    if (code == CL_SUCCESS) code = clFlush(its.queue.get());
    return status_of(code, fault, asked);
}

Status OpenClDriver::copy_in(HostPlace from, Rows to, Extent extent)
{
    cl_mem const buffer = buffer_of(to.spot.memory);
    const std::size_t there[] = {to.spot.offset, 0, 0}, here[] = {0, 0, 0}, region[] = {extent.bytes, extent.columns, 1};
    const bool whole = to.pitch == extent.bytes && from.pitch == extent.bytes;
    return enqueue(Queue::in, Fault::copy, words_of(extent, "to"), [&](cl_command_queue queue, cl_event* event) {
        if (whole)
            return clEnqueueWriteBuffer(queue, buffer, CL_FALSE, there[0], extent.bytes * extent.columns, from.at, 0, nullptr,
                                        event);
        return clEnqueueWriteBufferRect(queue, buffer, CL_FALSE, there, here, region, to.pitch, 0, from.pitch, 0, from.at, 0,
                                        nullptr, event);
    });
}

Status OpenClDriver::copy_out(Rows from, HostPlace to, Extent extent)
{
    cl_mem const buffer = buffer_of(from.spot.memory);
    const std::size_t there[] = {from.spot.offset, 0, 0}, here[] = {0, 0, 0}, region[] = {extent.bytes, extent.columns, 1};
    const bool whole = to.pitch == extent.bytes && from.pitch == extent.bytes;
    return enqueue(Queue::out, Fault::copy, words_of(extent, "from"), [&](cl_command_queue queue, cl_event* event) {
        if (whole)
            return clEnqueueReadBuffer(queue, buffer, CL_FALSE, there[0], extent.bytes * extent.columns, to.at, 0, nullptr,
                                       event);
        return clEnqueueReadBufferRect(queue, buffer, CL_FALSE, there, here, region, from.pitch, 0, to.pitch, 0, to.at, 0,
                                       nullptr, event);
    });
}

Status OpenClDriver::copy_from(Driver&, Rows, Rows, Extent) { return {Fault::bad_argument, name_ + " reaches no other device"}; }

/// Some calls are several kernels: when the first of them has been enqueued, the call is not to be tried again.
Status OpenClDriver::compute(const Level3Call& call, const Spots& at)
{
    Line& its = line(Queue::kernels);
    const std::size_t before = its.since_mark.size();
    Status status = level3_->enqueue(its.queue.get(), call, at, [&its](cl_event event) { its.since_mark.emplace_back(event); });
    if (status.ok()) status = status_of(clFlush(its.queue.get()), Fault::kernel, "beginning what was enqueued");
    left_half_done_ = !status.ok() && its.since_mark.size() != before;
    return status;
}

// ---- events

Status OpenClDriver::finish(Queue queue)
{
    const int code = clFinish(line(queue).queue.get());
    const std::shared_ptr<Marker> marker = std::exchange(line(queue).unmarked, {});
    return marker ? status_of_marker(*marker, code) : status_of(code, Fault::kernel, "what was enqueued");
}

Status OpenClDriver::mark(Queue queue, std::uint64_t, Completion arrived)
{
    Line& its = line(queue);
    const Fault fault = queue == Queue::kernels ? Fault::kernel : Fault::copy;
    std::vector<cl_event> before;
    for (const Event& event : its.since_mark) before.push_back(event.get());
    const auto marker = std::make_shared<Marker>(
        Marker{std::move(arrived), std::exchange(its.since_mark, {}), std::exchange(its.gates, {}), fault});
    const int code = clEnqueueMarkerWithWaitList(its.queue.get(), cl_uint(before.size()),
                                                 before.empty() ? nullptr : before.data(), marker->event.put());
    Status status = code == CL_SUCCESS ? watch_->add(marker) : status_of(code, fault, "a marker");
    if (status.ok()) clFlush(its.queue.get());
    else its.unmarked = marker;
    return status;
}

Status OpenClDriver::hold(Queue, Driver&, Queue, std::uint64_t)
{
    return {Fault::bad_argument, name_ + " holds for no events of drivers"};
}

/// A barrier behind an event of the host's.
Status OpenClDriver::hold(Queue queue, Completion& open)
{
    cl_int code = CL_SUCCESS;
    auto gate = std::make_shared<Gate>();
    gate->event = Event(clCreateUserEvent(context_.get(), &code));
    if (code != CL_SUCCESS) return status_of(code, Fault::kernel, "an event");
    cl_event const event = gate->event.get();
    Status status = enqueue(queue, Fault::kernel, "a barrier", [event](cl_command_queue its, cl_event* barrier) {
        return clEnqueueBarrierWithWaitList(its, 1, &event, barrier);
    });
    open = [gate, look_now = watch_->look_now()](const Status& how) {
        {
            const std::lock_guard lock(gate->mutex);
            gate->status = how;
        }
        clSetUserEventStatus(gate->event.get(), how.ok() ? CL_COMPLETE : -1);
        if (!how.ok()) look_now();
    };
    if (!status.ok()) open({});
    else line(queue).gates.push_back(std::move(gate));
    return status;
}

} // namespace trencadis::devices::opencl
