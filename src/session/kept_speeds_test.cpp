#include "session/kept_speeds.hpp"

#include "graph/flow.hpp"
#include "graph/task_context.hpp"
#include "session/session.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

namespace trencadis {
namespace {

struct Sleeps {
    void run(TaskContext&) { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }
    Flops flops() const { return 1e6; }
};
constexpr Codelet sleeps = codelet_of<Sleeps>("sleeps", "kept");

/// With a cache folder of its own.
class KeptSpeedsOfSessions : public ::testing::Test {
protected:
    KeptSpeedsOfSessions()
    {
        std::string name = (std::filesystem::temp_directory_path() / "kept-XXXXXX").string();
        folder_ = mkdtemp(name.data());
        if (const char* given = std::getenv("XDG_CACHE_HOME")) before_ = given;
        setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
    }
    ~KeptSpeedsOfSessions() override
    {
        if (before_.empty()) unsetenv("XDG_CACHE_HOME");
        else setenv("XDG_CACHE_HOME", before_.c_str(), 1);
        std::filesystem::remove_all(folder_);
    }
    static void run_some(const SessionOptions& options)
    {
        Session session(options);
        session.run([](Flow& flow) {
            for (int i = 0; i < 4; ++i) flow.submit(sleeps, Sleeps{}, std::initializer_list<Access>{});
        });
    }
    /// What lies in the cache folder.
    KernelSpeeds kept() const
    {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_))
            if (entry.path().extension() == ".kernels") return KernelSpeeds::read(entry.path());
        return {};
    }
    std::filesystem::path folder_;
    std::string before_;
};

TEST_F(KeptSpeedsOfSessions, AreLeftToLaterOnes)
{
    run_some({});
    const KernelSpeeds speeds = kept();
    Session session;
    const std::string kind = session.statistics().front().kind;
    const auto* found = speeds.find({"sleeps.kept", 0, kind});
    ASSERT_TRUE(found) << kind;
    const double rate = found->at(KernelSpeeds::bucket(size_of(1e6))).rate;
    EXPECT_LT(rate, 1e6 / 2e-3);
    EXPECT_GT(rate, 1e6 / 2); // a machine so busy that 2 ms take 2 s
}

TEST_F(KeptSpeedsOfSessions, OfEmulatedCoresAreNobodys)
{
    SessionOptions slow;
    slow.slow[Session().options().workers.front()] = 0.5;
    run_some(slow);
    EXPECT_TRUE(kept().empty());
}

TEST_F(KeptSpeedsOfSessions, WithoutARunAreNotWritten)
{
    {
        const Session idle;
    }
    EXPECT_TRUE(kept().empty());
}

} // namespace
} // namespace trencadis
