// Random graphs over the host's memory and those of two or three devices, with room for a few data only, against the same tasks
// one after the other; and where devices fail.
#include "base/error.hpp"
#include "base/sanitized.hpp"
#include "queue_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

namespace trencadis::testing {
namespace {

struct Part {
    double* at;
    Index ld, rows, cols;
};

/// The last operand takes a value that depends on all, element by element; it is read where `reads_last`.
struct MixArgs {
    int id, operands;
    bool reads_last;

    static double next(double sum, double x) { return 0.5 * sum + 0.25 * x + 1; }
    double value(const std::vector<Part>& parts) const
    {
        double sum = id;
        for (int p = 0; p < operands; ++p) {
            if (p == operands - 1 && !reads_last) continue;
            for (Index j = 0; j < parts[std::size_t(p)].cols; ++j)
                for (Index i = 0; i < parts[std::size_t(p)].rows; ++i)
                    sum = next(sum, parts[std::size_t(p)].at[i + j * parts[std::size_t(p)].ld]);
        }
        return sum;
    }
    void mix(const std::vector<Part>& parts) const
    {
        const double sum = value(parts);
        const Part& to = parts.back();
        for (Index j = 0; j < to.cols; ++j)
            for (Index i = 0; i < to.rows; ++i) to.at[i + j * to.ld] = sum + double(i) - 2 * double(j);
    }
    std::vector<Part> parts(const TaskContext& context) const
    {
        std::vector<Part> all;
        for (int p = 0; p < operands; ++p) {
            const Operand operand = context.operand(p);
            all.push_back({static_cast<double*>(operand.data), operand.ld, operand.rows, operand.cols});
        }
        return all;
    }
    Flops flops() const { return 100; }
};
struct AnywhereArgs : MixArgs {
    void run(TaskContext& context) const { mix(parts(context)); }
    void run_on_device(TaskContext& context) const
    {
        static_cast<const QueueKernels*>(context.kernels())
            ->queue->enqueue(flops(), [args = *this, blocks = parts(context)](const BlockMap& map) {
                std::vector<Part> there = blocks;
                for (Part& part : there) part.at = static_cast<double*>(map.at(part.at));
                args.mix(there);
            });
    }
};
struct OnCoresArgs : MixArgs {
    void run(TaskContext& context) const { mix(parts(context)); }
};
struct OnDevicesArgs : MixArgs {
    void run_on_device(TaskContext& context) const { AnywhereArgs{*this}.run_on_device(context); }
};
constexpr Codelet codelets[] = {codelet_of<AnywhereArgs>("anywhere"), codelet_of<OnCoresArgs>("cores"),
                                codelet_of<OnDevicesArgs>("devices")};

constexpr Index most_rows = 6, most_cols = 5, ld = 9;

/// Data of different shapes in one array, with gaps that nobody may touch.
struct World {
    explicit World(std::mt19937_64& random, int count) : at(std::size_t(count) * ld * most_cols, 0.5)
    {
        for (int d = 0; d < count; ++d) shapes.push_back({1 + Index(random() % most_rows), 1 + Index(random() % most_cols)});
    }
    Part part(int d) { return {at.data() + d * ld * most_cols, ld, shapes[std::size_t(d)].first, shapes[std::size_t(d)].second}; }
    Datum datum(int d)
    {
        const Part p = part(d);
        void* const array = arrays.empty() ? nullptr : arrays[std::size_t(d)];
        return Datum(array ? array : p.at, p.rows, p.cols, ld, sizeof(double));
    }

    /// About every second datum is at home on one of so many devices from now on.
    void move_out(std::mt19937_64& random, DeviceArrays& on, int devices)
    {
        constexpr std::size_t most_on_each = 5;
        std::vector<std::size_t> there(std::size_t(devices), 0);
        arrays.resize(shapes.size());
        for (std::size_t d = 0; d < shapes.size(); ++d) {
            const auto device = std::size_t(random()) % std::size_t(devices);
            if (random() % 2 || there[device]++ >= most_on_each) continue;
            arrays[d] = on.allocate(int(device), bytes);
            on.write(columns(d), {at.data() + d * ld * most_cols, pitch});
        }
    }
    void move_back(DeviceArrays& on)
    {
        for (std::size_t d = 0; d < arrays.size(); ++d) {
            if (!arrays[d]) continue;
            on.read(columns(d), {at.data() + d * ld * most_cols, pitch});
            on.give_up(arrays[d]);
        }
    }
    DeviceArrays::Columns columns(std::size_t d) const { return {arrays[d], pitch, pitch, most_cols}; }

