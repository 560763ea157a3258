// Cholesky's factorization of a tile by cuSOLVER.
#include "devices/cuda/driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <utility>

namespace trencadis::devices::cuda {

/// In the device's context. Where it does not start, cores factor.
void CudaDriver::start_solver()
{
    if (!api_.has_solver || api_.cusolverDnCreate(&solver_) != 0) solver_ = nullptr;
    if (solver_ && api_.cusolverDnSetStream(solver_, line(Queue::kernels).stream) != 0) {
        api_.cusolverDnDestroy(solver_);
        solver_ = nullptr;
    }
}

void CudaDriver::end_solver()
{
    if (solver_) api_.cusolverDnDestroy(solver_);
    if (room_) api_.cuMemFree_v2(room_);
    end_lu();
    for (const Answer& answer : answers_) {
        api_.cuMemFree_v2(answer.there);
        api_.cuMemFreeHost(answer.here);
    }
}

/// What is in the queue uses it.
Result CudaDriver::give_up_room()
{
    if (!room_) return success;
    if (const Result code = api_.cuStreamSynchronize(line(Queue::kernels).stream); code != success) return code;
    api_.cuMemFree_v2(room_);
    room_ = 0, room_bytes_ = 0;
    return success;
}

void CudaDriver::give_up_spare()
{
    const Current current(*this);
    if (current.failed()) return;
    (void)give_up_room(); // what is wrong is said by what comes next
    give_up_spare_rooms();
}

Result CudaDriver::room_for(std::size_t bytes)
{
    if (bytes <= room_bytes_) return success;
    if (const Result code = give_up_room(); code != success) return code;
    const Result code = api_.cuMemAlloc_v2(&room_, bytes);
    if (code == success) room_bytes_ = bytes;
    return code;
}

/// One that nobody uses, or another one.
Result CudaDriver::answer_for(Question& question)
{
    {
        const std::lock_guard lock(owed_->mutex);
        owed_->answers.reserve(answers_.size() + 1); // so that giving one back needs no memory
        if (!owed_->answers.empty()) {
            question.answer = owed_->answers.back();
            owed_->answers.pop_back();
            return success;
        }
    }
    answers_.reserve(answers_.size() + 1);
    void* here = nullptr;
    if (const Result code = api_.cuMemAlloc_v2(&question.answer.there, sizeof(int)); code != success) return code;
    if (const Result code = api_.cuMemHostAlloc(&here, sizeof(int), host_portable); code != success) {
        api_.cuMemFree_v2(question.answer.there);
        return code;
    }
    question.answer.here = static_cast<int*>(here);
    answers_.push_back(question.answer);
    return success;
}

/// Behind what leaves it. That is in the queue and has no second try on what it finds there: where the copy finds no memory, it
/// alone is tried once more, when nothing else is under way.
Result CudaDriver::bring(const Answer& answer)
{
    const Stream stream = line(Queue::kernels).stream;
    Copy2D back;
    back.from_type = memory_of_device, back.from_device = answer.there, back.from_pitch = sizeof(int);
    back.to_host = answer.here, back.to_pitch = sizeof(int);
    back.bytes = sizeof(int), back.columns = 1;
    const Result code = api_.cuMemcpy2DAsync_v2(&back, stream);
    if (code != out_of_memory) return code;
    if (const Result ended = api_.cuStreamSynchronize(stream); ended != success) return ended;
    return api_.cuMemcpy2DAsync_v2(&back, stream);
}

/// The answer comes behind the factorization, and is told at the mark behind both.
Status CudaDriver::factor(const Level3Call& call, const Spot& spot)
{
    const std::string asked = fmt::format("a factorization of {} x {}", call.n, call.n);
    const auto failed = [&](const std::string& code, bool no_memory) {
        return Status{no_memory ? Fault::out_of_memory : Fault::kernel, fmt::format("{} for {}", code, asked)};
    };
    constexpr SolverStatus alloc_failed = 2;
    const SolverRoutines& routines = api_.solver(call.precision);
    const BlasFill triangle = call.uplo == 'L' ? fill_lower : fill_upper;
    const int n = static_cast<int>(call.n), lda = static_cast<int>(call.ldc);
    void* const A = reinterpret_cast<void*>(spot.memory + spot.offset); // NOLINT(performance-no-int-to-ptr)
    Question question{{}, call.told};
    questions_.reserve(questions_.size() + 1);
    int elements = 0;
    SolverStatus status = routines.potrf_room(solver_, triangle, n, A, lda, &elements);
    if (status != 0) return failed(name_of_solver(status), status == alloc_failed);
    Result code = room_for(std::size_t(std::max(elements, 1)) * element_of(call.precision));
    if (code == success) code = answer_for(question);
    if (code != success) return is_loss(code) ? Status{Fault::lost, name_of(code)} : failed(name_of(code), code == out_of_memory);
    const Answer answer = question.answer;
    questions_.push_back(std::move(question)); // from now on it comes back at the mark, also where it is none
    *answer.here = 0;
    status = routines.potrf(solver_, triangle, n, A, lda, reinterpret_cast<void*>(room_), elements, // NOLINT
                            reinterpret_cast<int*>(answer.there));                                  // NOLINT
    if (status != 0) {
        questions_.back().told = nullptr;
        return failed(name_of_solver(status), status == alloc_failed);
    }
    code = bring(answer);
    if (code == success) return {};
    questions_.back().told = nullptr;
    return is_loss(code) ? Status{Fault::lost, name_of(code)} : failed(name_of(code), false);
}

} // namespace trencadis::devices::cuda
