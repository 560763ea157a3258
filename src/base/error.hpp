#pragma once
#include <stdexcept>
#include <string>

namespace trencadis {

/// What went wrong, apart from numerical events, which are values (see graph/info.hpp).
enum class ErrorCode : int {
    bad_argument = 1,    ///< argument number `argument()` (from 1) has a value the call cannot accept
    out_of_memory = 2,   ///< an allocation failed
    missing_backend = 3, ///< a named or needed back end is not on this machine
    environment = 4,     ///< threads, files or limits of the system refused
    cancelled = 5,       ///< the work was cancelled before it finished
};

/// The one exception type of the library. The edges translate it: `-argument` in C, ValueError or
/// RuntimeError in Python, exit code 2 on the command line.
class Error : public std::runtime_error {
public:
    Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
    Error(ErrorCode code, int argument, const std::string& message)
        : std::runtime_error(message), code_(code), argument_(argument)
    {
    }
    ErrorCode code() const { return code_; }
    int argument() const { return argument_; } ///< 0 when no single argument is to blame

private:
    ErrorCode code_;
    int argument_ = 0;
};

} // namespace trencadis
