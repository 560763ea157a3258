// LU of block columns by cuSOLVER: panels with partial pivoting, and row interchanges.
#include "devices/cuda/driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace trencadis::devices::cuda {
namespace {

void* pointer_to(const Spot& spot)
{
    return reinterpret_cast<void*>(spot.memory + spot.offset);
} // NOLINT(performance-no-int-to-ptr)

constexpr SolverStatus no_room = 2;

Status failure(const std::string& code, bool no_memory, const std::string& asked)
{
    return {no_memory ? Fault::out_of_memory : Fault::kernel, fmt::format("{} for {}", code, asked)};
}
Status failure(Result code, const std::string& asked)
{
    if (is_loss(code)) return {Fault::lost, name_of(code)};
    return failure(name_of(code), code == out_of_memory, asked);
}

} // namespace

/// cuSOLVER's memory for panels. Each that is under way has a room of its own, which goes back when its answer has been told or
/// is not to be told any more; that may be on a thread of the driver's.
struct CudaDriver::Rooms {
    struct Room {
        Address at;
        std::size_t bytes;
        bool taken;
    };
    /// Those that nobody uses; they are not counted any more.
    std::vector<Address> take_spare()
    {
        const std::lock_guard lock(mutex);
        std::vector<Address> spare;
        std::erase_if(all, [&](const Room& one) {
            if (!one.taken) spare.push_back(one.at);
            return !one.taken;
        });
        return spare;
    }
    std::mutex mutex;
    std::vector<Room> all; ///< under it
};

/// The lock is not held while memory is given back, for which the driver may wait for its own threads.
void CudaDriver::give_up_spare_rooms()
{
    if (!rooms_) return;
    for (const Address spare : rooms_->take_spare()) api_.cuMemFree_v2(spare);
}

/// One that is large enough, or another one in place of those that nobody uses: `held` keeps it.
Result CudaDriver::lu_room_for(std::size_t bytes, Address& room, std::shared_ptr<const void>& held)
{
    if (!rooms_) rooms_ = std::make_shared<Rooms>();
    const auto take = [&] {
        const std::lock_guard lock(rooms_->mutex);
        const auto found =
            std::ranges::find_if(rooms_->all, [bytes](const Rooms::Room& one) { return !one.taken && one.bytes >= bytes; });
        if (found == rooms_->all.end()) return false;
        found->taken = true;
        room = found->at;
        return true;
    };
    if (!take()) {
        give_up_spare_rooms();
        if (const Result code = api_.cuMemAlloc_v2(&room, bytes); code != success) return code;
        const std::lock_guard lock(rooms_->mutex);
        rooms_->all.push_back({room, bytes, true});
    }
    held = std::shared_ptr<const void>(nullptr, [rooms = rooms_, room](const void*) {
        const std::lock_guard lock(rooms->mutex);
        std::ranges::find(rooms->all, room, &Rooms::Room::at)->taken = false;
    });
    return success;
}

/// Nothing runs any more.
void CudaDriver::end_lu()
{
    if (!rooms_) return;
    const std::lock_guard lock(rooms_->mutex);
    for (const Rooms::Room& room : rooms_->all) api_.cuMemFree_v2(room.at);
}

/// The answer comes behind the factorization, and is told at the mark behind both.
Status CudaDriver::factor_lu(const Level3Call& call, const Spots& place)
{
    const std::string asked = fmt::format("a factorization of {} x {}", call.m, call.n);
    const SolverRoutines& routines = api_.solver(call.precision);
    const int m = static_cast<int>(call.m), n = static_cast<int>(call.n), lda = static_cast<int>(call.ldc);
    void* const A = pointer_to(place.C);
    int elements = 0;
    SolverStatus status = routines.getrf_room(solver_, m, n, A, lda, &elements);
    if (status != 0) return failure(name_of_solver(status), status == no_room, asked);
    questions_.reserve(questions_.size() + 1);
    Question question;
    Address room = 0;
    std::shared_ptr<const void> held;
    Result code = lu_room_for(std::size_t(std::max(elements, 1)) * element_of(call.precision), room, held);
    if (code == success) code = answer_for(question);
    if (code != success) return failure(code, asked);
    const Answer answer = question.answer;
    question.told = [told = call.told, held](Index row) { told(row); };
    questions_.push_back(std::move(question)); // from now on it comes back at the mark, also where it is none
    *answer.here = 0;
    status = routines.getrf(solver_, m, n, A, lda, reinterpret_cast<void*>(room), // NOLINT(performance-no-int-to-ptr)
                            static_cast<int*>(pointer_to(place.B)), reinterpret_cast<int*>(answer.there)); // NOLINT
    if (status == 0 && (code = bring(answer)) == success) return {};
    questions_.back().told = [held](Index) {}; // part of it may be in the stream
    if (status != 0) return failure(name_of_solver(status), status == no_room, asked);
    return is_loss(code) ? Status{Fault::lost, name_of(code)} : failure(name_of(code), false, asked); // it has begun
}

Status CudaDriver::exchange(const Level3Call& call, const Spots& place)
{
    const SolverStatus status = api_.solver(call.precision)
                                    .laswp(solver_, static_cast<int>(call.n), pointer_to(place.C), static_cast<int>(call.ldc), 1,
                                           static_cast<int>(call.k), static_cast<const int*>(pointer_to(place.B)), 1);
    if (status == 0) return {};
    return failure(name_of_solver(status), status == no_room, fmt::format("{} interchanges of {} columns", call.k, call.n));
}

} // namespace trencadis::devices::cuda
