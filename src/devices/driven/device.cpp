#include "devices/driven/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace trencadis::devices {
namespace {

std::size_t span_of(std::size_t pitch, Extent extent) { return (extent.columns - 1) * pitch + extent.bytes; }

Status bad(std::string what) { return {Fault::bad_argument, std::move(what)}; }

/// Pitches that say nothing, of a single column, are made that column's.
std::size_t pitch_of(std::size_t pitch, Extent extent) { return extent.columns == 1 ? extent.bytes : pitch; }

Status check_host(const HostPlace& host, Extent extent)
{
    if (host.at && (extent.columns == 1 || host.pitch >= extent.bytes)) return {};
    return bad("the host's end of a copy is none");
}

} // namespace

DrivenDevice::DrivenDevice(std::string name, std::string model, std::unique_ptr<Driver> driver, std::size_t bytes,
                           bool lacks_double)
    : name_(std::move(name)), model_(std::move(model)), bytes_(bytes), lacks_double_(lacks_double), driver_(std::move(driver))
{
}

DrivenDevice::~DrivenDevice()
{
    if (lost()) driver_->give_up();
    for (const Queue queue : {Queue::in, Queue::kernels, Queue::out}) (void)DrivenDevice::wait(DrivenDevice::mark(queue, {}));
    for (const auto& [block, piece] : blocks_)
        if (piece.owned) (void)driver_->release(piece.memory);
    for (void* const memory : host_memory_) (void)driver_->release_host(memory);
}

Status DrivenDevice::lost_status() const { return {Fault::lost, name_ + " was lost"}; }

/// A loss is everybody's.
Status DrivenDevice::seen(Status status)
{
    if (status.fault == Fault::lost && !books_->lost.exchange(true, std::memory_order_acq_rel))
        for (Marks& marks : books_->marks) marks.arrive_all(status);
    return status;
}

// ---- memory

Status DrivenDevice::allocate(std::size_t bytes, Block& block)
{
    if (lost()) return lost_status();
    if (bytes == 0) return bad("a block of 0 bytes");
    if (bytes > bytes_ - used_)
        return {Fault::out_of_memory, fmt::format("{} bytes were asked for, {} of {} are free", bytes, bytes_ - used_, bytes_)};
    Memory memory = 0;
    if (Status status = seen(driver_->allocate(bytes, memory)); !status.ok()) return status;
    Block const fresh = blocks_.add(bytes, memory);
    if (!fresh) {
        (void)driver_->release(memory);
        return {Fault::out_of_memory, fmt::format("the process has no {} addresses left for a block of {}", bytes, name_)};
    }
    used_ += bytes;
    block = fresh;
    return {};
}

Status DrivenDevice::release(Block block)
{
    const auto piece = blocks_.take(block);
    if (!piece) return bad(fmt::format("{} is no block of {}", block, name_));
    used_ -= piece->bytes;
    return seen(driver_->release(piece->memory));
}

Status DrivenDevice::adopt(void* memory, std::size_t bytes, Block& block)
{
    if (lost()) return lost_status();
    if (bytes == 0) return bad("a block of 0 bytes");
    Memory named = 0;
    if (Status status = seen(driver_->adopt(memory, bytes, named)); !status.ok()) return status;
    if ((block = blocks_.add(bytes, named, false))) return {};
    return {Fault::out_of_memory, fmt::format("the process has no {} addresses left for a block of {}", bytes, name_)};
}

Status DrivenDevice::disown(Block block)
{
    return blocks_.take(block) ? Status{} : bad(fmt::format("{} is no block of {}", block, name_));
}

Device::Outside DrivenDevice::outside(const void* in_block) const
{
    const auto spot = blocks_.find(in_block, 0);
    return spot ? driver_->outside(*spot) : Outside{};
}

Status DrivenDevice::allocate_host(std::size_t bytes, void*& memory)
{
    if (lost()) return lost_status();
    if (bytes == 0) return bad("page-locked memory of 0 bytes");
    Status status = seen(driver_->allocate_host(bytes, memory));
    if (status.ok()) host_memory_.insert(memory);
    return status;
}

Status DrivenDevice::release_host(void* memory)
{
    if (host_memory_.erase(memory) == 0) return bad(fmt::format("no page-locked memory of {} begins at {}", name_, memory));
    if (lost()) driver_->give_up();
    return seen(driver_->release_host(memory));
}

Status DrivenDevice::lock_pages(void* memory, std::size_t bytes)
{
    if (lost()) return lost_status();
    if (Status status = locked_.lock(memory, bytes); !status.ok()) return status;
    Status status = seen(driver_->lock_pages(memory, bytes));
    if (!status.ok()) (void)locked_.unlock(memory);
    return status;
}

