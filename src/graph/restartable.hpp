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
/// steps, each of which may be stopped anywhere and then be done again from its beginning.
///
///  - `compute` leaves all that it reads of the operation as it is. It writes memory of this object or results of the operation that it
///    does not read. Done again by whoever takes over, who makes an object of its own for it.
///  - `commit` moves the results to where they belong and reads nothing that it changes. Done again by whoever takes over, on this object.
///
/// Both may be left at any instruction: they must not allocate, lock, wait, use variables of a thread or own anything meanwhile.
class Restartable {
public:
    virtual ~Restartable() = default;
    virtual void compute() {}
    virtual void commit() = 0;
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
