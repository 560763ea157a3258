// Devices, links, kernels, power and execution models in machine descriptions: what is read, and what is refused how.
#include "machine/describe.hpp"

#include "base/error.hpp"
#include "machine/machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trencadis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const std::string full = R"(name = "full"
base_w = 50
kernels = [
    { kernel = "gemm", on = "big", gflops = 20, half_edge = 16 },
    { kernel = "gemm", on = "little", ms = 200, flops = 1e9 },
    { kernel = "gemm", on = "big+little", gflops = 24 },
    { kernel = "gemm", on = "gpu", gflops = 300 },
    { kernel = "trsm", on = "gpu1", gflops = 100 },
]
[[kinds]]
name = "little"
peak_gflops = 6
[[kinds]]
name = "big"
peak_gflops = 25
[[kinds.power]]
name = "turbo"
idle_w = 2
busy_w = 20
[[kinds.power]]
name = "nominal"
speed = 0.8
idle_w = 1
busy_w = 12
[[nodes]]
name = "left"
[[nodes]]
name = "right"
host = 1
[[cores]]
kind = "little"
node = "left"
count = 4
[[cores]]
kind = "big"
node = "right"
count = 4
[[caches]]
level = 1
bytes = 32768
cores = "0-3,6"
each = 1
[[devices]]
name = "gpu"
kind = "gpu"
node = "left"
count = 2
bytes = 3e9
host_core = 1
[[devices]]
name = "gpu"
kind = "gpu"
node = "right"
count = 1
[[junctions]]
name = "switch"
[[links]]
from = "left"
to = "switch"
bandwidth = 6e9
latency = 1e-6
[[links]]
from = "gpu0"
to = "switch"
bandwidth = 6e9
latency = 1e-6
[[links]]
from = "gpu1"
to = "switch"
bandwidth = 6e9
latency = 1e-6
[[links]]
from = "right"
to = "switch"
bandwidth = 6e9
latency = 1e-6
[[links]]
from = "gpu2"
to = "right"
bandwidth = 6e9
latency = 1e-6
[[models]]
name = "big only"
cores = [4, 5, 6, 7]
)";

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

TEST(ParseMachine, CountsDevicesOnAndGivesEachItsCore)
{
    const Machine machine = parse_machine(full, "m.toml");
    ASSERT_THAT(machine.devices, SizeIs(3));
    EXPECT_EQ(machine.devices[0].name, "gpu0");
    EXPECT_EQ(machine.devices[1].name, "gpu1");
    EXPECT_EQ(machine.devices[2].name, "gpu2");
    EXPECT_EQ(machine.devices[0].host_core, 1);
    EXPECT_EQ(machine.devices[1].host_core, 2);
    EXPECT_EQ(machine.devices[2].host_core, -1);
    EXPECT_EQ(machine.devices[1].bytes, 3e9);
    EXPECT_EQ(machine.devices[2].node, 1);
    EXPECT_EQ(machine.nodes[1].host, 1);
    EXPECT_EQ(machine.base_w, 50);
}

TEST(ParseMachine, ReadsCoresAsRangesAndSharesCaches)
{
    const Machine machine = parse_machine(full, "m.toml");
    ASSERT_THAT(machine.caches, SizeIs(5));
    EXPECT_THAT(machine.caches[4].cores, ElementsAre(6));
    const Machine pairs = parse_machine(replaced(full, "\"0-3,6\"\neach = 1", "\"0-5\"\neach = 2"), "m.toml");
    ASSERT_THAT(pairs.caches, SizeIs(3));
    EXPECT_THAT(pairs.caches[1].cores, ElementsAre(2, 3));
}

TEST(ParseMachine, ReadsPowerFastestFirst)
{
    const Machine machine = parse_machine(full, "m.toml");
    ASSERT_THAT(machine.kinds[1].power, SizeIs(2));
    EXPECT_EQ(machine.kinds[1].power[0].speed, 1);
    EXPECT_EQ(machine.kinds[1].power[1].speed, 0.8);
    EXPECT_EQ(machine.kinds[1].power[1].busy_w, 12);
    EXPECT_THAT(machine.kinds[0].power, SizeIs(0));
}

TEST(ParseMachine, TurnsAKnownTimeIntoTheRateThatGivesIt)
{
    const Machine machine = parse_machine(full, "m.toml");
    EXPECT_DOUBLE_EQ(machine.kernels[1].gflops, 5);
    EXPECT_EQ(machine.kernels[1].line, 5);
    const Machine curved = parse_machine(replaced(full, "flops = 1e9", "flops = 1e9, half_edge = 40"), "m.toml");
    EXPECT_NEAR(curved.kernels[1].time(1e9), 0.2, 1e-12);
    EXPECT_GT(curved.kernels[1].gflops, 5);
    EXPECT_GT(curved.kernels[1].time(1e6) / 1e6, curved.kernels[1].time(1e9) / 1e9) << "small tiles are less efficient";
    EXPECT_EQ(curved.kernels[1].time(0), 0);
}

