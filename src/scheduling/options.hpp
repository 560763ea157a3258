#pragma once
#include "base/types.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trencadis {

/// One option a policy has. `values` says what may be given: "yes|no" or "fifo|lifo" (one of these), "count" (a whole number of
/// at least 0), "text" (the policy checks it).
struct Parameter {
    const char* name;
    const char* values;
    const char* standard; ///< the value when none is given
    const char* summary;
};

/// The options of one policy, as given by its name: `name` or `name:key=value,key=value`. Every key is one of the policy's
/// parameters, and every value was checked against them, so the getters only fail for a key the policy never declared.
class SchedulerOptions {
public:
    explicit SchedulerOptions(std::span<const Parameter> parameters = {}) : parameters_(parameters) {}

    /// Throws Error{bad_argument} with what was given and what would be right. `scheduler` is for the message.
    void set(std::string_view scheduler, std::string_view key, std::string_view value);
    /// Does the policy have this key; was it given a value?
    bool has(std::string_view key) const;
    bool given(std::string_view key) const;
    /// A value of ours for a key that the policy has, instead of the one given or standard.
    void assign(std::string_view key, std::string value);
    std::string_view text(std::string_view key) const;
    bool flag(std::string_view key) const { return text(key) == "yes"; }
    std::int64_t count(std::string_view key) const;

private:
    struct Given {
        std::string key, value;
    };
    std::span<const Parameter> parameters_;
    std::vector<Given> given_;
};

} // namespace trencadis
