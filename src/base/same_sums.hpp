#pragma once

namespace trencadis {

/// While it lives, the calling thread cuts long sums alike on every machine (true), or as the caches of this one ask. Where a sum
/// is cut decides how it is rounded. A call has what its crew wants, on whichever thread: it travels with the modes of the
/// caller's arithmetic (float_modes.hpp).
class SameSums {
public:
    explicit SameSums(bool wanted) : before_(here_) { here_ = wanted; }
    ~SameSums() { here_ = before_; }
    SameSums(const SameSums&) = delete;
    SameSums& operator=(const SameSums&) = delete;

    static bool here() { return here_; }

private:
    // Asked in every call; the default model would ask the dynamic linker each time.
    static thread_local constinit bool here_ [[gnu::tls_model("initial-exec")]];
    const bool before_;
};

} // namespace trencadis