    static constexpr std::size_t pitch = ld * sizeof(double), bytes = pitch * most_cols;
    std::vector<double> at;
    std::vector<std::pair<Index, Index>> shapes;
    std::vector<void*> arrays; ///< of those that are at home on a device
};

struct Step {
    int where; ///< anywhere, cores, devices
    MixArgs args;
    std::vector<int> data;
    AccessMode last;
};

std::vector<Step> random_steps(std::mt19937_64& random, int tasks, int data)
{
    std::vector<Step> steps;
    for (int t = 0; t < tasks; ++t) {
        std::vector<int> all(std::size_t(data), 0);
        for (int d = 0; d < data; ++d) all[std::size_t(d)] = d;
        std::shuffle(all.begin(), all.end(), random);
        all.resize(1 + random() % 3);
        constexpr AccessMode modes[] = {AccessMode::write, AccessMode::readwrite, AccessMode::readwrite};
        const AccessMode last = modes[random() % 3];
        const int where = random() % 4 == 0 ? 1 : random() % 8 == 0 ? 2 : 0;
        steps.push_back({where, {t, int(all.size()), last != AccessMode::write}, all, last});
    }
    return steps;
}

void submit(Flow& flow, const Step& step, World& world)
{
    std::vector<Access> accesses;
    for (std::size_t p = 0; p < step.data.size(); ++p)
        accesses.push_back({world.datum(step.data[p]), p + 1 < step.data.size() ? AccessMode::read : step.last});
    flow.submit(codelets[step.where], step.args, accesses);
}

/// Graphs from `first` to before `last`: TRENCADIS_DEVICE_GRAPHS=300 are the first of them, 300-500 those behind.
struct Range {
    int first, last;
};
Range graphs()
{
    const char* const given = std::getenv("TRENCADIS_DEVICE_GRAPHS");
    const std::string text = given ? given : "";
    if (text.empty()) return {0, sanitized ? 60 : 600};
    const std::size_t dash = text.find('-');
    if (dash == std::string::npos) return {0, std::stoi(text)};
    return {std::stoi(text), std::stoi(text.substr(dash + 1))};
}

/// Which piece of work of a device fails, as its words say.
std::string random_fault(std::mt19937_64& random)
{
    constexpr const char* words[] = {",fail-copy=", ",fail-kernel=", ",lose-at=", ",fail-allocation="};
    const char* const word = words[random() % std::size(words)];
    return word + std::to_string(1 + random() % 40);
}

/// One engine, and what it has computed.
struct Crowd {
    Crowd(std::mt19937_64& random, bool with_arrays, bool faulty = false)
        : arrays(with_arrays), memory(random() % 3 ? (arrays ? "3kB" : "1kB") : (arrays ? "6kB" : "4kB")),
          scheduler(schedulers[random() % std::size(schedulers)]), devices(2 + int(random() % 2)), cores(1 + int(random() % 2)),
          slots(1 + int(random() % 3)), direct(random() % 2), fault(faulty ? random_fault(random) : ""),
          on("emulated:" + std::to_string(devices) + ",memory=" + memory + (direct ? ",direct=yes" : "") + fault, scheduler,
             cores, slots)
    {
    }
    /// What a random graph leaves, on devices, and by its tasks one after the other.
    void run(std::mt19937_64& random, const std::string& which)
    {
        const int data = 3 + int(random() % 12), tasks = 1 + int(random() % 60);
        World seen(random, data), expected = seen;
        const std::vector<Step> steps = random_steps(random, tasks, data);
        try {
            if (arrays) seen.move_out(random, *on.engine->device_arrays(), devices);
            on.engine->run({}, [&](Flow& flow) {
                for (const Step& step : steps) submit(flow, step, seen);
            });
            if (arrays) seen.move_back(*on.engine->device_arrays());
        } catch (const Error& error) {
            ASSERT_NE(fault, "") << which << ": " << error.what();
            ASSERT_TRUE(is_of_a_device(error.what())) << which << fault << ": " << error.what();
            ++failed;
            return;
        }
        ++whole;
        for (const Step& step : steps) {
            std::vector<Part> parts;
            for (const int d : step.data) parts.push_back(expected.part(d));
            step.args.mix(parts);
        }
        ASSERT_EQ(seen.at, expected.at) << which << ", " << scheduler << ", " << devices << " devices of " << memory << ", "
                                        << cores << " cores, " << slots << " slots" << (direct ? ", direct" : "") << fault;
    }
    /// Or of there being none for a task of devices alone.
    static bool is_of_a_device(const std::string& message)
    {
        return message.find("device") < message.size() && message.find('\n') > message.size();
    }
    /// What went from device to device.
    Bytes across() const
    {
        Bytes sum = 0;
        for (const DeviceTraffic& device : on.engine->traffic()) sum += device.across;
        return sum;
    }

