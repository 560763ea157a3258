#pragma once
#include "base/types.hpp"

// toml++ 3.3 asserts what a damaged file can break ("[[#nodes]]"), although the code behind reports it.
#ifndef TOML_ASSERT
#define TOML_ASSERT(expr) static_assert(true)
#endif
#include <toml++/toml.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trencadis {

/// Strict reading of one table of a TOML file. Every complaint is Error{bad_argument} with "file:line: what is there; what would
/// be right". Keys that nobody asked for are complained about by finish().
class TomlTable {
public:
    /// `file` is the name shown in messages; `table` and the file's text must outlive this object.
    TomlTable(const toml::table& table, std::string_view file, std::string what);

    const std::string& what() const { return what_; } ///< "[[cores]] number 3", for messages

    std::string text(std::string_view key); ///< must be there and not be empty
    std::string text_or(std::string_view key, std::string_view absent);
    double number_or(std::string_view key, double absent); ///< finite, not negative
    double number(std::string_view key);                   ///< likewise, and must be there
    double positive(std::string_view key);                 ///< likewise, and not 0
    double positive_or(std::string_view key, double absent);
    Index integer_or(std::string_view key, Index absent, Index least); ///< not below `least`
    Index integer(std::string_view key, Index least);
    /// Different integers in 0 .. count-1: a list, or a text such as "0-3,7".
    std::vector<int> indices(std::string_view key, int count);
    /// Whole numbers of 1 or more, as many as anybody likes but none of no numbers.
    std::vector<int> counts(std::string_view key);
    std::optional<TomlTable> table(std::string_view key); ///< [key]
    std::vector<TomlTable> tables(std::string_view key);  ///< [[key]], empty when absent
    /// The number of the one of `names` that the text of `key` is; complains with the nearest.
    int one_of(std::string_view key, const std::vector<std::string>& names, std::string_view kind_of_thing);
    /// Each of the names that the text of `key` lists, with commas between, must be one of `names`.
    void listed(std::string_view key, const std::vector<std::string>& names, std::string_view kind_of_thing);
    /// What stands in the table, as KEY, and what in the tables and lists of tables in it, however deep, as TABLE.KEY.
    std::vector<std::string> figures() const;
    bool has(std::string_view key);
    int line() const; ///< where the table stands

    /// Complains about the first key that was never asked for.
    void finish() const;
    /// Complains at the value of `key`, or at the table when it is not there.
    [[noreturn]] void complain(std::string_view key, const std::string& message) const;

private:
    const toml::node* find(std::string_view key);
    const toml::node& require(std::string_view key, std::string_view wanted);
    double number_from(std::string_view key, std::string_view least, bool zero);
    std::vector<int> integers(std::string_view key, const toml::node& node, const std::string& wanted) const;
    int number_of(std::string_view name, std::string_view key, const std::vector<std::string>& names,
                  std::string_view kind_of_thing) const;
    [[noreturn]] void wrong_type(std::string_view key, const toml::node& node, std::string_view wanted) const;

    const toml::table* table_;
    std::string_view file_;
    std::string what_;
    std::vector<std::string> known_;
};

} // namespace trencadis
