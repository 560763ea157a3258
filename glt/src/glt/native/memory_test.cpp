#include "glt/native/slots.hpp"
#include "glt/native/stacks.hpp"
#include "glt/native/timer_heap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace trencadis::ult {
namespace {

struct Timed {
    std::int64_t deadline = 0;
    std::uint32_t heap_place = 0;
};

TEST(TimerHeap, BehavesLikeASortedList)
{
    std::mt19937 random(5);
    std::vector<Timed> items(300);
    TimerHeap<Timed> heap;
    std::multimap<std::int64_t, Timed*> oracle;
    for (int step = 0; step < 30'000; ++step) {
        Timed& item = items[random() % items.size()];
        const auto its = std::find_if(oracle.begin(), oracle.end(), [&](auto& entry) { return entry.second == &item; });
        if (its != oracle.end()) {
            heap.remove(&item);
            heap.remove(&item); // a second time is nothing
            oracle.erase(its);
        } else if (random() % 3 != 0) {
            item.deadline = static_cast<std::int64_t>(random() % 1000);
            heap.insert(&item);
            oracle.emplace(item.deadline, &item);
        } else {
            const auto now = static_cast<std::int64_t>(random() % 200);
            while (Timed* due = heap.pop_due(now)) {
                ASSERT_EQ(due->deadline, oracle.begin()->first) << "the earliest first";
                ASSERT_LE(due->deadline, now);
                ASSERT_EQ(due->heap_place, 0u);
                oracle.erase(std::find_if(oracle.begin(), oracle.end(), [&](auto& entry) { return entry.second == due; }));
            }
            ASSERT_TRUE(oracle.empty() || oracle.begin()->first > now);
        }
        ASSERT_EQ(heap.earliest(), oracle.empty() ? TimerHeap<Timed>::never : oracle.begin()->first);
    }
}

/// A range of its own, on the heap because it is never given back.
Slots& fresh_slots()
{
    auto* slots = new Slots; // NOLINT: as the process's own, it lives for ever
    static std::vector<std::unique_ptr<Slots>> kept;
    kept.emplace_back(slots);
    EXPECT_TRUE(slots->reserve());
    return *slots;
}

Slot* make(Slots& slots, SlotCache& cache, Kind kind)
{
    Slot* slot = slots.take(cache);
    slot->tag.store((slot->tag.load() & 0xffff0000u) | static_cast<std::uint32_t>(kind));
    return slot;
}

TEST(Slots, KnowAHandleUntilItIsFreedAndNoOther)
{
    Slots& slots = fresh_slots();
    SlotCache cache;
    Slot* slot = make(slots, cache, Kind::ult);
    const std::uint64_t handle = slot->handle();
    EXPECT_EQ(slots.find(handle, Kind::ult), slot);
    EXPECT_EQ(slots.find(handle, Kind::mutex), nullptr) << "of another kind";
    EXPECT_EQ(slots.find(0, Kind::ult), nullptr);
    EXPECT_EQ(slots.find(handle + 8, Kind::ult), nullptr) << "inside a slot";
    EXPECT_EQ(slots.find(~std::uint64_t{0}, Kind::ult), nullptr);
    EXPECT_EQ(slots.find(reinterpret_cast<std::uint64_t>(&cache), Kind::ult), nullptr) << "somewhere else";
    EXPECT_TRUE(Slots::end(slot));
    EXPECT_FALSE(Slots::end(slot)) << "ended already";
    slots.give(cache, slot);
    EXPECT_EQ(slots.find(handle, Kind::ult), nullptr);
    Slot* again = make(slots, cache, Kind::ult);
    ASSERT_EQ(again, slot) << "the last one given back is the first one taken";
    EXPECT_NE(again->handle(), handle);
    EXPECT_EQ(slots.find(handle, Kind::ult), nullptr) << "the old handle does not name the successor";
    slots.clear();
    EXPECT_EQ(slots.find(again->handle(), Kind::ult), nullptr) << "nothing is left after the end";
}

TEST(Slots, AreNeverGivenTwiceWhenThreadsTakeAndGiveAnothersSlots)
{
    Slots& slots = fresh_slots();
    constexpr int threads = 3, rounds = 300, each = 100;
    std::vector<std::thread> running;
    std::vector<std::vector<Slot*>> handed(threads);
    std::vector<SlotCache> caches(threads);
    for (int round = 0; round < rounds; ++round) {
        running.clear();
        for (int t = 0; t < threads; ++t)
            running.emplace_back([&, t] {
                // Gives back what the neighbour took, takes as many again.
                std::vector<Slot*>& mine = handed[t];
                for (Slot* slot : mine) {
                    EXPECT_TRUE(Slots::end(slot));
                    slots.give(caches[t], slot);
                }
                mine.clear();
                for (int i = 0; i < each * (t + 1); ++i) mine.push_back(make(slots, caches[t], Kind::event));
            });
        for (std::thread& thread : running) thread.join();
        std::set<Slot*> all;
        for (const auto& some : handed) all.insert(some.begin(), some.end());
        ASSERT_EQ(all.size(), static_cast<std::size_t>(each * (1 + 2 + 3)));
        std::rotate(handed.begin(), handed.begin() + 1, handed.end());
    }
    slots.clear();
}

TEST(Stacks, HaveTheSizeAskedForAndAreAllUnmappedAtTheEnd)
{
    Stacks stacks;
    StackCache cache;
    EXPECT_EQ(stack_class_of(1), 0u);
    EXPECT_EQ(stack_class_of(16384), 0u);
    EXPECT_EQ(stack_class_of(16385), 1u);
    EXPECT_EQ(stack_class_of(65536), 2u);
    EXPECT_EQ(stack_class_of(std::size_t{1} << 30), stack_classes - 1);
    for (unsigned size_class : {0u, 2u, 6u}) {
        Stack* stack = stacks.take(cache, size_class);
        ASSERT_NE(stack, nullptr);
        EXPECT_GE(stack->top() - stack->bottom(), static_cast<std::ptrdiff_t>(stack_class_size(size_class)));
        EXPECT_TRUE(stack->guarded);
        std::memset(stack->bottom(), 1, 4096); // down to the guard page, all can be written
        stacks.give(cache, stack);
        EXPECT_EQ(stacks.take(cache, size_class), stack) << "the warm one first";
    }
    EXPECT_EQ(stacks.mapped(), 3u);
    stacks.clear();
    EXPECT_EQ(stacks.mapped(), 0u);
}

TEST(Stacks, KeepSomeAndGiveTheRestToTheSystem)
{
    Stacks stacks;
    StackCache cache;
    constexpr unsigned large = 10; // 16 MiB each
    std::vector<Stack*> taken;
    std::set<Stack*> different;
    for (int i = 0; i < 300; ++i) {
        taken.push_back(stacks.take(cache, large));
        ASSERT_NE(taken.back(), nullptr);
        different.insert(taken.back());
    }
    EXPECT_EQ(different.size(), taken.size());
    for (Stack* stack : taken) stacks.give(cache, stack);
    EXPECT_LT(stacks.mapped(), 200u) << "a cache has a bound";
    EXPECT_GT(stacks.mapped(), 0u);
    stacks.clear();
}

} // namespace
} // namespace trencadis::ult
