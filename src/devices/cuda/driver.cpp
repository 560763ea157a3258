#include "devices/cuda/driver.hpp"

#include "base/error.hpp"
#include "base/lasting.hpp"
#include "devices/driven/as_guest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <complex>
#include <iterator>
#include <map>
#include <utility>

namespace trencadis::devices::cuda {
namespace {

Status status_of(Result code, Fault fault, const std::string& asked)
{
    if (code == success) return {};
    if (is_loss(code)) fault = Fault::lost;
    if (code == out_of_memory) fault = Fault::out_of_memory;
    return {fault, fmt::format("{} for {}", name_of(code), asked)};
}

std::uint64_t next_serial()
{
    static std::atomic<std::uint64_t> last{0};
    return ++last;
}

/// Of the host's memory, what all drivers of this process have locked: each unlocks it when it likes.
struct OurLocks {
    std::mutex mutex; ///< held while any of it comes or goes
    std::map<std::uintptr_t, std::size_t> all;

    bool meet(const void* memory, std::size_t bytes) const
    {
        const auto begin = reinterpret_cast<std::uintptr_t>(memory);
        const auto next = all.lower_bound(begin + bytes);
        return next != all.begin() && std::prev(next)->first + std::prev(next)->second > begin;
    }
};
OurLocks& our_locks()
{
    static constinit Lasting<OurLocks> locks;
    return locks.get([] { return new OurLocks; });
}

[[noreturn]] void fail(const std::string& name, const std::string& code, const char* what)
{
    throw Error(ErrorCode::environment, fmt::format("device '{}': {} for {}", name, code, what));
}

} // namespace

struct CudaDriver::Told {
    Completion arrived;
    Queue queue;
    std::uint64_t number;
    std::shared_ptr<Owed> owed;
    std::vector<Question> questions;
};

/// What their kernels have left in the host's memory is told, and can be used for another answer.
void CudaDriver::answer(Owed& owed, const std::vector<Question>& questions, bool is_answered)
{
    for (const Question& question : questions) {
        if (is_answered && question.told) question.told(*question.answer.here);
        const std::lock_guard lock(owed.mutex);
        owed.answers.push_back(question.answer); // has room for all
    }
}

/// On a thread of the driver's, where nothing of it may be called.
void CudaDriver::tell(Stream, Result code, void* data)
{
    const std::unique_ptr<Told> told(static_cast<Told*>(data));
    const std::shared_ptr<Owed> owed = told->owed;
    answer(*owed, told->questions, code == success);
    owed->arrived[static_cast<std::size_t>(told->queue)].store(told->number, std::memory_order_release);
    told->arrived(status_of(code, told->queue == Queue::kernels ? Fault::kernel : Fault::copy, "what was enqueued"));
    const std::lock_guard lock(owed->mutex);
    if (--owed->count == 0) owed->none.notify_all();
}

CudaDriver::CudaDriver(const Api& api, DeviceNumber device, std::string name)
    : api_(api), device_(device), name_(std::move(name)), serial_(next_serial())
{
    const AsGuest guest;
    if (const Result code = api_.cuDevicePrimaryCtxRetain(&context_, device_); code != success)
        fail(name_, name_of(code), "its context");
    const Current current(*this);
    std::size_t free = 0, all = 0;
    Result code = current.code();
    for (Line& line : lines_)
        for (Stream* const stream : {&line.stream, &line.teller})
            if (code == success) code = api_.cuStreamCreate(stream, stream_non_blocking);
    BlasStatus blas = code == success ? api_.cublasCreate_v2(&blas_) : 0;
    if (code == success && blas == 0) blas = api_.cublasSetStream_v2(blas_, line(Queue::kernels).stream);
    if (code == success && blas == 0) code = api_.cuMemGetInfo_v2(&free, &all);
    int pitch = 0;
    if (code == success && api_.cuDeviceGetAttribute(&pitch, attribute_max_pitch, device_) == success && pitch > 0)
        max_pitch_ = std::size_t(pitch);
    bytes_ = free - std::min(free / 2, all / 16); // others use it, too, and cuBLAS needs some
    if (code == success && blas == 0) {
        start_solver();
        return;
    }
    if (blas_) api_.cublasDestroy_v2(blas_);
    for (Line& line : lines_)
        for (Stream const stream : {line.stream, line.teller})
            if (stream) api_.cuStreamDestroy_v2(stream);
    api_.cuDevicePrimaryCtxRelease_v2(device_);
    fail(name_, code != success ? name_of(code) : name_of_blas(blas), "its streams and cuBLAS");
}

/// In the device's context, when nothing of it is under way.
void CudaDriver::end()
{
    end_solver();
    api_.cublasDestroy_v2(blas_);
    for (Line& line : lines_) {
        for (const Marked& marked : line.marked) api_.cuEventDestroy_v2(marked.event);
        for (Stream const stream : {line.stream, line.teller}) api_.cuStreamDestroy_v2(stream);
    }
    for (EventHandle const event : spare_) api_.cuEventDestroy_v2(event);
}

/// A device that is lost may owe callbacks for ever; they find what they need all the same.
CudaDriver::~CudaDriver()
{
    {
        const Current current(*this);
        bool lost = current.failed();
        for (Line& line : lines_)
            for (Stream const stream : {line.stream, line.teller})
                if (!current.failed()) lost |= api_.cuStreamSynchronize(stream) != success;
        std::unique_lock lock(owed_->mutex);
        const auto told = [this] { return owed_->count == 0; };
        if (lost) owed_->none.wait_for(lock, std::chrono::seconds(1), told);
        else owed_->none.wait(lock, told);
        lock.unlock();
        if (!current.failed()) end(); // else all that was in the context is gone with it
    }
    api_.cuDevicePrimaryCtxRelease_v2(device_);
}

// ---- memory

Status CudaDriver::allocate(std::size_t bytes, Memory& memory)
{
    const Current current(*this);
    if (current.failed()) return current.loss();
    Address address = 0;
    const Result code = api_.cuMemAlloc_v2(&address, bytes);
    memory = Memory(address);
    return status_of(code, Fault::out_of_memory, fmt::format("{} bytes of the device's memory", bytes));
}

Status CudaDriver::release(Memory memory)
{
    const Current current(*this);
    if (current.failed()) return current.loss();
    return status_of(api_.cuMemFree_v2(memory), Fault::bad_argument, "giving memory back");
}

/// Its first and its last byte are asked for: memory of the host, or of another GPU, is not taken for this one's.
Status CudaDriver::adopt(void* memory, std::size_t bytes, Memory& named)
{
    const Current current(*this);
    if (current.failed()) return current.loss();
    named = reinterpret_cast<Memory>(memory);
    for (const Address place : {Address(named), Address(named + bytes - 1)}) {
        unsigned type = 0;
        int ordinal = -1;
        Result code = api_.cuPointerGetAttribute(&type, pointer_memory_type, place);
        if (code == success) code = api_.cuPointerGetAttribute(&ordinal, pointer_device_ordinal, place);
        if (code != success || type != memory_of_device || ordinal != device_)
            return {Fault::bad_argument, fmt::format("{} bytes from {} on are no memory of {}", bytes, memory, name_)};
    }
    return {};
}

/// In the primary context 1 and 2 are the default streams, and whatever else is a stream of CUDA's runtime or driver.
Status CudaDriver::synchronize(std::uintptr_t stream)
{
    const Current current(*this);
    if (current.failed()) return current.loss();
    return status_of(api_.cuStreamSynchronize(reinterpret_cast<Stream>(stream)), // NOLINT(performance-no-int-to-ptr)
                     Fault::kernel, fmt::format("stream {}", stream));
}

Status CudaDriver::allocate_host(std::size_t bytes, void*& memory)
{
    const Current current(*this);
    if (current.failed()) return current.loss();
    return status_of(api_.cuMemHostAlloc(&memory, bytes, host_portable), Fault::out_of_memory,
                     fmt::format("{} bytes of page-locked memory", bytes));
}

Status CudaDriver::release_host(void* memory)
{
    const Current current(*this);
    if (current.failed()) return current.loss();
    return status_of(api_.cuMemFreeHost(memory), Fault::bad_argument, "giving page-locked memory back");
}

/// By the program, as one piece: a copy out of two of them is refused. The driver knows no other memory of the host's.
bool CudaDriver::is_one_locked_piece(const void* memory, std::size_t bytes) const
{
    const Address begin = reinterpret_cast<Address>(memory);
    unsigned long long piece[] = {0, 0};
    for (const int end : {0, 1}) {
        const Address place = end ? begin + bytes - 1 : begin;
        unsigned type = 0;
        Result code = api_.cuPointerGetAttribute(&type, pointer_memory_type, place);
        if (code == success) code = api_.cuPointerGetAttribute(&piece[end], pointer_buffer_id, place);
        if (code != success || type != memory_of_host) return false;
    }
    return piece[0] == piece[1];
}

/// What the program has locked stays so while it waits for a call, and is not unlocked here.
Status CudaDriver::lock_pages(void* memory, std::size_t bytes)
{
    const Current current(*this);
    if (current.failed()) return current.loss();
    OurLocks& ours = our_locks();
    const std::lock_guard lock(ours.mutex);
    const Result code = api_.cuMemHostRegister_v2(memory, bytes, host_portable);
    if (code == success) ours.all[reinterpret_cast<std::uintptr_t>(memory)] = bytes;
    if (code == registered_already && !ours.meet(memory, bytes) && is_one_locked_piece(memory, bytes)) {
        foreign_.insert(memory);
        return {};
    }
    return status_of(code, Fault::out_of_memory, fmt::format("page-locking {} bytes", bytes));
}

Status CudaDriver::unlock_pages(void* memory)
{
    const Current current(*this);
    OurLocks& ours = our_locks();
    const std::lock_guard lock(ours.mutex);
    if (foreign_.erase(memory)) return {};
    ours.all.erase(reinterpret_cast<std::uintptr_t>(memory));
    if (current.failed()) return current.loss();
    return status_of(api_.cuMemHostUnregister(memory), Fault::bad_argument, "unlocking pages");
}

// ---- copies

/// A driver takes no columns that are further apart than it says: of such ones each goes by itself, in pieces.
Result CudaDriver::enqueue(Copy2D copy, Stream stream) const
{
    if (std::max(copy.from_pitch, copy.to_pitch) <= max_pitch_) return api_.cuMemcpy2DAsync_v2(&copy, stream);
    for (std::size_t column = 0; column < copy.columns; ++column)
        for (std::size_t done = 0; done < copy.bytes;) {
            Copy2D piece = copy;
            piece.columns = 1;
            piece.from_pitch = piece.to_pitch = piece.bytes = std::min(copy.bytes - done, max_pitch_);
            const std::size_t from = column * copy.from_pitch + done, to = column * copy.to_pitch + done;
            if (copy.from_type == memory_of_host) piece.from_host = static_cast<const char*>(copy.from_host) + from;
            else piece.from_device += from;
            if (copy.to_type == memory_of_host) piece.to_host = static_cast<char*>(copy.to_host) + to;
            else piece.to_device += to;
            if (const Result code = api_.cuMemcpy2DAsync_v2(&piece, stream); code != success) return code;
            done += piece.bytes;
        }
    return success;
}

Status CudaDriver::copy(Queue queue, Copy2D copy, Extent extent, const char* where)
{
    const Current current(*this);
    if (current.failed()) return current.loss();
    copy.bytes = extent.bytes;
    copy.columns = extent.columns;
    return status_of(enqueue(copy, line(queue).stream), Fault::copy,
                     fmt::format("a copy of {} columns of {} bytes {} the device", extent.columns, extent.bytes, where));
}

Status CudaDriver::copy_in(HostPlace from, Rows to, Extent extent)
{
    Copy2D its;
    its.from_host = from.at, its.from_pitch = from.pitch;
    its.to_type = memory_of_device, its.to_device = to.spot.memory + to.spot.offset, its.to_pitch = to.pitch;
    return copy(Queue::in, its, extent, "to");
}

Status CudaDriver::copy_out(Rows from, HostPlace to, Extent extent)
{
    Copy2D its;
    its.from_type = memory_of_device, its.from_device = from.spot.memory + from.spot.offset, its.from_pitch = from.pitch;
    its.to_host = to.at, its.to_pitch = to.pitch;
    return copy(Queue::out, its, extent, "from");
}

bool CudaDriver::reaches(const Driver& other) const
{
    const auto* const theirs = dynamic_cast<const CudaDriver*>(&other);
    int can = 0;
    return theirs &&
           (theirs->device_ == device_ || (api_.cuDeviceCanAccessPeer(&can, device_, theirs->device_) == success && can != 0));
}

Status CudaDriver::copy_from(Driver& other, Rows from, Rows to, Extent extent)
{
    const auto& theirs = static_cast<const CudaDriver&>(other);
    if (theirs.device_ != device_ && !peers_.contains(theirs.serial_)) {
        const Current current(*this);
        if (current.failed()) return current.loss();
        const Result code = api_.cuCtxEnablePeerAccess(theirs.context_, 0);
        if (code != success && code != peer_access_enabled_already)
            return status_of(code, Fault::copy, "access to " + theirs.name_);
        peers_.insert(theirs.serial_);
    }
    Copy2D its;
    its.from_type = its.to_type = memory_of_device;
    its.from_device = from.spot.memory + from.spot.offset, its.from_pitch = from.pitch;
    its.to_device = to.spot.memory + to.spot.offset, its.to_pitch = to.pitch;
    return copy(Queue::in, its, extent, "to");
}

// ---- events

/// One that has been reached is used again.
EventHandle CudaDriver::event_for(Queue queue, Line& its, Result& code)
{
    const std::uint64_t arrived = owed_->arrived[static_cast<std::size_t>(queue)].load(std::memory_order_acquire);
    const std::lock_guard lock(its.mutex);
    while (!its.marked.empty() && its.marked.front().number <= arrived) {
        spare_.push_back(its.marked.front().event);
        its.marked.pop_front();
    }
    EventHandle event = nullptr;
    if (spare_.empty()) code = api_.cuEventCreate(&event, event_without_timing);
    else event = spare_.back(), spare_.pop_back();
    return event;
}

Status CudaDriver::finish(Queue queue)
{
    const Current current(*this);
    if (current.failed()) return current.loss();
    const Result code = api_.cuStreamSynchronize(line(queue).stream);
    if (queue == Queue::kernels) answer(*owed_, std::exchange(unmarked_, {}), code == success);
    return status_of(code, queue == Queue::kernels ? Fault::kernel : Fault::copy, "what was enqueued");
}

Status CudaDriver::mark(Queue queue, std::uint64_t number, Completion arrived)
{
    const Current current(*this);
    Line& its = line(queue);
    if (current.failed()) return current.loss();
    Result code = success;
    std::vector<Question> questions = queue == Queue::kernels ? std::exchange(questions_, {}) : std::vector<Question>();
    const auto unmarked = [&](const char* what) {
        unmarked_ = std::move(questions);
        return status_of(code, Fault::kernel, what);
    };
    EventHandle const event = event_for(queue, its, code);
    if (code == success) code = api_.cuEventRecord(event, its.stream);
    if (code == success) code = api_.cuStreamWaitEvent(its.teller, event, 0);
    if (event) {
        const std::lock_guard lock(its.mutex);
        its.marked.push_back({number, event});
    }
    if (code != success) return unmarked("an event");
    auto told = std::make_unique<Told>(Told{std::move(arrived), queue, number, owed_, std::move(questions)});
    {
        const std::lock_guard lock(owed_->mutex);
        ++owed_->count;
    }
    code = api_.cuStreamAddCallback(its.teller, tell, told.get(), 0);
    if (code == success) {
        (void)told.release(); // the callback's
        return {};
    }
    questions = std::move(told->questions);
    const std::lock_guard lock(owed_->mutex);
    --owed_->count;
    return unmarked("a callback");
}

Status CudaDriver::hold(Queue queue, Driver& other, Queue theirs, std::uint64_t number)
{
    Line& marks = static_cast<CudaDriver&>(other).line(theirs);
    const std::lock_guard lock(marks.mutex);
    const auto found = std::ranges::find(marks.marked, number, &Marked::number);
    if (found == marks.marked.end()) return {}; // it has been reached
    const Current current(*this);
    if (current.failed()) return current.loss();
    return status_of(api_.cuStreamWaitEvent(line(queue).stream, found->event, 0), Fault::kernel, "a hold");
}

Status CudaDriver::hold(Queue, Completion&)
{
    return {Fault::bad_argument, name_ + " holds for events of other CUDA devices only"};
}

} // namespace trencadis::devices::cuda
