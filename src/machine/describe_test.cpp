#include "machine/describe.hpp"

#include "base/error.hpp"
#include "machine/machine.hpp"
#include "machine/testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sys/stat.h>

namespace trencadis {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TemporaryFolder;
using testing::WithVariable;

const std::string small = R"(name = "small"
[[kinds]]
name = "slow"
peak_gflops = 1.5
[[kinds]]
name = "fast"
peak_gflops = 6
[[nodes]]
name = "left"
bytes = 1073741824
[[nodes]]
name = "right"
[[cores]]
kind = "slow"
node = "left"
count = 2
[[cores]]
kind = "fast"
node = "right"
cpu = 7
gflops = 5.5
)";

/// The message of the Error{bad_argument} that reading `text` throws.
std::string complaint(const std::string& text)
{
    try {
        parse_machine(text, "m.toml");
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_argument);
        return error.what();
    }
    return "no complaint";
}

std::string replaced(std::string text, const std::string& from, const std::string& to)
{
    const auto place = text.find(from);
    EXPECT_NE(place, std::string::npos) << from;
    return text.replace(place, from.size(), to);
}

TEST(ParseMachine, ReadsKindsNodesAndCounts)
{
    const Machine machine = parse_machine(small, "m.toml");
    EXPECT_EQ(machine.name, "small");
    EXPECT_EQ(machine.origin, "m.toml");
    ASSERT_EQ(machine.cores.size(), 3u);
    EXPECT_EQ(machine.cores[1].cpu, 1);
    EXPECT_EQ(machine.cores[1].kind, 0);
    EXPECT_EQ(machine.cores[2].cpu, 7);
    EXPECT_EQ(machine.cores[2].node, 1);
    EXPECT_EQ(machine.cores[2].gflops, 5.5);
    EXPECT_EQ(machine.kinds[1].peak_gflops, 6);
}

TEST(ParseMachine, NamesTheLineOfAnUnknownKeyAndTheNearestKnownOne)
{
    const std::string message = complaint(replaced(small, "peak_gflops = 6", "peak_gflop = 6"));
    EXPECT_THAT(message, HasSubstr("m.toml:7: "));
    EXPECT_THAT(message, HasSubstr("'peak_gflop'"));
    EXPECT_THAT(message, HasSubstr("did you mean 'peak_gflops'"));
}

TEST(ParseMachine, ExplainsDoubleBrackets)
{
    EXPECT_THAT(complaint("name = \"x\"\n[kinds]\nname = \"k\"\n"), HasSubstr("m.toml:2: kinds of the machine is"));
    EXPECT_THAT(complaint("name = \"x\"\nkinds = [1]\n"), HasSubstr("written [[kinds]]"));
}

TEST(ParseMachine, RefusesUnknownTables)
{
    EXPECT_THAT(complaint(small + "[[coers]]\nkind = \"slow\"\n"), HasSubstr("did you mean 'cores'"));
}

struct Mistake {
    const char* from;
    const char* to;
    const char* line;
    const char* message;
};

class ParseMachineMistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(ParseMachineMistakes, AreNamedWithTheirLine)
{
    const Mistake& mistake = GetParam();
    const std::string message = complaint(replaced(small, mistake.from, mistake.to));
    EXPECT_THAT(message, HasSubstr(std::string("m.toml:") + mistake.line + ": "));
    EXPECT_THAT(message, HasSubstr(mistake.message));
    EXPECT_EQ(message.find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    EachField, ParseMachineMistakes,
    ::testing::Values(Mistake{"name = \"small\"", "name = 3", "1", "must be a text in quotes"},
                      Mistake{"name = \"small\"", "", "1", "has no name"},
                      Mistake{"peak_gflops = 1.5", "peak_gflops = -1.5", "4", "0 or more"},
                      Mistake{"peak_gflops = 1.5", "peak_gflops = nan", "4", "finite"},
                      Mistake{"peak_gflops = 1.5", "peak_gflops = \"fast\"", "4", "is \"fast\"; it must be a finite number"},
                      Mistake{"peak_gflops = 1.5", "peak_gflops = 15", "7", "slowest kind first"},
                      Mistake{"bytes = 1073741824", "bytes = -1", "10", "0 or more"},
                      Mistake{"name = \"fast\"", "name = \"slow\"", "6", "names must differ"},
                      Mistake{"name = \"right\"", "name = \"left\"", "12", "names must differ"},
                      Mistake{"kind = \"slow\"", "kind = \"slaw\"", "14", "nearest is 'slow'"},
                      Mistake{"kind = \"slow\"", "", "13", "has no kind"},
                      Mistake{"node = \"left\"", "node = \"leftt\"", "15", "nearest is 'left'"},
                      Mistake{"node = \"left\"", "", "13", "has no node"}, Mistake{"count = 2", "count = 0", "16", "1 or more"},
                      Mistake{"count = 2", "count = 1.5", "16", "whole number"},
                      Mistake{"count = 2", "count = 99999999999", "16", "at most 1000000"},
                      Mistake{"cpu = 7", "cpu = 1", "20", "numbers must differ"},
                      Mistake{"cpu = 7", "cpu = 7\ncount = 2", "20", "both cpu and count"},
                      Mistake{"[[cores]]", "[cores]", "17", "'cores'"}, Mistake{"[[kinds]]", "[[kinds", "2", "not TOML"}));

TEST(ParseMachine, KnowsTheClassesOfFiguresAndWhatOneWasAdjustedTo)
{
    const auto with = [](const std::string& keys) {
        return complaint(small + "[[sources]]\nfigures = \"kinds.peak_gflops\"\n" + keys);
    };
    EXPECT_EQ(with("class = \"derived\"\n"), "no complaint");
    EXPECT_EQ(with("class = \"adjusted to a result\"\nresult = \"the total\"\n"), "no complaint");
    EXPECT_THAT(with("class = \"guessed\"\n"), HasSubstr("is 'guessed', but no class of figures has that name"));
    EXPECT_THAT(with("class = \"adjusted to a result\"\n"), HasSubstr("has no result"));
    EXPECT_THAT(with("class = \"derived\"\nresult = \"the total\"\n"), HasSubstr("only 'adjusted to a result' has one"));
}

TEST(ParseMachine, KnowsWhichFiguresThereAre)
{
    const auto of = [](const std::string& keys) {
        return complaint(small +
                         "[[links]]\nfrom = \"left\"\nto = \"right\"\nbandwidth = 1e10\nlatency = 0\n[[kernels]]\nkernel = "
                         "\"gemm\"\non = \"slow\"\ngflops = 1\n[[kernels]]\nkernel = \"gemm\"\n" +
                         "on = \"fast\"\ngflops = 4\n[[sources]]\nclass = \"derived\"\n" + keys);
    };
    EXPECT_EQ(of("figures = \"kinds.peak_gflops, nodes.bytes,cores.gflops , kernels.gflops\"\nkernels = \"gemm\"\n"),
              "no complaint");
    EXPECT_EQ(of("figures = \"name\"\n"), "no complaint");
    EXPECT_THAT(of("figures = \"kinds.peak_gflop\"\n"),
                HasSubstr("figures of [[sources]] number 1 is 'kinds.peak_gflop', but no figure of the file has that name; the "
                          "nearest is 'kinds.peak_gflops'"));
    EXPECT_THAT(of("figures = \"nodes.bytes, \"\n"), HasSubstr("figures of [[sources]] number 1 is ''"));
    EXPECT_THAT(of("figures = \"nodes.bytes,\"\n"), HasSubstr("figures of [[sources]] number 1 is ''"));
    EXPECT_THAT(of("figures = \"kernels.half_edge\"\n"), HasSubstr("no figure of the file"));
    EXPECT_THAT(of("figures = \"kernels.gflops\"\nkernels = \"gemm, trsm\"\n"),
                HasSubstr("is 'trsm', but no kernel of the file"));
}

TEST(ParseMachine, KnowsWhatFiguresWereBeforeTheyWereAdjusted)
{
    const auto entry = [](const char* table, const char* kernel, double gflops) {
        return fmt::format("[[{}]]\nkernel = \"{}\"\non = \"slow\"\ngflops = {}\n", table, kernel, gflops);
    };
    const std::string both = small + "[[links]]\nfrom = \"left\"\nto = \"right\"\nbandwidth = 1e10\nlatency = 0\n" +
                             entry("kernels", "gemm", 1) + entry("kernels", "trsm", 0.75);
    const Machine machine = parse_machine(both + entry("unadjusted", "gemm", 0.5), "m.toml");
    EXPECT_EQ(machine.kernels[0].gflops, 1);
    const Machine before = without_adjustments(machine);
    EXPECT_EQ(before.kernels[0].gflops, 0.5);
    EXPECT_EQ(before.kernels[1].gflops, 0.75);
    EXPECT_THAT(complaint(both + entry("unadjusted", "syrk", 1)), HasSubstr("'syrk' on 'slow', which [[kernels]] do not have"));
    EXPECT_THROW(without_adjustments(before.unadjusted.empty() ? before : parse_machine(both, "m.toml")), Error);
}

TEST(ParseMachine, KnowsKernelsThatWaitForMemoryAndHowMuchOfItIsUnderWay)
{
    const std::string links = "[[links]]\nfrom = \"left\"\nto = \"right\"\nbandwidth = 1e10\nlatency = 0\n";
    const std::string kernel = "[[kernels]]\nkernel = \"gemm\"\non = \"slow\"\ngflops = 1\nbound = \"memory\"\n";
    const Machine machine =
        parse_machine(replaced(small, "peak_gflops = 6", "peak_gflops = 6\nbytes_under_way = 640") + links + kernel, "m.toml");
    EXPECT_EQ(machine.kinds[1].bytes_under_way, 640);
    EXPECT_TRUE(machine.kernels[0].memory_bound);
    EXPECT_THAT(complaint(small + links + replaced(kernel, "memory", "caches")), HasSubstr("bound"));
    EXPECT_THAT(complaint(replaced(small, "peak_gflops = 6", "bytes_under_way = -1")), HasSubstr("0 or more"));
}

TEST(ParseMachine, SuggestsNothingThatIsFarFromWhatWasGiven)
{
    EXPECT_THAT(complaint(small + "[[qqqqqqqq]]\n"), Not(HasSubstr("did you mean")));
    EXPECT_THAT(complaint(replaced(small, "kind = \"slow\"", "kind = \"qqqqqq\"")), HasSubstr("the names are slow, "));
}

TEST(ParseMachine, AsksForEachPartThatAMachineCannotDoWithout)
{
    EXPECT_THAT(complaint("name = \"x\"\n"), HasSubstr("no [[kinds]]"));
    EXPECT_THAT(complaint("name = \"x\"\n[[kinds]]\nname = \"k\"\n"), HasSubstr("no [[nodes]]"));
    EXPECT_THAT(complaint("name = \"x\"\n[[kinds]]\nname = \"k\"\n[[nodes]]\nname = \"n\"\n"), HasSubstr("no [[cores]]"));
}

TEST(ParseMachine, NamesCachesOfCoresThatAreNotThere)
{
    EXPECT_THAT(complaint(small + "[[caches]]\nlevel = 2\nbytes = 1024\ncores = [0, 3]\n"), HasSubstr("numbers from 0 to 2"));
}

TEST(ParseMachine, NamesLinksToNowhere)
{
    const std::string link = "[[links]]\nfrom = \"left\"\nto = \"rigth\"\nbandwidth = 1e10\nlatency = 1e-6\n";
    EXPECT_THAT(complaint(small + link), HasSubstr("nearest is 'right'"));
    EXPECT_THAT(complaint(small + replaced(link, "rigth", "left")), HasSubstr("to itself"));
    EXPECT_THAT(complaint(small + replaced(replaced(link, "rigth", "right"), "1e10", "0")), HasSubstr("above 0"));
}

TEST(ParseMachine, KnowsGpusOnly)
{
    EXPECT_THAT(complaint(small + "[[devices]]\nname = \"d\"\nkind = \"tpu\"\nnode = \"left\"\n"), HasSubstr("'tpu'"));
}

void expect_same(Machine a, const Machine& b)
{
    a.origin = b.origin;
    EXPECT_EQ(machine_to_json(a), machine_to_json(b));
}

TEST(MachineToToml, IsReadBackAsTheSameMachine)
{
    Machine machine = parse_machine(small, "m.toml");
    machine.summary = "quotes \" and \\ and\ttabs";
    machine.caches = {{1, 32768, {0}}, {2, 3145728, {0, 1}}};
    machine.nodes[1].host = 1;
    machine.kinds[0].power = {{"turbo", 1, 0.5, 3.25}, {"nominal", 0.75, 0.25, 2}};
    machine.devices = {{"gpu0", "gpu", 1, 8e9, 9500.25}, {"gpu1", "gpu", 0, 0, 0, 0, {{"nominal", 1, 20, 250}}}};
    machine.junctions = {{"switch"}};
    machine.links = {{"left", "switch", 1.6e10, 8.1e-7},
                     {"switch", "gpu0", 1.6e10, 0},
                     {"gpu1", "switch", 1, 0},
                     {"right", "switch", 2e10, 0}};
    machine.kernels = {
        {"gemm", "slow", 0.1, 12.5}, {"gemm", "slow", 0.25, 0, 0, 's'}, {"gemm", "slow+fast", 1. / 3}, {"trsm", "gpu1", 400, 64}};
    machine.unadjusted = {{"gemm", "slow+fast", 0.5, 3}};
    machine.kernels[0].memory_bound = true;
    machine.kinds[1].bytes_under_way = 640;
    machine.models = {{"slow ones", "only they", {1, 0}}};
    machine.base_w = 7.75;
    expect_same(parse_machine(machine_to_toml(machine), "again"), machine);
}

TEST(MachineToToml, RoundTripsTheDiscoveredMachineWithItsMeasuredSpeeds)
{
    const TemporaryFolder folder;
    const WithVariable cache("XDG_CACHE_HOME", folder.path().string());
    Machine machine = discover_machine();
    measure_speed(machine);
    expect_same(parse_machine(machine_to_toml(machine), "again"), machine);
}

TEST(MachineToJson, IsOneLineAndSurvivesTextThatIsNotUtf8)
{
    Machine machine = parse_machine(small, "m.toml");
    machine.summary = "bad \xff byte";
    const std::string text = machine_to_json(machine);
    EXPECT_EQ(text.find('\n'), std::string::npos);
    EXPECT_THAT(text, HasSubstr("\"summary\":\"bad \xef\xbf\xbd byte\"")) << "U+FFFD stands for what is not UTF-8";
}

TEST(LoadMachine, ReadsEveryMachineThatIsInstalled)
{
    const auto names = described_machines();
    EXPECT_THAT(names, Contains("exynos5422"));
    EXPECT_THAT(names, Contains("laptop-pe"));
    for (const auto& name : names) {
        const Machine machine = load_machine(name);
        EXPECT_EQ(machine.name, name) << "the file's name and the machine's must agree";
        EXPECT_THAT(machine.origin, HasSubstr(name + ".toml"));
    }
}

TEST(LoadMachine, KnowsTheExynosOfTheAsymmetricSchedulingPaper)
{
    const Machine machine = load_machine("exynos5422");
    ASSERT_EQ(machine.cores.size(), 8u);
    ASSERT_EQ(machine.kinds.size(), 2u);
    EXPECT_EQ(machine.kinds[0].name, "cortex-a7");
    EXPECT_EQ(machine.kinds[1].name, "cortex-a15");
    EXPECT_EQ(machine.caches.back().bytes, 2 << 20);
    EXPECT_THAT(machine.caches.back().cores, ElementsAre(4, 5, 6, 7));
}

TEST(LoadMachine, SuggestsTheNearestName)
{
    try {
        load_machine("exinos5422");
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_argument);
        EXPECT_THAT(error.what(), HasSubstr("did you mean 'exynos5422'"));
    }
}

