#include "interfaces/c/edge.hpp"

#include "base/of_thread.hpp"

#include <cctype>

namespace trencadis::c {
namespace {

std::string& message() { return of_thread<std::string, TaskFailed>(); }

/// Even without memory for a message there is one.
int note(int code, const char* text) noexcept
{
    try {
        message() = text;
    } catch (...) {
        message().clear();
    }
    return code;
}

[[noreturn]] void bad_flag(int argument, const char* name, char letter, const char* allowed)
{
    const std::string shown = std::isprint(static_cast<unsigned char>(letter)) ? std::string("'") + letter + "'"
                                                                               : "character " + std::to_string(int(letter));
    throw Error(ErrorCode::bad_argument, argument, std::string(name) + " is " + shown + ", must be " + allowed);
}

char upper(char letter) { return char(std::toupper(static_cast<unsigned char>(letter))); }

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

Uplo uplo_of(int argument, char letter)
{
    switch (upper(letter)) {
    case 'L': return Uplo::lower;
    case 'U': return Uplo::upper;
    }
    bad_flag(argument, "uplo", letter, "'L' or 'U'");
}

Op op_of(int argument, const char* name, char letter)
{
    switch (upper(letter)) {
    case 'N': return Op::none;
    case 'T': return Op::trans;
    case 'C': return Op::conj_trans;
    }
    bad_flag(argument, name, letter, "'N', 'T' or 'C'");
}

Side side_of(int argument, char letter)
{
    switch (upper(letter)) {
    case 'L': return Side::left;
    case 'R': return Side::right;
    }
    bad_flag(argument, "side", letter, "'L' or 'R'");
}

Diag diag_of(int argument, char letter)
{
    switch (upper(letter)) {
    case 'N': return Diag::non_unit;
    case 'U': return Diag::unit;
    }
    bad_flag(argument, "diag", letter, "'N' or 'U'");
}

void require(const void* pointer, int argument, const char* name)
{
    if (!pointer) throw Error(ErrorCode::bad_argument, argument, std::string(name) + " is null");
}

} // namespace trencadis::c

extern "C" const char* trc_last_error_message(void) { return trencadis::c::message().c_str(); }