Status DrivenDevice::unlock_pages(void* memory)
{
    if (Status status = locked_.unlock(memory); !status.ok()) return status;
    return seen(driver_->unlock_pages(memory));
}

// ---- copies

Status DrivenDevice::inside(DevicePlace place, Extent extent, Rows& rows) const
{
    if (extent.columns == 0 || extent.bytes == 0) return bad("a copy of 0 bytes");
    if (extent.columns > 1 && place.pitch < extent.bytes)
        return bad(fmt::format("columns of {} bytes cannot lie {} bytes apart", extent.bytes, place.pitch));
    const auto spot = blocks_.find(place.block, span_of(place.pitch, extent));
    if (!spot)
        return bad(fmt::format("{} columns of {} bytes, {} apart, from {} on are in no block of {}", extent.columns, extent.bytes,
                               place.pitch, place.block, name_));
    rows = {*spot, pitch_of(place.pitch, extent)};
    return {};
}

Status DrivenDevice::copy_in(HostPlace from, DevicePlace to, Extent extent)
{
    Rows there{};
    if (Status status = inside(to, extent, there); !status.ok()) return status;
    if (Status status = check_host(from, extent); !status.ok()) return status;
    if (lost()) return lost_status();
    if (!fault(Queue::in).ok()) return {}; // left out
    return seen(driver_->copy_in({from.at, pitch_of(from.pitch, extent)}, there, extent));
}

Status DrivenDevice::copy_out(DevicePlace from, HostPlace to, Extent extent)
{
    Rows there{};
    if (Status status = inside(from, extent, there); !status.ok()) return status;
    if (Status status = check_host(to, extent); !status.ok()) return status;
    if (lost()) return lost_status();
    if (!fault(Queue::out).ok()) return {};
    return seen(driver_->copy_out(there, {to.at, pitch_of(to.pitch, extent)}, extent));
}

bool DrivenDevice::reaches(const Device& other) const
{
    const auto* const theirs = dynamic_cast<const DrivenDevice*>(&other);
    return theirs && theirs != this && driver_->reaches(*theirs->driver_);
}

Status DrivenDevice::copy_from(Device& other, DevicePlace from, DevicePlace to, Extent extent)
{
    if (&other != this && !reaches(other)) return bad(fmt::format("{} does not reach {}", name_, other.name()));
    auto& theirs = static_cast<DrivenDevice&>(other);
    Rows here{}, there{};
    if (Status status = inside(to, extent, here); !status.ok()) return status;
    if (Status status = theirs.inside(from, extent, there); !status.ok()) return status;
    if (lost()) return lost_status();
    if (theirs.lost()) return theirs.lost_status();
    if (!fault(Queue::in).ok()) return {};
    return seen(driver_->copy_from(*theirs.driver_, there, here, extent));
}

// ---- kernels

void DrivenDevice::enqueue(Flops, Body)
{
    note_asked();
    Status& status = fault(Queue::kernels);
    if (status.ok()) status = {Fault::kernel, name_ + " runs no functions of this process"};
}

bool DrivenDevice::computes_in(char precision) const
{
    if (lacks_double_ && (precision == 'd' || precision == 'z')) return false;
    return driver_->computes_in(precision);
}

Status DrivenDevice::spots_of(const Level3Call& call, Spots& at) const
{
    using Routine = Level3Call::Routine;
    const bool triangle = call.routine == Routine::syrk || call.routine == Routine::herk, solve = call.routine == Routine::trsm;
    std::size_t element = element_of(call.precision);
    const auto find = [&](const char* name, const void* matrix, Index rows, Index cols, Index ld, Spot& spot) -> Status {
        if (rows == 0 || cols == 0) return {};
        const Extent extent{std::size_t(rows) * element, std::size_t(cols)};
        const std::size_t pitch = std::size_t(ld) * element;
        const auto found = blocks_.find(matrix, span_of(pitch, extent));
        if (found && ld >= rows) spot = *found;
        else return {Fault::kernel, fmt::format("{}, {} x {} from {} on, is in no block of {}", name, rows, cols, matrix, name_)};
        return {};
    };
    const Index order = call.side == 'L' ? call.m : call.n, m = triangle ? call.n : call.m, k = solve ? order : call.k;
    const bool stands = call.op_a == 'N';
    const Index rows_a = solve ? order : m;
    if (call.routine == Routine::potrf) return find("C", call.C, call.n, call.n, call.ldc, at.C);
    if (call.routine == Routine::getrf || call.routine == Routine::laswp) {
        const Index count = call.routine == Routine::getrf ? std::min(call.m, call.n) : call.k;
        const Status found = find("C", call.C, call.m, call.n, call.ldc, at.C);
        element = sizeof(std::int32_t);
        return found.ok() ? find("B", call.B, count, 1, count, at.B) : found;
    }
    Status status = find("A", call.A, stands ? rows_a : k, stands ? k : rows_a, call.lda, at.A);
    if (status.ok() && call.routine == Routine::gemm)
        status = find("B", call.B, call.op_b == 'N' ? k : call.n, call.op_b == 'N' ? call.n : k, call.ldb, at.B);
    if (status.ok()) status = find("C", call.C, m, call.n, call.ldc, at.C);
    return status;
}

