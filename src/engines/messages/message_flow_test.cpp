#include "engines/messages/message_flow.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace trencadis {
namespace {

struct Nothing {
    int number;
};
constexpr Codelet nothing = codelet_of<Nothing>("nothing");

/// Keeps what arrives, in order.
class Listing final : public Flow {
public:
    struct Entry {
        const Codelet* codelet;
        int node;
        std::vector<Access> accesses;
    };
    std::vector<Entry> entries;

    void wait() override {}
    void cancel() override {}
    bool cancelled() const override { return false; }

private:
    void take(const Codelet& codelet, const Arguments&, std::span<const Access> accesses, const TaskOptions& options) override
    {
        entries.push_back({&codelet, options.node, {accesses.begin(), accesses.end()}});
    }
};

constexpr int hosts = 5, data = 12;
char memory[data];

Datum datum(int number)
{
    return Datum(&memory[number], 10.0 * (number + 1)).owned_by(static_cast<std::int16_t>(number * 7 % hosts));
}

/// Random tasks, each with one or two data that it writes and some that it reads.
std::vector<std::vector<Access>> random_tasks(unsigned seed)
{
    std::mt19937 random(seed);
    std::vector<std::vector<Access>> tasks(60);
    for (auto& task : tasks) {
        std::set<int> numbers;
        while (numbers.size() < 4) numbers.insert(int(random() % data));
        int written = 1 + int(random() % 2);
        for (const int number : numbers) {
            if (written-- > 0) task.push_back(random() % 4 ? readwrite(datum(number)) : write(datum(number)));
            else task.push_back(read(datum(number)));
        }
    }
    return tasks;
}

/// What hosts send by the rule alone, one task after the other: every host knows which version of each datum it has.
std::map<std::pair<int, int>, std::pair<int, Bytes>> sent_by_hand(const std::vector<std::vector<Access>>& tasks)
{
    std::map<std::pair<int, int>, std::pair<int, Bytes>> sent;
    std::map<const void*, int> version;
    std::map<std::pair<int, const void*>, int> has;
    const auto send = [&](int from, int to, const Datum& what) {
        ++sent[{from, to}].first;
        sent[{from, to}].second += what.bytes();
        has[{to, what.address}] = version[what.address];
    };
    for (const auto& task : tasks) {
        int host = -1;
        for (const Access& access : task)
            if (access.mode != AccessMode::read) host = access.datum.owner;
        for (const Access& access : task) {
            const auto mine = has.find({host, access.datum.address});
            const bool current =
                access.datum.owner == host || (mine != has.end() && mine->second == version[access.datum.address]);
            if (!current && access.mode != AccessMode::write) send(access.datum.owner, host, access.datum);
        }
        for (const Access& access : task) {
            if (access.mode == AccessMode::read) continue;
            ++version[access.datum.address];
            has[{host, access.datum.address}] = version[access.datum.address];
            if (access.datum.owner != host) send(host, access.datum.owner, access.datum);
        }
    }
    return sent;
}

TEST(MessageFlow, SendsEachVersionOnceToEachHostThatReadsIt)
{
    for (const unsigned seed : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u}) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const auto tasks = random_tasks(seed);
        Listing listing;
        HostBooks books(hosts);
        MessageFlow flow(listing, books);
        for (const auto& task : tasks) flow.submit(nothing, Nothing{0}, task);
        std::vector<HostCount> expected(hosts);
        for (const auto& [pair, sums] : sent_by_hand(tasks)) {
            expected[pair.first].messages_sent += sums.first;
            expected[pair.first].bytes_sent += sums.second;
            expected[pair.second].messages_received += sums.first;
            expected[pair.second].bytes_received += sums.second;
        }
        for (int host = 0; host < hosts; ++host) {
            EXPECT_EQ(books.hosts()[host].messages_sent, expected[host].messages_sent) << "host " << host;
            EXPECT_EQ(books.hosts()[host].messages_received, expected[host].messages_received) << "host " << host;
            EXPECT_EQ(books.hosts()[host].bytes_sent, expected[host].bytes_sent) << "host " << host;
            EXPECT_EQ(books.hosts()[host].bytes_received, expected[host].bytes_received) << "host " << host;
        }
    }
}

TEST(MessageFlow, RunsATaskWhereWhatItWritesIsAndNamesTheCopyThere)
{
    Listing listing;
    HostBooks books(hosts);
    MessageFlow flow(listing, books);
    const Datum here = datum(0), there = datum(1);
    ASSERT_NE(here.owner, there.owner);
    flow.submit(nothing, Nothing{0}, {read(there), readwrite(here)});
    ASSERT_EQ(listing.entries.size(), 2u);
    const auto &message = listing.entries[0], &task = listing.entries[1];
    EXPECT_EQ(message.codelet, &message_codelet);
    EXPECT_EQ(message.node, there.owner);
    EXPECT_EQ(message.accesses[0].datum.address, there.address);
    EXPECT_EQ(task.node, here.owner);
    EXPECT_EQ(task.accesses[0].datum.address, message.accesses[1].datum.address);
    EXPECT_EQ(task.accesses[1].datum.address, here.address);
}

TEST(HostBooks, FreesACopyAfterItsLastReader)
{
    HostBooks books(2);
    const Datum mine = Datum(&memory[0], 100).owned_by(0), yours = Datum(&memory[1], 30).owned_by(1);
    books.know(mine);
    books.know(yours);
    const auto first = books.add_copy(mine, 1);
    books.add_reader(first);
    books.begins(first);
    EXPECT_EQ(books.hosts()[1].copies, 100);
    books.used(first);
    EXPECT_EQ(books.hosts()[1].copies, 100) << "another reader may come";
    books.written(mine, 0);
    EXPECT_EQ(books.hosts()[1].copies, 0);
    const auto second = books.add_copy(mine, 1);
    books.add_reader(second);
    books.begins(second);
    books.complete();
    EXPECT_EQ(books.hosts()[1].copies, 100) << "its reader has not ended";
    books.used(second);
    EXPECT_EQ(books.hosts()[1].copies, 0);
    EXPECT_EQ(books.hosts()[1].peak, 130);
    EXPECT_EQ(books.hosts()[0].peak, 100);
}

} // namespace
} // namespace trencadis
