#pragma once
#include "base/types.hpp"

#include <memory>

namespace trencadis {

/// Chunks begin .. end-1 of an operation.
struct Chunks {
    Index begin;
    Index end;
    explicit operator bool() const { return begin < end; }
};

/// Some chunks of an operation, done so that another core can take them over from one that the system has taken away: in two
/// steps, each of which may be stopped anywhere and is then done again from its beginning.
///
///  - `prepare` leaves all that it reads of the operation as it is. It writes memory of this object, or results of the operation
///    that it does not read. Whoever takes over in it makes an object of its own and prepares that.
///  - `perform` does the rest. Whoever takes over in it calls perform_again on this object, whose first try stopped anywhere.
///
/// The body that runs such work for its chunks does nothing else with the operation afterwards, and has no tasks inside.
/// They may be left at any instruction: they must not allocate, lock, wait, use variables of a thread or own anything meanwhile.
class Restartable {
public:
    virtual ~Restartable() = default;
    virtual void prepare() {}
    virtual void perform() = 0;
    virtual void perform_again() { perform(); }
};

/// What an engine offers to a core from which the system takes time: another core does the work again if it is held up.
class Relief {
public:
    /// Carries out both steps. False: somebody else has taken the chunks over, and with them the caller's place in the operation; the
    /// caller must return at once and touch nothing of the operation any more, not even its arguments.
    virtual bool run(std::unique_ptr<Restartable> work, Chunks chunks) = 0;

protected:
    ~Relief() = default;
};

} // namespace trencadis
