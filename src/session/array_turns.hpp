#pragma once
#include "drivers/crew.hpp"

#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

namespace trencadis {

/// The calls of a session that name the same array on a device go one after the other, in the order in which they came: copies of
/// it are cut in one way, which is that of the call until its results are there. A call waits for earlier ones alone and holds
/// nothing meanwhile that they could need, so that none waits for ever. Any thread.
class ArrayTurns {
public:
    using Arrays = std::vector<const void*>; ///< where they begin

    /// Returns when every earlier call that names one of them has given its turn back. `interrupted`, if there is one, is asked
    /// now and then; throws Error{cancelled} when it says yes, and what it throws.
    std::unique_ptr<Crew::Turn> wait_for(Arrays arrays, const std::function<bool()>& interrupted);
    /// Without waiting, for who must not: later ones wait for it.
    std::unique_ptr<Crew::Turn> begin(Arrays arrays);

private:
    class Taken;
    using Calls = std::list<Arrays>;
    bool is_first(Calls::const_iterator call) const;

    std::mutex mutex_;
    std::condition_variable given_back_;
    Calls calls_; ///< that have their turn or wait for it, as they came; under the mutex
};

} // namespace trencadis
