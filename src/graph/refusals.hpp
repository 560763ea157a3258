#pragma once
#include "graph/data.hpp"

#include <string_view>

/// What is refused at submission because of the data that a task names. All throw Error{bad_argument}.
namespace trencadis {

/// `other` shares memory with `named`, and the task or one that has not finished names it.
[[noreturn]] void refuse_overlap(std::string_view task, const Datum& named, const Datum& other);
/// Another process holds the datum, and `who` works in one alone.
[[noreturn]] void refuse_owner(std::string_view who, std::string_view task, const Datum& named);
/// An earlier task of a flow over processes has named less of it, and that is what is sent.
[[noreturn]] void refuse_larger(std::string_view task, const Datum& named, const Datum& first);
/// Nothing lies there (Datum::is_name).
[[noreturn]] void refuse_name(std::string_view task);

} // namespace trencadis
