#pragma once
#include "base/error.hpp"
#include "matrix/ops.hpp"
#include "session/session.hpp"
#include "trencadis/trencadis.h"

#include <new>
#include <string>

/// From exceptions to codes, and from letters to flags: all that the C functions add.
namespace trencadis::c {

/// A task's function returned something else than 0.
class TaskFailed : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Keeps the message of the exception now being handled for trc_last_error_message, and returns its code.
int code_of_current_exception() noexcept;

/// Runs `body`; 0, or the code of what it threw.
template <class Body> int guarded(Body&& body) noexcept
{
    try {
        body();
        return TRC_OK;
    } catch (...) {
        return code_of_current_exception();
    }
}

Session& session_of(trc_session* session);

Uplo uplo_of(int argument, char letter);
Op op_of(int argument, const char* name, char letter);
Side side_of(int argument, char letter);
Diag diag_of(int argument, char letter);

/// Throws Error{bad_argument, argument} when `pointer` is null.
void require(const void* pointer, int argument, const char* name);

} // namespace trencadis::c

struct trc_session {
    trencadis::Session session;
    explicit trc_session(const trencadis::SessionOptions& options) : session(options) {}
};
