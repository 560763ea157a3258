#pragma once
#include <pthread.h>

namespace trencadis {

/// The calling thread is not ended by pthread_cancel while this lives; a cancellation that comes meanwhile waits. In the middle
/// of a call it would unwind through other libraries that hold locks.
class Uncancelled {
public:
    Uncancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
    ~Uncancelled()
    {
        int ours = 0;
        pthread_setcancelstate(before_, &ours);
    }
    Uncancelled(const Uncancelled&) = delete;
    Uncancelled& operator=(const Uncancelled&) = delete;

private:
    int before_ = PTHREAD_CANCEL_ENABLE;
};

} // namespace trencadis
