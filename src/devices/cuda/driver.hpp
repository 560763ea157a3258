#pragma once
#include "devices/cuda/api.hpp"
#include "devices/driven/driver.hpp"

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

namespace trencadis::devices::cuda {

/// One of NVIDIA's GPUs, in its primary context, by three streams and cuBLAS. The context that the calling thread had is current
/// again after each call.
class CudaDriver final : public Driver {
public:
    /// Throws Error{environment}.
    CudaDriver(const Api& api, DeviceNumber device, std::string name);
    ~CudaDriver() override;

    std::size_t bytes() const override { return bytes_; }
    bool computes_in(char) const override { return true; }
    bool factors() const override { return solver_ != nullptr; }
    bool factors_lu() const override { return solver_ != nullptr && api_.has_lu; }

    Status allocate(std::size_t bytes, Memory& memory) override;
    Status release(Memory memory) override;
    Status adopt(void* memory, std::size_t bytes, Memory& named) override;
    Device::Outside outside(const Spot& spot) const override
    {
        return {reinterpret_cast<void*>(spot.memory + spot.offset)}; // NOLINT(performance-no-int-to-ptr)
    }
    Status synchronize(std::uintptr_t stream) override;
    Status allocate_host(std::size_t bytes, void*& memory) override;
    Status release_host(void* memory) override;
    Status lock_pages(void* memory, std::size_t bytes) override;
    Status unlock_pages(void* memory) override;
    const void* locks_for() const override { return &api_; } // it is portable

    Status copy_in(HostPlace from, Rows to, Extent extent) override;
    Status copy_out(Rows from, HostPlace to, Extent extent) override;
    bool reaches(const Driver& other) const override;
    Status copy_from(Driver& other, Rows from, Rows to, Extent extent) override;
    Status compute(const Level3Call& call, const Spots& at) override;
    void give_up_spare() override;

    Status finish(Queue queue) override;
    Status mark(Queue queue, std::uint64_t number, Completion arrived) override;
    bool can_hold_for(const Driver& other) const override { return dynamic_cast<const CudaDriver*>(&other) != nullptr; }
    Status hold(Queue queue, Driver& other, Queue theirs, std::uint64_t number) override;
    Status hold(Queue queue, Completion& open) override;

private:
    /// Where a factorization leaves its answer, and where it goes from there: page-locked memory of the host.
    struct Answer {
        Address there = 0;
        int* here = nullptr;
    };
    /// Callbacks that the driver still owes us, how far each queue is, and answers that nobody uses.
    struct Owed {
        std::mutex mutex;
        std::condition_variable none;
        int count = 0;
        std::array<std::atomic<std::uint64_t>, queues> arrived{};
        std::vector<Answer> answers; ///< under the mutex
    };
    struct Question { ///< whom an answer is told, at the next mark
        Answer answer;
        std::function<void(Index)> told;
    };
    struct Told;
    static void answer(Owed& owed, const std::vector<Question>& questions, bool is_answered);
    static void tell(Stream stream, Result code, void* told);

    struct Marked {
        std::uint64_t number;
        EventHandle event;
    };
    struct Line {
        Stream stream = nullptr;
        Stream teller = nullptr;   ///< callbacks are its: in `stream` the next kernel would wait until the host has answered
        std::mutex mutex;          ///< another device's thread may hold for what is marked
        std::deque<Marked> marked; ///< in their order
    };
    class Current;
    Line& line(Queue queue) { return lines_[static_cast<std::size_t>(queue)]; }
    bool is_one_locked_piece(const void* memory, std::size_t bytes) const;
    Status copy(Queue queue, Copy2D copy, Extent extent, const char* where);
    Result enqueue(Copy2D copy, Stream stream) const;
    void end();
    EventHandle event_for(Queue queue, Line& its, Result& code);
    void start_solver();
    void end_solver();
    Status factor(const Level3Call& call, const Spot& spot);
    Result room_for(std::size_t bytes);
    Result give_up_room();
    Result answer_for(Question& question);
    Result bring(const Answer& answer);
    struct Rooms;
    Status factor_lu(const Level3Call& call, const Spots& at);
    Status exchange(const Level3Call& call, const Spots& at);
    Result lu_room_for(std::size_t bytes, Address& room, std::shared_ptr<const void>& held);
    void give_up_spare_rooms();
    void end_lu();

    const Api& api_;
    const DeviceNumber device_;
    const std::string name_;
    Context context_ = nullptr;
    std::size_t bytes_ = 0;
    std::size_t max_pitch_ = 0x7fffffff; ///< between columns of one copy; that of all GPUs so far, where it is not told
    std::array<Line, queues> lines_;
    std::vector<EventHandle> spare_; ///< events that nothing waits for any more
    const std::uint64_t serial_;     ///< no other driver has it, also when this one is gone
    std::set<void*> foreign_;        ///< memory that counts as locked here, and is unlocked by others; under OurLocks' mutex
    std::set<std::uint64_t> peers_;  ///< serials of those whose memory this one may touch
    Blas blas_ = nullptr;
    Solver solver_ = nullptr; ///< none: cores factor
    Address room_ = 0;        ///< cuSOLVER's own
    std::size_t room_bytes_ = 0;
    std::shared_ptr<Rooms> rooms_;    ///< cuSOLVER's for LU, from its first use on
    std::vector<Answer> answers_;     ///< all that there are
    std::vector<Question> questions_; ///< since the last mark behind kernels
    std::vector<Question> unmarked_;  ///< those before a mark that was not to be had
    std::shared_ptr<Owed> owed_ = std::make_shared<Owed>();
};

/// The device's context is the thread's while this lives; then that is what it was.
class CudaDriver::Current {
public:
    explicit Current(const CudaDriver& driver) : api_(driver.api_), code_(api_.cuCtxPushCurrent_v2(driver.context_)) {}
    ~Current()
    {
        Context ours = nullptr;
        if (code_ == success) api_.cuCtxPopCurrent_v2(&ours);
    }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;
    Result code() const { return code_; }
    /// Nothing may be called where there is no context, nor in another one: the program has reset the device.
    bool failed() const { return code_ != success; }
    Status loss() const { return {Fault::lost, name_of(code_) + " for its context"}; }

private:
    const Api& api_;
    const Result code_;
};

} // namespace trencadis::devices::cuda
