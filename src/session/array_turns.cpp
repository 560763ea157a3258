#include "session/array_turns.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace trencadis {

/// Of one call, until this goes.
class ArrayTurns::Taken final : public Crew::Turn {
public:
    Taken(ArrayTurns& turns, Arrays arrays) : turns_(turns)
    {
        const std::lock_guard lock(turns_.mutex_);
        call_ = turns_.calls_.insert(turns_.calls_.end(), std::move(arrays));
    }
    ~Taken() override
    {
        const std::lock_guard lock(turns_.mutex_);
        turns_.calls_.erase(call_);
        turns_.given_back_.notify_all();
    }
    Calls::const_iterator call() const { return call_; }

private:
    ArrayTurns& turns_;
    Calls::const_iterator call_;
};

/// Under the mutex. Does no earlier one name an array of this call's?
bool ArrayTurns::is_first(Calls::const_iterator call) const
{
    return std::none_of(calls_.begin(), call,
                        [&](const Arrays& earlier) { return std::ranges::find_first_of(earlier, *call) != earlier.end(); });
}

std::unique_ptr<Crew::Turn> ArrayTurns::begin(Arrays arrays) { return std::make_unique<Taken>(*this, std::move(arrays)); }

/// The caller is asked without the lock: what it does may take long, or be a call.
std::unique_ptr<Crew::Turn> ArrayTurns::wait_for(Arrays arrays, const std::function<bool()>& interrupted)
{
    constexpr std::chrono::milliseconds often(20);
    auto turn = std::make_unique<Taken>(*this, std::move(arrays));
    std::unique_lock lock(mutex_);
    const auto has_come = [&] { return is_first(turn->call()); };
    while (!has_come()) {
        if (!interrupted) given_back_.wait(lock, has_come);
        else if (!given_back_.wait_for(lock, often, has_come)) {
            lock.unlock();
            if (interrupted()) throw Error(ErrorCode::cancelled, "the call was cancelled");
            lock.lock();
        }
    }
    return turn;
}

} // namespace trencadis
