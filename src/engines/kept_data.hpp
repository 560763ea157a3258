#pragma once
#include "base/types.hpp"

namespace trencadis {

/// Memory whose copies on devices outlast calls, because its owner has said so. At home there is always the current value between
/// calls, so whoever reads there reads what is right; who writes there otherwise than by tasks says so first. Any thread.
class KeptData {
public:
    /// From now on. Throws Error{bad_argument} where some of it is kept already.
    virtual void keep(const void* data, Bytes bytes) = 0;
    /// No longer: copies are forgotten. Throws Error{bad_argument} where nothing that begins there is kept.
    virtual void leave(const void* data) = 0;
    /// What is kept and begins there was written in the host's memory: its copies are worth nothing from now on. Throws likewise.
    virtual void touch_kept(const void* data) = 0;
    /// The same of whatever is kept of these bytes. Null: it may be any.
    virtual void touch(const void* data, Bytes bytes) = 0;
    /// Is anything kept? A load.
    virtual bool keeps() const = 0;

protected:
    ~KeptData() = default;
};

} // namespace trencadis
