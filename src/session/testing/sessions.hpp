#pragma once
#include "session/session.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <string>
#include <string_view>

namespace trencadis::testing {

/// The sessions that tests of routines share: workers start once per program, and every engine must give the same numbers.
inline constexpr const char* engines[] = {"sequential", "native"};

inline Session& session_on(std::string_view engine)
{
    const auto made = [](const char* name) {
        SessionOptions options;
        options.engine = name;
        return options;
    };
    static Session sequential(made("sequential")), native(made("native"));
    return engine == "native" ? native : sequential;
}

using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;

/// The message of the Error{bad_argument, number} that `call` throws.
template <class Call> std::string refusal(int number, const Call& call)
{
    try {
        call();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_argument);
        EXPECT_EQ(error.argument(), number) << error.what();
        return error.what();
    }
    return "no error";
}

} // namespace trencadis::testing