void DrivenDevice::enqueue(const Level3Call& call)
{
    Status& status = fault(Queue::kernels);
    if (!status.ok() || lost()) return;
    Spots at;
    status = spots_of(call, at);
    if (!status.ok()) return;
    if (!call.told) return begin(call, at, status);
    Answer& answer = answers_.emplace_back(std::make_shared<std::atomic<Index>>(-1), call.told);
    Level3Call asked = call;
    asked.told = [row = answer.row](Index its) { row->store(its, std::memory_order_relaxed); };
    begin(asked, at, status);
}

/// What a driver has no memory for and has not begun is tried once more with what can be given back.
void DrivenDevice::begin(const Level3Call& call, const Spots& at, Status& status)
{
    bool refused = false; // as if nobody had asked
    const auto compute = [&] {
        status = seen(driver_->compute(call, at));
        refused = status.fault == Fault::out_of_memory && !driver_->left_half_done();
    };
    compute();
    if (refused) {
        driver_->give_up_spare();
        if (relief_) (*relief_)();
        compute();
    }
    if (!refused) note_asked();
}

/// The driver answers before it says that the mark was reached, and that orders the two.
Completion DrivenDevice::behind_answers(Completion done)
{
    if (answers_.empty()) return done;
    return [answers = std::exchange(answers_, {}), done = std::move(done)](const Status& status) {
        for (const Answer& answer : answers) {
            const Index row = answer.row->load(std::memory_order_relaxed);
            if (status.ok() && row >= 0) answer.told(row);
        }
        if (done) done(status);
    };
}

// ---- events

/// A loss reaches all marks.
void DrivenDevice::arrive(Books& books, Queue queue, std::uint64_t number, const Status& status)
{
    if (status.fault == Fault::lost && !books.lost.exchange(true, std::memory_order_acq_rel))
        for (Marks& marks : books.marks) marks.arrive_all(status);
    books.marks[static_cast<std::size_t>(queue)].arrive(number, status);
}

/// Where the driver has no mark, what is in the queue is waited for: its copies must not come after the word that they have
/// ended, when their memory may be gone. A mark that found no memory says nothing of them.
Event DrivenDevice::mark(Queue queue, Completion done)
{
    if (queue == Queue::kernels) done = behind_answers(std::move(done));
    const std::uint64_t number = marks(queue).add(std::move(done), std::exchange(fault(queue), {}));
    const auto arrived = [books = books_, queue, number](const Status& status) { arrive(*books, queue, number, status); };
    Status status = lost() ? lost_status() : driver_->mark(queue, number, arrived);
    if (status.ok()) return {this, queue, number};
    if (status.fault != Fault::lost) {
        Status ended = driver_->finish(queue);
        if (!ended.ok() || status.fault == Fault::out_of_memory) status = std::move(ended);
    }
    arrived(status);
    return {this, queue, number};
}

bool DrivenDevice::owns(const Event& event) const
{
    return event.device == this && static_cast<int>(event.queue) < queues && marks(event.queue).knows(event.number);
}

Status DrivenDevice::hold(Queue queue, const Event& event)
{
    auto* const theirs = dynamic_cast<const DrivenDevice*>(event.device);
    if (!theirs || !theirs->owns(event)) return bad("an event that no device behind a driver has");
    if (theirs == this && event.queue == queue) return {};
    if (!fault(queue).ok() || lost()) return {};
    Marks& marks = theirs->marks(event.queue);
    Status& ours = fault(queue) = marks.foreseen(event.number);
    if (!ours.ok() || marks.reached(event.number)) return {};
    const bool directly = driver_->can_hold_for(*theirs->driver_);
    Completion open;
    ours = seen(directly ? driver_->hold(queue, *theirs->driver_, event.queue, event.number) : driver_->hold(queue, open));
    if (ours.fault == Fault::out_of_memory) return ours = marks.wait(event.number); // what is enqueued now is behind it as well
    if (ours.ok() && open) marks.when_reached(event.number, std::move(open));
    return ours;
}

bool DrivenDevice::reached(const Event& event) const { return owns(event) && marks(event.queue).reached(event.number); }

Status DrivenDevice::wait(const Event& event) const
{
    if (!owns(event)) return bad("an event that this device does not have");
    return marks(event.queue).wait(event.number);
}

} // namespace trencadis::devices
