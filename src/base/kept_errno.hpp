#pragma once
#include <cerrno>

namespace trencadis {

/// The caller's errno, as it was when this began.
class KeptErrno {
public:
    KeptErrno() = default;
    ~KeptErrno() { errno = before_; }
    KeptErrno(const KeptErrno&) = delete;
    KeptErrno& operator=(const KeptErrno&) = delete;

private:
    const int before_ = errno;
};

} // namespace trencadis
