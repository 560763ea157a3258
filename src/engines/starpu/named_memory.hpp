#pragma once
#include "engines/own/unfinished.hpp"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <new>
#include <vector>

namespace trencadis {

/// Memory of a process for data that are names: values that other processes sent, images, work memory. It is used again rather
/// than given back, since pages that the system hands out anew cost as much as what they carry.
///
/// Whoever submits waits when there is too much of it, as long as waiting helps: while tasks are left that read values which are
/// needed no further. It does not stop two processes for each other: they submit the same flow, and the tasks of the one that is
/// furthest behind depend on nothing that is not submitted yet.
class NamedMemory {
public:
    static constexpr std::size_t most_waiting = 64'000'000; ///< bytes, where some of them can go
    static constexpr std::size_t most_unused = 64'000'000;  ///< bytes that are kept

    NamedMemory() = default;
    NamedMemory(const NamedMemory&) = delete;
    NamedMemory& operator=(const NamedMemory&) = delete;
    ~NamedMemory()
    {
        for (const auto& [bytes, blocks] : unused_)
            for (void* block : blocks) ::operator delete(block, alignment);
    }

    /// One value; it has its bytes until nobody holds it.
    class Value {
    public:
        /// May throw bad_alloc.
        Value(NamedMemory& all, std::size_t bytes) : all_(all), bytes_((bytes + 63) / 64 * 64), data_(all.take(bytes_)) {}
        ~Value() { all_.give_back(data_, bytes_, dropped_); }
        Value(const Value&) = delete;
        Value& operator=(const Value&) = delete;

        void* data() const { return data_; }
        /// No task that is submitted from now on uses it. Once, by the submitter.
        void drop()
        {
            dropped_ = true;
            all_.drop(bytes_);
        }

    private:
        NamedMemory& all_;
        const std::size_t bytes_;
        void* const data_;
        bool dropped_ = false;
    };

    /// For one more of so many bytes; meanwhile `stop()` is called whenever the caller wishes to stop.
    template <class Stop> void await_room(std::size_t bytes, Interruption& interruption, Stop&& stop)
    {
        std::unique_lock lock(mutex_);
        const auto room = [&] { return held_ + bytes <= most_waiting || dropped_ == 0; };
        while (!changed_.wait_for(lock, std::chrono::nanoseconds(Interruption::interval_ns), room)) {
            lock.unlock();
            if (interruption.came()) stop();
            lock.lock();
        }
    }

private:
    static constexpr std::align_val_t alignment{64};

    void* take(std::size_t bytes)
    {
        const std::lock_guard lock(mutex_);
        std::vector<void*>& blocks = unused_[bytes];
        void* block = nullptr;
        if (blocks.empty()) block = ::operator new(bytes, alignment);
        else {
            block = blocks.back();
            blocks.pop_back();
            kept_ -= bytes;
        }
        held_ += bytes;
        return block;
    }
    void drop(std::size_t bytes)
    {
        const std::lock_guard lock(mutex_);
        dropped_ += bytes;
    }
    void give_back(void* block, std::size_t bytes, bool dropped)
    {
        const std::lock_guard lock(mutex_);
        held_ -= bytes;
        if (dropped) dropped_ -= bytes;
        changed_.notify_all();
        if (kept_ + bytes > most_unused) return ::operator delete(block, alignment);
        unused_[bytes].push_back(block);
        kept_ += bytes;
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t held_ = 0, dropped_ = 0, kept_ = 0;
    std::map<std::size_t, std::vector<void*>> unused_; ///< by their bytes
};

} // namespace trencadis
