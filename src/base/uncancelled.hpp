#pragma once
#include <cerrno>
#include <pthread.h>

namespace trencadis {

/// A call from outside. While this lives the calling thread is not ended by pthread_cancel; a cancellation that comes meanwhile
/// waits: in the middle of a call it would unwind through other libraries that hold locks. And the caller's errno is its own.
class Uncancelled {
public:
    Uncancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
    ~Uncancelled() noexcept(false) // a thread that may be cancelled at any moment ends in there
    {
        errno = errno_;
        int ours = 0;
        pthread_setcancelstate(before_, &ours);
    }
    Uncancelled(const Uncancelled&) = delete;
    Uncancelled& operator=(const Uncancelled&) = delete;

private:
    const int errno_ = errno;
    int before_ = PTHREAD_CANCEL_ENABLE;
};

} // namespace trencadis