TEST(LoadMachine, TakesAPathAndNamesItWhenItCannotBeRead)
{
    const TemporaryFolder folder;
    EXPECT_EQ(load_machine(folder.write("m.toml", small)).name, "small");
    const std::pair<std::string, const char*> unreadable[] = {
        {(folder.path() / "absent.toml").string(), "cannot read '"},
        {folder.path().string(), "is a folder; a machine is"},
        {folder.path().string() + "/", "is a folder; a machine is"},
        {"/proc/self/mem", "cannot read '"}, // a plain file whose beginning nobody can read
        {folder.write("empty.toml", ""), "has no name"},
    };
    for (const auto& [path, said] : unreadable) {
        try {
            load_machine(path);
            FAIL() << path;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::bad_argument);
            EXPECT_THAT(error.what(), HasSubstr(path));
            EXPECT_THAT(error.what(), HasSubstr(said));
        }
    }
}

TEST(LoadMachine, TakesAFileOfAnyNameThatNoMachineHas)
{
    const TemporaryFolder folder;
    folder.write("mine.txt", small);
    folder.write("exynos5422", small);
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(folder.path());
    EXPECT_EQ(load_machine("mine.txt").name, "small");
    EXPECT_EQ(load_machine("exynos5422").name, "exynos5422");
    EXPECT_THROW(load_machine("."), Error);
    std::filesystem::current_path(before);
}

