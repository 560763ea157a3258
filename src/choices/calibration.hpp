#pragma once
#include "base/types.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace trencadis::choices {

/// What a plan took for a call, by so many workers: medians.
struct Row {
    std::string routine;
    char precision = 'd';
    Index m = 0, n = 0, k = 0;
    int workers = 0;
    std::string plan;    ///< word_of
    Seconds seconds = 0; ///< nothing else running
    Seconds busy = 0;    ///< a neighbour on one of the cores; 0: not measured
    Joules joules = 0;   ///< 0: no meter counted
};

/// Whose figures they are: others' are worth nothing.
struct Owner {
    std::string processor; ///< one line
    std::string kernels;   ///< who computes, with version and instruction set
    std::string library;   ///< version of this library

    bool operator==(const Owner&) const = default;
};

struct Calibration {
    std::vector<Row> rows;
    std::string trouble; ///< why a file that is there is not used, as "is torn"; empty: it is used, or there is none

    /// No rows where there is no file, or where it is of another version or owner, torn or damaged.
    static Calibration read(const std::filesystem::path& file, const Owner& owner);
};

/// All of a file that may be one of these; empty where it is none or too long to be one.
std::string contents(const std::filesystem::path& file);

/// As replace_file. Not `durably`: for what may be lost with the power, and costs no wait for the disk. Empty, or why it cannot
/// be written.
std::string write_calibration(const std::filesystem::path& file, const Owner& owner, const std::vector<Row>& rows,
                              bool durably = true);

} // namespace trencadis::choices
