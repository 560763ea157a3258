#pragma once
#include "base/lasting.hpp"
#include "devices/driven/as_guest.hpp"
#include "threads/last_thread.hpp"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace trencadis::devices {

/// How long drivers may take to start: TRENCADIS_DRIVER_SECONDS, or two minutes. Throws Error{bad_argument} where that is no such
/// number.
std::chrono::milliseconds patience_with_drivers();

/// Throws Error{environment}: "devices 'cuda': NVIDIA's driver has not answered for 120 s when it starts; ...".
[[noreturn]] void fail_to_start(const char* backend, const char* who, std::chrono::milliseconds patience);

/// The start of a driver, from which one whose device does not answer may never return: on a thread of its own. Lives for good,
/// as the thread may.
template <class Answer> class DriverStart {
public:
    /// What `call` returns or throws, which touches nothing but the driver. Nothing: it has not come back for so long; the next
    /// who asks waits for the same call. By one thread at a time, the guest, which takes its signals while it waits.
    template <class Call> std::optional<Answer> run(Call call, std::chrono::milliseconds patience, const AsGuest& guest)
    {
        if (!under_way_ || under_way_->made_after != forks_so_far()) {
            const auto fresh = std::make_shared<State>();
            try {
                std::thread([fresh, call] {
                    const OurThread ours; // the process does not wait for it
                    fresh->answer(call);
                }).detach();
            } catch (const std::system_error&) { // no thread is to be had
                return call();
            }
            under_way_ = fresh;
        }
        const std::shared_ptr<State> state = under_way_;
        const auto heard = guest.hear_signals();
        std::unique_lock lock(state->mutex);
        if (!state->returned.wait_for(lock, patience, [&] { return state->value || state->thrown; })) return std::nullopt;
        under_way_ = nullptr;
        if (state->thrown) std::rethrow_exception(state->thrown);
        return state->value;
    }

private:
    struct State {
        template <class Call> void answer(const Call& call)
        {
            std::optional<Answer> value_now;
            std::exception_ptr thrown_now;
            try {
                value_now = call();
            } catch (...) {
                thrown_now = std::current_exception();
            }
            const std::lock_guard lock(mutex);
            value = std::move(value_now), thrown = std::move(thrown_now);
            returned.notify_all();
        }
        const int made_after = forks_so_far(); ///< in a process that was forked nobody carries it on
        std::mutex mutex;
        std::condition_variable returned;
        std::optional<Answer> value;
        std::exception_ptr thrown;
    };
    std::shared_ptr<State> under_way_;
};

} // namespace trencadis::devices