TEST(ParseMachine, TellsPrecisionsApartWhereADescriptionDoes)
{
    const std::string more = "{ kernel = \"gemm\", on = \"big\", gflops = 20, half_edge = 16 },";
    const auto with = [&](const std::string& precision) {
        return replaced(full, more,
                        more + " { kernel = \"gemm\", on = \"big\", gflops = 40, precision = \"" + precision + "\" },");
    };
    const Machine machine = parse_machine(with("s"), "m.toml");
    EXPECT_EQ(machine.kernels[0].precision, 0);
    EXPECT_EQ(machine.kernels[1].precision, 's');
    EXPECT_THROW(parse_machine(with("d"), "m.toml"), Error) << "which the entry before is already";
}

TEST(ParseMachine, WritesTeamsInTheOrderOfTheKinds) { EXPECT_EQ(parse_machine(full, "m.toml").kernels[2].on, "little+big"); }

TEST(KernelTime, HalfTheRateIsReachedAtHalfEdge)
{
    const KernelTime kernel{"gemm", "core", 10, 50};
    const Flops at_half = 2 * 50. * 50 * 50;
    EXPECT_NEAR(kernel.time(at_half), 2 * at_half / 10e9, 1e-15);
}

struct Mistake {
    const char* from;
    const char* to;
    const char* line;
    const char* message;
};

class ParseMachinePartsMistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(ParseMachinePartsMistakes, AreNamedWithTheirLine)
{
    const Mistake& mistake = GetParam();
    const std::string message = complaint(replaced(full, mistake.from, mistake.to));
    EXPECT_THAT(message, HasSubstr(std::string("m.toml:") + mistake.line + ": "));
    EXPECT_THAT(message, HasSubstr(mistake.message));
    EXPECT_EQ(message.find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, ParseMachinePartsMistakes,
    ::testing::Values(Mistake{"gflops = 20", "gflop = 20", "4", "did you mean 'gflops'"},
                      Mistake{"gflops = 20", "gflops = -20", "4", "is -20; it must be a finite number, above 0"},
                      Mistake{"gflops = 20", "gflops = 0", "4", "above 0"}, Mistake{"gflops = 20, ", "", "4", "has no speed"},
                      Mistake{"gflops = 20", "gflops = 20, ms = 3, flops = 3", "4", "both gflops and ms"},
                      Mistake{"flops = 1e9", "half_edge = 1", "5", "has no flops"}, Mistake{"ms = 200", "ms = 0", "5", "above 0"},
                      Mistake{"half_edge = 16", "half_edge = -16", "4", "0 or more"},
                      Mistake{"gflops = 20", "gflops = 20, precision = \"q\"", "4", "precision"},
                      Mistake{"kernel = \"gemm\"", "kernel = \"\"", "4", "not empty"},
                      Mistake{"on = \"big\"", "on = \"bigg\"", "4", "nearest is 'big'"},
                      Mistake{"on = \"big+little\"", "on = \"big+gpu0\"", "6", "'gpu0' is not the name of [[kinds]]"},
                      Mistake{"on = \"big+little\"", "on = \"big+\"", "6", "'' is not the name of [[kinds]]"},
                      Mistake{"on = \"big+little\"", "on = \"big\"", "6", "which line 4 gives already"},
                      Mistake{"on = \"gpu1\"", "on = \"gpu3\"", "8", "no [[kinds]] or [[devices]] has that name"}));

INSTANTIATE_TEST_SUITE_P(Power, ParseMachinePartsMistakes,
                         ::testing::Values(Mistake{"base_w = 50", "base_w = -1", "2", "0 or more"},
                                           Mistake{"name = \"nominal\"", "name = \"turbo\"", "21", "names must differ"},
                                           Mistake{"speed = 0.8", "speed = 1.2", "22", "list the fastest first"},
                                           Mistake{"speed = 0.8", "speed = 0", "22", "above 0"},
                                           Mistake{"name = \"turbo\"", "name = \"turbo\"\nspeed = 2", "18",
                                                   "the first state is the one that others are measured by"},
                                           Mistake{"busy_w = 12", "busy_w = 21", "24", "a slower state must not draw more"},
                                           Mistake{"busy_w = 12", "busy_w = 0.5", "24", "busy must not be less"},
                                           Mistake{"busy_w = 12", "busy_w = 12\npoll_w = 13", "25",
                                                   "between idle, 1 W, and busy, 12 W"},
                                           Mistake{"busy_w = 12", "busy_w = 12\npoll_w = 0.5", "25", "while it looks for work"},
                                           Mistake{"name = \"left\"", "name = \"left\"\nmemory_w = -1", "27", "0 or more"},
                                           Mistake{"busy_w = 12", "", "20", "has no busy_w"}));

INSTANTIATE_TEST_SUITE_P(DevicesAndLinks, ParseMachinePartsMistakes,
                         ::testing::Values(Mistake{"count = 2\nbytes", "count = 0\nbytes", "47", "1 or more"},
                                           Mistake{"count = 2\nbytes", "count = 300\nbytes", "47", "at most 256 devices"},
                                           Mistake{"count = 2\nbytes", "number = 2\nbytes", "47", "no key 'number'"},
                                           Mistake{"name = \"gpu\"\nkind = \"gpu\"\nnode = \"right\"\ncount = 1",
                                                   "name = \"left\"\nkind = \"gpu\"\nnode = \"right\"", "51",
                                                   "names must differ"},
                                           Mistake{"host_core = 1", "host_core = 8", "49", "cores are 0 to 7"},
                                           Mistake{"host_core = 1", "host_core = -1", "49", "0 or more"},
                                           Mistake{"host_core = 1", "host_core = 4", "49", "of another host"},
                                           Mistake{"node = \"right\"\ncount = 1", "node = \"left\"\nhost_core = 2", "54",
                                                   "drives 'gpu1'; each device needs a core of its own"},
                                           Mistake{"name = \"switch\"", "name = \"left\"", "56", "names must differ"},
                                           Mistake{"to = \"switch\"", "to = \"swich\"", "59", "nearest is 'switch'"},
                                           Mistake{"bandwidth = 6e9", "bandwidth = 0", "60", "above 0"},
                                           Mistake{"bandwidth = 6e9", "bandwidth = -1", "60", "above 0"},
                                           Mistake{"latency = 1e-6", "latency = 1e-6\nback = -1", "62", "0 or more"},
                                           Mistake{"latency = 1e-6", "latency = inf", "61", "finite"},
                                           Mistake{"from = \"gpu1\"\nto = \"switch\"", "from = \"switch\"\nto = \"gpu0\"", "69",
                                                   "like one before it"}));

INSTANTIATE_TEST_SUITE_P(CachesAndModels, ParseMachinePartsMistakes,
                         ::testing::Values(Mistake{"\"0-3,6\"", "\"0-3,8\"", "41", "different numbers from 0 to 7"},
                                           Mistake{"\"0-3,6\"", "\"0-3,3\"", "41", "different numbers"},
                                           Mistake{"\"0-3,6\"", "\"3-0\"", "41", "different numbers"},
                                           Mistake{"\"0-3,6\"", "\"0-3,\"", "41", "different numbers"},
                                           Mistake{"\"0-3,6\"", "\"0-99999999999\"", "41", "different numbers"},
                                           Mistake{"\"0-3,6\"", "\"2147483647\"", "41", "different numbers"},
                                           Mistake{"each = 1", "each = 2", "42", "divide them evenly"},
                                           Mistake{"cores = [4, 5, 6, 7]", "cores = [4, 8]", "84", "from 0 to 7"},
                                           Mistake{"cores = [4, 5, 6, 7]", "cores = []", "84", "from 0 to 7"},
                                           Mistake{"cores = [4, 5, 6, 7]", "", "82", "has no cores"}));

TEST(ParseMachine, ComplainsOnOneLineWhateverANameHolds)
{
    const std::string message = complaint(replaced(full, "to = \"switch\"", "to = \"swi\\ntch\""));
    EXPECT_THAT(message, HasSubstr("'swi?tch'"));
    EXPECT_EQ(message.find('\n'), message.npos);
}

TEST(ParseMachine, NamesAMemoryThatNoLinkLeadsTo)
{
    EXPECT_THAT(complaint(replaced(full, "from = \"gpu2\"\nto = \"right\"", "from = \"left\"\nto = \"right\"")),
                HasSubstr("no [[links]] lead from 'left' to 'gpu2'; add one"));
}

TEST(ParseMachine, DoesNotAskForLinksWhenNothingIsSaidThatNeedsThem)
{
    EXPECT_EQ(
        complaint(
            "name = \"x\"\n[[kinds]]\nname = \"k\"\n[[nodes]]\nname = \"a\"\n[[nodes]]\nname = \"b\"\n[[cores]]\nkind = \"k\"\n"
            "node = \"a\"\n"),
        "no complaint");
}

TEST(CoresOfModel, AreThoseThatAreAwake)
{
    const Machine machine = parse_machine(full, "m.toml");
    EXPECT_THAT(cores_of_model(machine, "big only"), ElementsAre(4, 5, 6, 7));
    EXPECT_THAT(cores_of_model(machine, ""), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
    try {
        cores_of_model(machine, "big onyl");
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("did you mean 'big only'"));
    }
}

TEST(CoresOfModel, SaysWhenAMachineHasNone)
{
    Machine machine = parse_machine(full, "m.toml");
    machine.models.clear();
    try {
        cores_of_model(machine, "global");
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("full has no execution model 'global'"));
    }
}

} // namespace
} // namespace trencadis
