#include "algorithms/geqrf.hpp"
#include "base/error.hpp"
#include "session/session.hpp"

#include <gmock/gmock.h>
#include <string>
#include <vector>

namespace trencadis {
namespace {

using ::testing::HasSubstr;

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
    constexpr Index n = 8, nb = 4, ib = 2;
    std::vector<double> a(n * n, 1), beside(n * ib * 2);
    const TileMatrix<double> A({a.data(), n, n, n}, nb, nb), T({beside.data(), 2 * ib, n, 2 * ib}, ib, nb);
    for (const char* engine : {"sequential", "native"})
        EXPECT_THAT(missing_on(engine, [&](Flow& flow) { geqrf(flow, ib, A, T); }), HasSubstr("'geqrt'")) << engine;
    EXPECT_EQ(a, std::vector<double>(n * n, 1));
}

} // namespace
} // namespace trencadis
