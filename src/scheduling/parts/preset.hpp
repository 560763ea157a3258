#pragma once
#include "scheduling/options.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace trencadis {

struct Standard {
    const char* name;
    const char* value;
};

/// The parameters of a policy with other values when none are given: all that a preset is, beside its flow traits. A name that
/// the policy does not have is a compile-time error.
template <std::size_t N>
consteval std::array<Parameter, N> with_standards(std::array<Parameter, N> parameters, std::initializer_list<Standard> standards)
{
    for (const Standard& standard : standards) {
        bool found = false;
        for (Parameter& parameter : parameters)
            if (std::string_view(parameter.name) == standard.name) {
                parameter.standard = standard.value;
                found = true;
            }
        if (!found) throw "the policy has no such parameter";
    }
    return parameters;
}

/// Two lists of parameters as one.
template <std::size_t N, std::size_t M>
consteval std::array<Parameter, N + M> joined(const std::array<Parameter, N>& first, const std::array<Parameter, M>& second)
{
    std::array<Parameter, N + M> all{};
    std::copy(first.begin(), first.end(), all.begin());
    std::copy(second.begin(), second.end(), all.begin() + N);
    return all;
}

} // namespace trencadis
