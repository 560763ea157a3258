#include "interfaces/c/edge.hpp"

#include "base/of_thread.hpp"

namespace trencadis::c {
namespace {

std::string& message() { return of_thread<std::string, TaskFailed>(); }

/// Without memory for a message it is empty.
int note(int code, const char* text) noexcept
{
    try {
        message().clear();
        message() = text;
    } catch (...) { // not even for a place to keep it
    }
    return code;
}

} // namespace

int code_of_current_exception() noexcept
{
    try {
        throw;
    } catch (const Error& error) {
        return note(error.argument() > 0 ? -error.argument() : int(error.code()), error.what());
    } catch (const std::bad_alloc&) {
        return note(TRC_OUT_OF_MEMORY, "out of memory");
    } catch (const TaskFailed& failure) {
        return note(TRC_TASK_FAILED, failure.what());
    } catch (const std::exception& other) {
        return note(TRC_INTERNAL, other.what());
    } catch (...) {
        return note(TRC_INTERNAL, "an exception of an unknown kind");
    }
}

void require(const void* pointer, int argument, const char* name)
{
    if (!pointer) throw Error(ErrorCode::bad_argument, argument, std::string(name) + " is null");
}

} // namespace trencadis::c

extern "C" const char* trc_last_error_message(void) { return trencadis::c::message().c_str(); }
