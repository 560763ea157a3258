#pragma once
#include "base/sanitized.hpp"
#include "engines/task_flow_engine.hpp"
#include "session/choices.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace trencadis::testing {

/// The back end that a session takes when it is given none: TRENCADIS_THREADS_BACKEND says over which one the tests run.
inline const ThreadsEntry& threads_under_test() { return find_entry("thread back end", threads_entries(), choose_threads("")); }

/// One engine with everything it stands on, made by name. Workers are not pinned: most tests want more of them than there are
/// cores.
class RuntimeUnderTest {
public:
    RuntimeUnderTest(const std::string& engine, const std::string& scheduler, int workers,
                     Relieving relieving = Relieving::held_up)
        : RuntimeUnderTest(engine, parse_scheduler(scheduler), std::vector<WorkerPlace>(std::size_t(workers)), relieving)
    {
    }
    RuntimeUnderTest(const std::string& engine, const std::string& scheduler, std::vector<WorkerPlace> workers,
                     Relieving relieving)
        : RuntimeUnderTest(engine, parse_scheduler(scheduler), std::move(workers), relieving)
    {
    }
    RuntimeUnderTest(const std::string& engine, SchedulerSpec scheduler, std::vector<WorkerPlace> workers, Relieving relieving)
        : threads_(threads_under_test().make())
    {
        EngineParts parts{std::move(workers), std::move(scheduler), threads_.get()};
        parts.relieving = relieving;
        parts.callers_anywhere = true;
        std::unique_ptr<Engine> made = find_entry("engine", engine_entries(), engine).make(std::move(parts));
        engine_.reset(&dynamic_cast<TaskFlowEngine&>(*made.release()));
    }
    TaskFlowEngine& engine() { return *engine_; }

private:
    std::unique_ptr<Threads> threads_;
    std::unique_ptr<TaskFlowEngine> engine_;
};

/// One policy for each way to hold and hand out tasks; the tests of random graphs take every registered one.
inline const std::vector<const char*> representative_schedulers{
    "mosaic", "eager", "libgomp", "ws", "ws:deque=locked", "the", "numa-ws", "cats", "heft", "locality-default", "virtual-cores"};
/// Does an idle worker join a running operation under the policy, as it is when no option is given?
inline bool joins(const char* scheduler)
{
    for (const Parameter& parameter : parse_scheduler(scheduler).entry->parameters)
        if (parameter.name == std::string("join")) return parameter.standard == std::string("yes");
    return false;
}

/// How many of `count` cases to run: the share that TRENCADIS_TEST_SHARE says, otherwise all, or a tenth in a sanitizer's build.
inline int share_of(int count)
{
    const char* given = std::getenv("TRENCADIS_TEST_SHARE");
    const double share = given && *given ? std::atof(given) : sanitized ? 0.1 : 1;
    return std::max(1, int(count * share));
}

/// Of this run of the program; TRENCADIS_TEST_SEED repeats an earlier one.
inline std::uint64_t test_seed()
{
    static const std::uint64_t seed = [] {
        const char* given = std::getenv("TRENCADIS_TEST_SEED");
        return given && *given ? std::strtoull(given, nullptr, 10) : std::uint64_t{std::random_device{}()};
    }();
    return seed;
}

/// A short generator (splitmix64; Steele, Lea, Flood 2014) whose sequence is the same everywhere.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t operator()()
    {
        std::uint64_t z = state_ += 0x9E3779B97F4A7C15ULL;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
        return z ^ (z >> 31);
    }
    int below(int bound) { return int((*this)() % std::uint64_t(bound)); }
    bool one_in(int n) { return below(n) == 0; }
    template <std::size_t n> int pick(const int (&values)[n]) { return values[below(int(n))]; }

private:
    std::uint64_t state_;
};

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) { return Random(a * 0x9E3779B97F4A7C15ULL ^ b)(); }

} // namespace trencadis::testing
