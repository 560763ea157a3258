// [[hosts]] and [network] in machine descriptions: what is read, and what is refused how.
#include "base/error.hpp"
#include "machine/describe.hpp"
#include "machine/machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trencadis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const std::string head = "name = \"c\"\n[[kinds]]\nname = \"a\"\n[[kinds]]\nname = \"b\"\n";
const std::string hosts = "[[hosts]]\ncount = 3\ncores = 4\nkind = \"a\"\nbytes = 1e9\n[[hosts]]\ncores = 2\nkind = \"b\"\n";
const std::string tree = "[network]\nkind = \"fat-tree\"\ndown = [2, 3]\nup = [1, 2]\nbandwidth = 1e10\nlatency = 1e-6\n";
const std::string fly = "[network]\nkind = \"dragonfly\"\ngroups = 4\nchassis = 2\nrouters = 2\nrouter_hosts = 1\nglobal = 1\n"
                        "bandwidth = 1e10\nlatency = 1e-6\n";

std::string complaint(const std::string& text)
{
    try {
        parse_machine(text, "m.toml");
    } catch (const Error& error) {
        return error.what();
    }
    return "none";
}

std::string with(std::string text, const std::string& old, const std::string& now)
{
    text.replace(text.find(old), old.size(), now);
    return text;
}

TEST(ParseCluster, RepeatsHostsEachWithItsMemoryAndCores)
{
    const Machine machine = parse_machine(head + hosts + tree, "m.toml");
    ASSERT_THAT(machine.nodes, SizeIs(4));
    ASSERT_THAT(machine.cores, SizeIs(14));
    EXPECT_EQ(machine.nodes[2].name, "host2");
    EXPECT_EQ(machine.nodes[2].bytes, 1e9);
    EXPECT_EQ(machine.nodes[3].host, 3);
    EXPECT_EQ(machine.cores[11].node, 2);
    EXPECT_EQ(machine.cores[12].node, 3);
    EXPECT_EQ(machine.cores[12].kind, 1);
    EXPECT_EQ(machine.cores[13].cpu, 13);
    ASSERT_TRUE(machine.network);
    EXPECT_EQ(machine.network->places(), 6);
    EXPECT_THAT(machine.network->parallel, ElementsAre(1, 1));
    EXPECT_EQ(machine.network->streams, 1);
}

TEST(ParseCluster, ReadsWhatItWrites)
{
    const std::string dragonfly = with(fly, "global = 1\n", "group_links = 2\nstreams = 3\n");
    for (const std::string& network : {tree, dragonfly}) {
        const std::string text = machine_to_toml(parse_machine(head + hosts + network, "m.toml"));
        EXPECT_THAT(text, HasSubstr("count = 3\ncores = 4\nkind = \"a\"\n"));
        EXPECT_EQ(machine_to_toml(parse_machine(text, "again.toml")), text);
    }
}

TEST(ParseCluster, CutsToItsFirstHosts)
{
    const Machine machine = first_hosts(parse_machine("base_w = 8\n" + head + hosts + tree, "m.toml"), 2);
    EXPECT_THAT(machine.nodes, SizeIs(2));
    EXPECT_THAT(machine.cores, SizeIs(8));
    EXPECT_EQ(machine.base_w, 4);
}

TEST(ParseCluster, NamesAMistakeWithItsLine)
{
    const auto of_tree = [](const std::string& old, const std::string& now) {
        return complaint(head + hosts + with(tree, old, now));
    };
    const auto of_hosts = [](const std::string& old, const std::string& now) {
        return complaint(head + with(hosts, old, now) + tree);
    };
    EXPECT_THAT(complaint(head + hosts), HasSubstr("m.toml:6: [[hosts]] need a [network]"));
    EXPECT_THAT(complaint(head + tree), HasSubstr("m.toml:6: [network] joins [[hosts]], and there are none"));
    EXPECT_THAT(complaint("hosts = []\n" + head + tree), HasSubstr("m.toml:1: no [[hosts]]; a machine has at least one"));
    EXPECT_THAT(complaint(head + hosts + tree + "[[nodes]]\nname = \"ram\"\n"), HasSubstr("[[nodes]] beside [[hosts]]"));
    EXPECT_THAT(of_tree("[2, 3]", "[2]"), HasSubstr("up of [network] has 2 numbers and down has 1"));
    EXPECT_THAT(of_tree("[2, 3]", "[1, 3]"), HasSubstr("has 3 places and [[hosts]] are 4"));
    EXPECT_THAT(of_tree("[2, 3]", "[0, 3]"), HasSubstr("each 1 or more"));
    EXPECT_THAT(of_tree("[2, 3]", "6"), HasSubstr("a list of whole numbers"));
    EXPECT_THAT(of_tree("[2, 3]", "[30000, 30000]"), HasSubstr("more than"));
    EXPECT_THAT(of_tree("fat-tree", "fat-tre"), HasSubstr("the nearest is 'fat-tree'"));
    EXPECT_THAT(of_tree("1e10", "0"), HasSubstr("above 0"));
    EXPECT_THAT(of_tree("latency = 1e-6", "latency = -1"), HasSubstr("0 or more"));
    EXPECT_THAT(of_tree("latency = 1e-6", "latency = 1e-6\nstreams = 65"), HasSubstr("must be at most 64"));
    EXPECT_THAT(of_tree("latency = 1e-6", "latency = 1e-6\nupp = [1]"), HasSubstr("did you mean 'up'?"));
    EXPECT_THAT(of_hosts("count = 3", "count = 40000"), HasSubstr("more than 32767 hosts"));
    EXPECT_THAT(of_hosts("cores = 4", "cores = 400000"), HasSubstr("at most 1000000 cores"));
    EXPECT_THAT(of_hosts("cores = 4", "cores = 0"), HasSubstr("1 or more"));
    EXPECT_THAT(of_hosts("kind = \"a\"", "kind = \"c\""), HasSubstr("no [[kinds]] has that name"));
    EXPECT_THAT(complaint(head + hosts + fly), HasSubstr("no key 'global'"));
    EXPECT_THAT(complaint(head + hosts + with(fly, "groups = 4", "groups = 5")),
                HasSubstr("a group needs one router for each group"));
}

} // namespace
} // namespace trencadis
