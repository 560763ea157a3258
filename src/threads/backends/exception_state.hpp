#pragma once
#include <cstring>
#include <cxxabi.h>

namespace trencadis {

/// The exceptions being handled, which the C++ runtime keeps per operating system thread. Units that share one have their own
/// each.
class ExceptionState {
public:
    ExceptionState() { std::memcpy(bytes_, abi::__cxa_get_globals(), sizeof bytes_); }
    void put_back() const { std::memcpy(static_cast<void*>(abi::__cxa_get_globals()), bytes_, sizeof bytes_); }
    static void clear() { std::memset(static_cast<void*>(abi::__cxa_get_globals()), 0, sizeof bytes_); }

private:
    unsigned char bytes_[sizeof(void*) + sizeof(unsigned)]; ///< the innermost caught one, how many are uncaught
};

} // namespace trencadis
