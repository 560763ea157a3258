#include "base/error.hpp"
#include "graph/flow.hpp"
#include "session/session.hpp"

#include <gmock/gmock.h>
#include <string>
#include <vector>

namespace trencadis {
namespace {

using ::testing::HasSubstr;

/// Only what it costs is known.
struct ToBeSimulated {
    Flops flops() const { return 1; }
};
constexpr Codelet unwritten = codelet_of<ToBeSimulated>("unwritten");

/// The message of the missing back end that `submit` runs into on an engine; the session must be usable afterwards.
template <class Submit> std::string missing_on(const char* engine, Submit&& submit)
{
    SessionOptions options;
    options.engine = engine;
    Session session(options);
    std::string message = "nothing was thrown";
    try {
        session.run(submit);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::missing_backend);
        message = error.what();
    }
    int ran = 0;
    session.run([&](Flow& flow) { flow.submit("one", [&] { ++ran; }, {}); });
    EXPECT_EQ(ran, 1);
    return message;
}

/// All the tasks before the missing kernel may run; none that depends on it may.
TEST(KernelsThatCanOnlyBeSimulated, AreNamedByEveryEngineThatComputes)
{
    for (const char* engine : {"sequential", "native"}) {
        double datum = 1;
        const auto submit = [&](Flow& flow) {
            flow.submit(unwritten, ToBeSimulated{}, {readwrite(&datum)});
            flow.submit("after", [&] { datum = 2; }, {readwrite(&datum)});
        };
        EXPECT_THAT(missing_on(engine, submit), HasSubstr("'unwritten'")) << engine;
        EXPECT_EQ(datum, 1);
    }
}

} // namespace
} // namespace trencadis