std::string refusal(const std::string& path)
{
    try {
        load_machine(path);
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing was refused";
}

TEST(LoadMachine, RefusesAPipeWhichCouldBeReadOnlyOnceAndADeviceWhichMayNeverEnd)
{
    const TemporaryFolder folder;
    const std::string pipe = (folder.path() / "m.toml").string();
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_THAT(refusal(pipe), HasSubstr("m.toml' is a pipe; a machine is read more than once, so give a plain file"));
    EXPECT_THAT(refusal("/dev/zero"), HasSubstr("'/dev/zero' is a device or a socket; a machine is read more than once"));
}

TEST(LoadMachine, RefusesAFileThatIsTooLargeForOne)
{
    const TemporaryFolder folder;
    const std::string file = folder.write("m.toml", small);
    std::filesystem::resize_file(file, (16 << 20) + 1);
    EXPECT_THAT(refusal(file), HasSubstr("m.toml' has 16777217 bytes; the TOML file of a machine has 16777216 at most"));
}

TEST(LoadMachine, LooksFirstInTheFoldersOfTheEnvironment)
{
    const TemporaryFolder folder;
    folder.write("mine.toml", replaced(small, "\"small\"", "\"mine\""));
    const WithVariable machines("TRENCADIS_MACHINES", "/nonexistent:" + folder.path().string());
    EXPECT_EQ(load_machine("mine").name, "mine");
    EXPECT_THAT(described_machines(), Contains("mine"));
}

} // namespace
} // namespace trencadis
