// A stand-in for libcuda.so.1 on machines without a GPU: streams are threads, memory is the host's behind addresses that are none
// there, and any call may be told to fail. What it does, it does as the published interface says, as far as it is used here.
#include "devices/cuda/api.hpp"
#include "fake_cuda.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using namespace trencadis::devices::cuda;

namespace {

constexpr Address tag = Address(1) << 62; ///< of addresses in the device's memory
constexpr std::size_t memory_bytes = std::size_t(64) << 20;
std::size_t others_have = 0, max_pitch = 0x7fffffff;
constexpr int devices = 2;

std::mutex world; ///< of what follows
struct Failing {
    int number, code;
    bool from_there = false;
};
std::map<std::string, Failing> failing;
std::map<Address, std::size_t> blocks;
std::map<Address, DeviceNumber> owners; ///< of them
std::atomic<std::uintptr_t> last_synchronized{0};
std::map<Address, std::size_t> host_locked; ///< pieces that were allocated or registered
std::size_t used = 0;
std::atomic<int> broken{0}, wrong_calls{0};
std::atomic<unsigned> start_ms{0};
thread_local std::vector<Context> stack;
thread_local bool in_callback = false;

struct Reached {
    std::mutex mutex;
    std::condition_variable changed;
    bool yes = false;
    void reach()
    {
        const std::lock_guard lock(mutex);
        yes = true;
        changed.notify_all();
    }
    void wait()
    {
        std::unique_lock lock(mutex);
        changed.wait(lock, [this] { return yes; });
    }
};

} // namespace

namespace trencadis::devices::cuda {
struct ContextOf {
    int device;
};
struct EventOf {
    std::shared_ptr<Reached> last; ///< as it was recorded
};
struct StreamOf {
    StreamOf() : thread([this] { live(); }) {}
    ~StreamOf()
    {
        add({});
        thread.join();
    }
    void add(std::function<void()> work)
    {
        const std::lock_guard lock(mutex);
        works.push_back(std::move(work));
        changed.notify_all();
    }
    void live()
    {
        while (true) {
            std::unique_lock lock(mutex);
            changed.wait(lock, [this] { return !works.empty(); });
            const std::function<void()> work = std::move(works.front());
            works.pop_front();
            lock.unlock();
            if (!work) return;
            work();
        }
    }
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<void()>> works; ///< an empty one ends it
    std::thread thread;
};
} // namespace trencadis::devices::cuda

int fake_cuda_call(const char* symbol)
{
    if (in_callback) {
        ++wrong_calls;
        return 201;
    }
    const std::lock_guard lock(world);
    const auto found = failing.find(symbol);
    if (found != failing.end() && --found->second.number <= 0) {
        const int code = found->second.code;
        if (!found->second.from_there) failing.erase(found);
        return code;
    }
    return broken;
}
void fake_cuda_enqueue(void* stream, std::function<void()> work)
{
    static_cast<Stream>(stream)->add([work = std::move(work)] {
        if (!broken) work();
    });
}
void* fake_cuda_pointer(const void* address) { return reinterpret_cast<void*>(reinterpret_cast<Address>(address) - tag); }

namespace {

/// Does it lie in the device's memory?
bool is_inside(Address address, std::size_t bytes)
{
    const std::lock_guard lock(world);
    auto next = blocks.upper_bound(address);
    return next != blocks.begin() && address + bytes <= std::prev(next)->first + std::prev(next)->second;
}

/// Where the piece of page-locked memory of the host begins that meets these bytes; 0: none does.
Address piece_around(Address address, std::size_t bytes)
{
    const std::lock_guard lock(world);
    const auto next = host_locked.lower_bound(address + bytes);
    if (next == host_locked.begin()) return 0;
    const auto& [begin, size] = *std::prev(next);
    return begin + size > address ? begin : 0;
}

/// 0 or what the call answers; most need a context.
int begin(const char* symbol, bool needs_context = true)
{
    const int code = fake_cuda_call(symbol);
    if (code || !needs_context || !stack.empty()) return code;
    ++wrong_calls;
    return 201;
}

} // namespace

