#include "glt/native/deque.hpp"
#include "glt/native/inbox.hpp"
#include "glt/native/ring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <thread>
#include <vector>

namespace trencadis::ult {
namespace {

struct Item {
    int number = 0;
    std::atomic<int> taken{0};
    Item* next = nullptr;
};

TEST(Deque, BehavesLikeASequentialOneWhenAlone)
{
    std::vector<Item> items(5000);
    std::mt19937 random(1);
    Deque<Item> deque;
    std::deque<Item*> oracle;
    std::size_t pushed = 0;
    for (int step = 0; step < 20'000; ++step) {
        const unsigned what = random() % 5;
        if (what < 2 && pushed < items.size()) {
            deque.push(&items[pushed]);
            oracle.push_back(&items[pushed++]);
        } else if (what < 4) {
            EXPECT_EQ(deque.newest(), oracle.empty() ? nullptr : oracle.back());
            Item* expected = oracle.empty() ? nullptr : oracle.back();
            if (expected) oracle.pop_back();
            ASSERT_EQ(deque.pop(), expected);
        } else {
            Item* expected = oracle.empty() ? nullptr : oracle.front();
            if (expected) oracle.pop_front();
            bool lost = false;
            ASSERT_EQ(deque.steal(lost), expected);
            EXPECT_FALSE(lost);
        }
        ASSERT_EQ(deque.empty(), oracle.empty());
    }
}

TEST(Deque, GivesEachItemToExactlyOneWhileThievesStealAndItGrows)
{
    constexpr int count = 100'000, thieves = 3;
    std::vector<Item> items(count);
    Deque<Item> deque;
    std::atomic<int> taken{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < thieves; ++t)
        threads.emplace_back([&] {
            while (taken.load(std::memory_order_relaxed) < count) {
                bool lost = false;
                if (Item* item = deque.steal(lost)) {
                    item->taken.fetch_add(1);
                    taken.fetch_add(1);
                } else {
                    std::this_thread::yield();
                }
            }
        });
    std::mt19937 random(2);
    // Runs of pushes and pops of random length, so that the race for the last item comes often.
    for (int pushed = 0; pushed < count;) {
        for (unsigned n = random() % (random() % 64 == 0 ? 2000 : 4); n-- > 0 && pushed < count;) deque.push(&items[pushed++]);
        for (unsigned n = random() % 4; n-- > 0;)
            if (Item* item = deque.pop()) {
                item->taken.fetch_add(1);
                taken.fetch_add(1);
            }
    }
    while (Item* item = deque.pop()) {
        item->taken.fetch_add(1);
        taken.fetch_add(1);
    }
    for (std::thread& thread : threads) thread.join();
    for (const Item& item : items) ASSERT_EQ(item.taken.load(), 1);
}

TEST(Deque, ThievesSeeTheItemsOldestFirst)
{
    std::vector<Item> items(50'000);
    for (std::size_t i = 0; i < items.size(); ++i) items[i].number = static_cast<int>(i);
    Deque<Item> deque;
    std::atomic<bool> done{false};
    std::thread thief([&] {
        int last = -1;
        while (!done.load() || !deque.empty()) {
            bool lost = false;
            if (Item* item = deque.steal(lost)) {
                EXPECT_GT(item->number, last);
                last = item->number;
            }
        }
    });
    for (Item& item : items) deque.push(&item);
    done = true;
    thief.join();
}

TEST(Ring, BehavesLikeASequentialQueue)
{
    std::vector<Item> items(4000);
    std::mt19937 random(3);
    Ring<Item> ring;
    std::deque<Item*> oracle;
    std::size_t pushed = 0;
    for (int step = 0; step < 20'000; ++step) {
        const unsigned what = random() % 8;
        if (what < 4 && pushed < items.size()) {
            ring.push(&items[pushed]);
            oracle.push_back(&items[pushed++]);
        } else if (what < 7) {
            Item* expected = oracle.empty() ? nullptr : oracle.front();
            if (expected) oracle.pop_front();
            ASSERT_EQ(ring.pop(), expected);
        } else {
            Item* wanted = &items[random() % items.size()];
            const auto found = std::find(oracle.begin(), oracle.end(), wanted);
            ASSERT_EQ(ring.remove(wanted), found != oracle.end());
            if (found != oracle.end()) oracle.erase(found);
        }
        ASSERT_EQ(ring.size(), oracle.size());
    }
}

TEST(Inbox, GivesEachItemOnceInTheOrderOfItsSender)
{
    constexpr int senders = 3, each = 20'000;
    std::vector<std::vector<Item>> items;
    for (int s = 0; s < senders; ++s) items.emplace_back(each);
    Inbox<Item> inbox;
    std::vector<std::thread> threads;
    for (int s = 0; s < senders; ++s)
        threads.emplace_back([&, s] {
            for (int i = 0; i < each; ++i) {
                items[s][i].number = s * each + i;
                inbox.push(&items[s][i]);
            }
        });
    int got = 0;
    std::vector<int> last(senders, -1);
    while (got < senders * each)
        for (Item *item = inbox.take_all(), *after; item; item = after, ++got) {
            after = item->next;
            const int sender = item->number / each;
            EXPECT_GT(item->number % each, last[sender]);
            last[sender] = item->number % each;
        }
    for (std::thread& thread : threads) thread.join();
    EXPECT_TRUE(inbox.empty());
}

} // namespace
} // namespace trencadis::ult