    static constexpr const char* schedulers[] = {"mosaic", "eager", "ws", "locality-default", "h1", "h2", "dmda", "heft", "cats"};
    const bool arrays;        ///< some data are at home on a device
    const std::string memory; ///< three data of the largest size, 240 bytes, find room at the least, beside arrays
    const std::string scheduler;
    const int devices, cores, slots;
    const bool direct; ///< they reach each other
    const std::string fault;
    int failed = 0, whole = 0; ///< graphs
    EngineOnDevices on;
};

std::uint64_t seed_given()
{
    const char* const given = std::getenv("TRENCADIS_TEST_SEED");
    return given && *given ? std::strtoull(given, nullptr, 10) : std::random_device{}();
}

/// Graphs follow from the seed and their number, so that a part of them, or one alone, is what it is among all.
void give_what_tasks_one_after_the_other_give(bool arrays)
{
    constexpr int per_engine = 20;
    const std::uint64_t seed = seed_given();
    const auto [begin, end] = graphs();
    std::printf("graphs %d-%d, seed %llu (TRENCADIS_DEVICE_GRAPHS, TRENCADIS_TEST_SEED repeat them)\n", begin, end,
                static_cast<unsigned long long>(seed));
    Bytes across = 0;
    for (int first = begin / per_engine * per_engine; first < end; first += per_engine) {
        std::seed_seq of_engine{std::uint32_t(seed), std::uint32_t(seed >> 32), std::uint32_t(first)};
        std::mt19937_64 random(of_engine);
        Crowd crowd(random, arrays);
        for (int g = first; g < std::min(first + per_engine, end); ++g) {
            std::seed_seq of_graph{std::uint32_t(seed), std::uint32_t(seed >> 32), std::uint32_t(g), 1u};
            std::mt19937_64 its(of_graph);
            if (g >= begin) crowd.run(its, "graph " + std::to_string(g));
            if (::testing::Test::HasFatalFailure()) return;
        }
        if (crowd.direct) across += crowd.across();
        else EXPECT_EQ(crowd.across(), 0);
    }
    EXPECT_TRUE(across > 0 || end - begin < 200) << "of many graphs some move something from device to device";
}

TEST(RandomGraphsOnDevices, GiveWhatTasksOneAfterTheOtherGive) { give_what_tasks_one_after_the_other_give(false); }

TEST(RandomGraphsOnDevices, GiveTheSameWhereSomeDataAreAtHomeOnADevice) { give_what_tasks_one_after_the_other_give(true); }

/// Each of a few graphs, until and after one of the devices has failed.
TEST(RandomGraphsOnDevices, GiveTheSameOrFailWhereDevicesFail)
{
    constexpr int per_engine = 3;
    const std::uint64_t seed = seed_given();
    std::printf("seed %llu (TRENCADIS_TEST_SEED repeats them, but for who is first)\n", static_cast<unsigned long long>(seed));
    int whole = 0, failed = 0;
    for (int number = 0; number < graphs().last; number += per_engine) {
        std::seed_seq of_engine{std::uint32_t(seed), std::uint32_t(seed >> 32), std::uint32_t(number), 2u};
        std::mt19937_64 random(of_engine);
        Crowd crowd(random, random() % 2 == 0, true);
        for (int g = 0; g < per_engine; ++g) {
            crowd.run(random, "graph " + std::to_string(number + g));
            if (::testing::Test::HasFatalFailure()) return;
        }
        whole += crowd.whole;
        failed += crowd.failed;
    }
    std::printf("%d whole, %d failed\n", whole, failed);
    EXPECT_GT(whole, failed / 4);
    EXPECT_GT(failed, whole / 50);
}

} // namespace
} // namespace trencadis::testing