#define BEGIN(symbol)                                                                                                            \
    if (const int code = begin(#symbol)) return code;
#define BEGIN_ANYWHERE(symbol)                                                                                                   \
    if (const int code = begin(#symbol, false)) return code;

extern "C" {

void fake_cuda_fail(const char* symbol, int number, int code)
{
    const std::lock_guard lock(world);
    failing[symbol] = {number, code};
}
void fake_cuda_fail_from(const char* symbol, int number, int code)
{
    const std::lock_guard lock(world);
    failing[symbol] = {number, code, true};
}
void fake_cuda_break(int code) { broken = code; }
void fake_cuda_mend()
{
    const std::lock_guard lock(world);
    failing.clear();
    broken = 0;
    others_have = 0;
    max_pitch = 0x7fffffff;
}
unsigned long fake_cuda_used()
{
    const std::lock_guard lock(world);
    return used;
}
void fake_cuda_max_pitch(unsigned long bytes) { max_pitch = bytes; }
void fake_cuda_others_have(unsigned long bytes) { others_have = bytes; }
unsigned long fake_cuda_last_synchronized() { return last_synchronized; }
int fake_cuda_contexts_on_stack() { return static_cast<int>(stack.size()); }
int fake_cuda_wrong_calls() { return wrong_calls; }

void fake_cuda_start_slowly(unsigned milliseconds) { start_ms = milliseconds; }

int cuInit(unsigned)
{
    std::this_thread::sleep_for(std::chrono::milliseconds(start_ms));
    return begin("cuInit", false);
}
int cuDriverGetVersion(int* version)
{
    BEGIN_ANYWHERE(cuDriverGetVersion)
    *version = 12040;
    return 0;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, DeviceNumber)
{
    BEGIN_ANYWHERE(cuDeviceTotalMem_v2)
    *bytes = memory_bytes;
    return 0;
}
int cuDeviceGetCount(int* count)
{
    BEGIN_ANYWHERE(cuDeviceGetCount)
    *count = devices;
    return 0;
}
int cuDeviceGet(DeviceNumber* device, int number)
{
    BEGIN_ANYWHERE(cuDeviceGet)
    *device = number;
    return 0;
}
int cuDeviceGetAttribute(int* value, DeviceAttribute, DeviceNumber)
{
    BEGIN_ANYWHERE(cuDeviceGetAttribute)
    *value = static_cast<int>(max_pitch);
    return 0;
}
int cuDeviceGetName(char* name, int size, DeviceNumber)
{
    BEGIN_ANYWHERE(cuDeviceGetName)
    std::strncpy(name, "a stand-in", std::size_t(size));
    return 0;
}
int cuDeviceCanAccessPeer(int* can, DeviceNumber, DeviceNumber)
{
    BEGIN_ANYWHERE(cuDeviceCanAccessPeer)
    *can = 1;
    return 0;
}
int cuDevicePrimaryCtxRetain(Context* context, DeviceNumber device)
{
    BEGIN_ANYWHERE(cuDevicePrimaryCtxRetain)
    static ContextOf contexts[devices]{{0}, {1}};
    *context = &contexts[device];
    return 0;
}
int cuDevicePrimaryCtxRelease_v2(DeviceNumber) { return begin("cuDevicePrimaryCtxRelease_v2", false); }
int cuCtxPushCurrent_v2(Context context)
{
    BEGIN_ANYWHERE(cuCtxPushCurrent_v2)
    stack.push_back(context);
    return 0;
}
int cuCtxPopCurrent_v2(Context* context)
{
    if (stack.empty()) return 201;
    *context = stack.back();
    stack.pop_back();
    return 0;
}
int cuCtxEnablePeerAccess(Context, unsigned) { return begin("cuCtxEnablePeerAccess"); }
int cuMemGetInfo_v2(std::size_t* free, std::size_t* all)
{
    BEGIN(cuMemGetInfo_v2)
    *all = memory_bytes;
    *free = memory_bytes - others_have;
    return 0;
}
int cuMemAlloc_v2(Address* address, std::size_t bytes)
{
    BEGIN(cuMemAlloc_v2)
    const std::lock_guard lock(world);
    if (bytes > devices * memory_bytes - used) return 2;
    void* const memory = std::malloc(bytes);
    std::memset(memory, 0xff, bytes); // no number
    *address = reinterpret_cast<Address>(memory) + tag;
    blocks[*address] = bytes;
    owners[*address] = stack.back()->device;
    used += bytes;
    return 0;
}
/// What it is and where: of nothing else does it know anything.
int cuPointerGetAttribute(void* value, PointerAttribute which, Address address)
{
    BEGIN(cuPointerGetAttribute)
    if (const auto piece = piece_around(address, 1)) {
        if (which == pointer_memory_type) *static_cast<unsigned*>(value) = memory_of_host;
        else if (which == pointer_buffer_id) *static_cast<unsigned long long*>(value) = piece;
        else return 1;
        return 0;
    }
    if (!is_inside(address, 1)) return 1;
    const std::lock_guard lock(world);
    const DeviceNumber owner = std::prev(owners.upper_bound(address))->second;
    if (which == pointer_memory_type) *static_cast<unsigned*>(value) = memory_of_device;
    else if (which == pointer_device_ordinal) *static_cast<int*>(value) = owner;
    else return 1;
    return 0;
}
int cuMemFree_v2(Address address)
{
    const int code = begin("cuMemFree_v2");
    const std::lock_guard lock(world);
    const auto found = blocks.find(address);
    if (found == blocks.end()) return 1;
    used -= found->second;
    blocks.erase(found);
    owners.erase(address);
    std::free(reinterpret_cast<void*>(address - tag));
    return code;
}
int cuMemHostAlloc(void** memory, std::size_t bytes, unsigned)
{
    BEGIN(cuMemHostAlloc)
    *memory = std::malloc(bytes);
    const std::lock_guard lock(world);
    host_locked[reinterpret_cast<Address>(*memory)] = bytes;
    return 0;
}
int cuMemFreeHost(void* memory)
{
    BEGIN(cuMemFreeHost)
    {
        const std::lock_guard lock(world);
        host_locked.erase(reinterpret_cast<Address>(memory));
    }
    std::free(memory);
    return 0;
}
int cuMemHostRegister_v2(void* memory, std::size_t bytes, unsigned)
{
    BEGIN(cuMemHostRegister_v2)
    if (piece_around(reinterpret_cast<Address>(memory), bytes)) return 712;
    const std::lock_guard lock(world);
    host_locked[reinterpret_cast<Address>(memory)] = bytes;
    return 0;
}
int cuMemHostUnregister(void* memory)
{
    BEGIN(cuMemHostUnregister)
    const std::lock_guard lock(world);
    return host_locked.erase(reinterpret_cast<Address>(memory)) ? 0 : 713;
}
int cuMemcpy2DAsync_v2(const Copy2D* copy, Stream stream)
{
    BEGIN(cuMemcpy2DAsync_v2)
    if (copy->bytes > copy->from_pitch || copy->bytes > copy->to_pitch) return 1;
    if (std::max(copy->from_pitch, copy->to_pitch) > max_pitch) return 1;
    fake_cuda_enqueue(stream, [x = *copy] {
        const auto find = [&](MemoryType type, const void* host, Address device, std::size_t pitch) -> char* {
            if (type == memory_of_host) return static_cast<char*>(const_cast<void*>(host));
            if (is_inside(device, (x.columns - 1) * pitch + x.bytes)) return reinterpret_cast<char*>(device - tag);
            broken = 700;
            return nullptr;
        };
        char* const from = find(x.from_type, x.from_host, x.from_device, x.from_pitch);
        char* const to = find(x.to_type, x.to_host, x.to_device, x.to_pitch);
        for (std::size_t j = 0; from && to && j < x.columns; ++j)
            std::memcpy(to + j * x.to_pitch, from + j * x.from_pitch, x.bytes);
    });
    return 0;
}
int cuStreamCreate(Stream* stream, unsigned)
{
    BEGIN(cuStreamCreate)
    *stream = new StreamOf;
    return 0;
}
int cuStreamDestroy_v2(Stream stream)
{
    delete stream;
    return 0;
}
int cuStreamSynchronize(Stream stream)
{
    BEGIN(cuStreamSynchronize)
    last_synchronized = reinterpret_cast<std::uintptr_t>(stream);
    if (last_synchronized <= 2) return broken; // the default ones, on which nobody does anything here
    Reached end;
    stream->add([&] { end.reach(); });
    end.wait();
    return broken;
}
int cuStreamWaitEvent(Stream stream, EventHandle event, unsigned)
{
    BEGIN(cuStreamWaitEvent)
    if (event->last) stream->add([last = event->last] { last->wait(); });
    return 0;
}
int cuStreamAddCallback(Stream stream, StreamCallback callback, void* data, unsigned)
{
    BEGIN(cuStreamAddCallback)
    stream->add([=] {
        in_callback = true;
        callback(stream, broken, data);
        in_callback = false;
    });
    return 0;
}
int cuEventCreate(EventHandle* event, unsigned)
{
    BEGIN(cuEventCreate)
    *event = new EventOf;
    return 0;
}
int cuEventDestroy_v2(EventHandle event)
{
    delete event;
    return 0;
}
int cuEventRecord(EventHandle event, Stream stream)
{
    BEGIN(cuEventRecord)
    event->last = std::make_shared<Reached>();
    stream->add([last = event->last] { last->reach(); });
    return 0;
}

} // extern "C"
