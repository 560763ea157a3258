#pragma once
#include "base/types.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace trencadis {

/// The processes that work together, as one of them sees them. Its calls are made by all of them, in the same order and on one
/// thread each, while no flow of theirs is open; each is as quick as the slowest process comes to it.
class Processes {
public:
    virtual int rank() const = 0; ///< of this one, from 0
    virtual int size() const = 0;

    virtual void barrier() = 0;
    /// What process `root` has, for all.
    virtual void broadcast(void* data, std::size_t bytes, int root) = 0;
    // Of each number the smallest, the largest, or the sum (in the order of the processes, so that all have the same bits).
    virtual void smallest(std::span<std::int64_t> numbers) = 0;
    virtual void largest(std::span<double> numbers) = 0;
    virtual void sum(std::span<double> numbers) = 0;

    /// Throws on all processes unless all of them say the same: Error{bad_argument} with two that differ. `what`: of this call,
    /// in words, less than 200 characters.
    virtual void agree(std::string_view what) = 0;
    /// Called by all at the end of something that may have failed on some: throws on all of them where it has, what the first of
    /// them says (Error with its code), with its rank. `failure`: null where it went well here.
    virtual void throw_together(const std::exception* failure) = 0;

protected:
    ~Processes() = default;
};

/// What a process has sent to others since it was asked last.
struct Sent {
    std::int64_t messages = 0;
    double bytes = 0;
};

} // namespace trencadis
