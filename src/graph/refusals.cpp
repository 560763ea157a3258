#include "graph/refusals.hpp"

#include "base/error.hpp"

#include <cstdio>
#include <string>

namespace trencadis {
namespace {

std::string text(const Datum& datum)
{
    char address[32];
    std::snprintf(address, sizeof address, "%p", datum.address);
    const std::string extent =
        datum.element ? std::to_string(datum.rows) + " x " + std::to_string(datum.cols) + " elements, ld " : "";
    return std::string(address) + " (" + extent + std::to_string(datum.ld) + (datum.element ? ")" : " bytes)");
}

std::string names_a_datum(std::string_view task) { return "task '" + std::string(task) + "' names a datum that "; }

} // namespace

void refuse_overlap(std::string_view task, const Datum& named, const Datum& other)
{
    throw Error(ErrorCode::bad_argument, "task '" + std::string(task) + "' names the datum at " + text(named) +
                                             ", which shares memory with another one in use, at " + text(other) +
                                             "; name the whole in every task, or its parts");
}

void refuse_owner(std::string_view who, std::string_view task, const Datum& named)
{
    throw Error(ErrorCode::bad_argument, std::string(who) + " works in one process, and " + names_a_datum(task) + "process " +
                                             std::to_string(named.owner) + " owns; owners must be 0");
}

void refuse_larger(std::string_view task, const Datum& named, const Datum& first)
{
    throw Error(ErrorCode::bad_argument, "task '" + std::string(task) + "' names the datum at " + text(named) +
                                             ", and an earlier one no more of it than " + text(first) +
                                             "; between processes the first task must name the whole");
}

void refuse_name(std::string_view task)
{
    throw Error(ErrorCode::bad_argument,
                names_a_datum(task) + "has no memory behind it; only an engine that simulates can run it");
}

} // namespace trencadis
