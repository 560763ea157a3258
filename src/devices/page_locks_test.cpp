#include "devices/page_locks.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <unistd.h>
#include <vector>

namespace trencadis::devices {
namespace {

/// A driver that knows pages by number: none is locked twice, and what is unlocked was locked so. Fails one in `fails_one_in`.
class Driver {
public:
    PageLocks::Driver functions()
    {
        return {[this](void* memory, std::size_t bytes) { return lock(memory, bytes); },
                [this](void* memory) { return unlock(memory); }};
    }
    bool has(std::uintptr_t address)
    {
        const std::lock_guard lock(mutex_);
        auto range = ranges_.upper_bound(address);
        return range != ranges_.begin() && (--range)->first + range->second > address;
    }
    std::size_t count()
    {
        const std::lock_guard lock(mutex_);
        return ranges_.size();
    }
    int fails_one_in = 0;
    bool refuses = false; ///< what others have locked, which here is no mistake

private:
    Status lock(void* memory, std::size_t bytes)
    {
        const auto begin = reinterpret_cast<std::uintptr_t>(memory);
        EXPECT_EQ(begin % std::size_t(sysconf(_SC_PAGESIZE)), 0u);
        const std::lock_guard lock(mutex_);
        if (fails_one_in && random_() % unsigned(fails_one_in) == 0) return {Fault::out_of_memory, "as it was told to"};
        const auto next = ranges_.lower_bound(begin);
        const bool apart = (next == ranges_.end() || next->first >= begin + bytes) &&
                           (next == ranges_.begin() || std::prev(next)->first + std::prev(next)->second <= begin);
        if (refuses && !apart) return {Fault::out_of_memory, "somebody else has it"};
        EXPECT_TRUE(next == ranges_.end() || next->first >= begin + bytes) << "locked twice";
        EXPECT_TRUE(next == ranges_.begin() || std::prev(next)->first + std::prev(next)->second <= begin) << "locked twice";
        ranges_.emplace(begin, bytes);
        return {};
    }
    Status unlock(void* memory)
    {
        const std::lock_guard lock(mutex_);
        EXPECT_EQ(ranges_.erase(reinterpret_cast<std::uintptr_t>(memory)), 1u) << "unlocked otherwise than it was locked";
        return {};
    }
    std::mutex mutex_;
    std::minstd_rand random_{7};
    std::map<std::uintptr_t, std::size_t> ranges_;
};

const std::uintptr_t page = std::uintptr_t(sysconf(_SC_PAGESIZE));
const void* at(std::uintptr_t address) { return reinterpret_cast<const void*>(address); } // NOLINT(performance-no-int-to-ptr)

struct Held {
    std::uintptr_t begin, bytes;
    PageLocks::Hold hold;
};

/// Holds and lets go at random, in 64 pages; what it holds is locked all the time.
void hold_at_random(PageLocks& locks, Driver& driver, unsigned seed, int rounds)
{
    std::mt19937 random(seed);
    std::vector<Held> held;
    for (int round = 0; round < rounds; ++round) {
        if (held.size() > 6 || (!held.empty() && random() % 2)) held.erase(held.begin() + std::ptrdiff_t(random() % held.size()));
        else {
            Held one{16 * page + random() % (64 * page), 1 + random() % (20 * page), {}};
            const bool known = random() % 4 == 0;
            bool is_held = true;
            if (known) one.hold = locks.hold_if_locked(at(one.begin), one.bytes);
            else is_held = locks.hold(at(one.begin), one.bytes, one.hold).ok();
            ASSERT_TRUE(known || is_held == bool(one.hold)) << "all of it, or nothing";
            if (one.hold) held.push_back(std::move(one));
        }
        for (const Held& one : held)
            for (std::uintptr_t address = one.begin; address < one.begin + one.bytes; address += page)
                ASSERT_TRUE(driver.has(address)) << "seed " << seed << ", round " << round;
    }
}

TEST(PageLocks, HoldWhatIsHeldByAnybodyAndNothingElse)
{
    for (const int fails_one_in : {0, 3})
        for (unsigned seed = 1; seed <= 20; ++seed) {
            Driver driver;
            driver.fails_one_in = fails_one_in;
            PageLocks locks(driver.functions());
            hold_at_random(locks, driver, seed, 300);
            EXPECT_EQ(driver.count(), 0u) << "seed " << seed;
            EXPECT_EQ(locks.bytes(), 0u);
        }
}

TEST(PageLocks, DoSoForThreadsThatKnowNothingOfEachOther)
{
    Driver driver;
    driver.fails_one_in = 5;
    PageLocks locks(driver.functions());
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t) threads.emplace_back([&, t] { hold_at_random(locks, driver, 100 + t, 1000); });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(driver.count(), 0u);
}

TEST(PageLocks, OfTwoMatricesInOnePageStayUntilBothAreLetGo)
{
    Driver driver;
    PageLocks locks(driver.functions());
    PageLocks::Hold first, second;
    ASSERT_TRUE(locks.hold(at(16 * page), page + 100, first).ok());
    ASSERT_TRUE(locks.hold(at(17 * page + 100), page, second).ok());
    EXPECT_EQ(locks.bytes(), 3 * page);
    EXPECT_TRUE(locks.hold_if_locked(at(16 * page + 5), page));
    EXPECT_FALSE(locks.hold_if_locked(at(17 * page), page + 100)) << "a copy over two pieces is none for a driver";
    first.let_go();
    EXPECT_TRUE(driver.has(17 * page + 200)) << "the second one's";
    EXPECT_TRUE(driver.has(16 * page)) << "of the same piece";
    second.let_go();
    EXPECT_EQ(driver.count(), 0u);
}

TEST(PageLocks, OfAnotherListWithAsMuchInCommonAreSeenForACopyAndUnlockedByWhoeverIsLast)
{
    Driver driver;
    const int common = 0, other = 0;
    auto owner = std::make_unique<PageLocks>(driver.functions(), &common);
    PageLocks list(driver.functions(), &common), stranger(driver.functions(), &other), alone(driver.functions());
    PageLocks::Hold hold;
    ASSERT_TRUE(owner->hold(at(16 * page), 2 * page, hold).ok());
    EXPECT_FALSE(stranger.hold_if_locked(at(16 * page), page));
    EXPECT_FALSE(alone.hold_if_locked(at(16 * page), page));
    EXPECT_FALSE(list.hold_if_locked(at(17 * page), 2 * page)) << "not all of it";
    PageLocks::Hold copy = list.hold_if_locked(at(16 * page + 8), page);
    ASSERT_TRUE(copy);
    EXPECT_EQ(list.bytes(), 0u) << "it is not its own";
    hold.let_go();
    EXPECT_TRUE(driver.has(16 * page)) << "a copy is under way";
    std::atomic<bool> gone{false};
    std::thread end([&] {
        owner = nullptr;
        gone = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(gone) << "it is to unlock them";
    EXPECT_TRUE(driver.has(16 * page));
    copy.let_go();
    end.join();
    EXPECT_EQ(driver.count(), 0u);
    EXPECT_FALSE(list.hold_if_locked(at(16 * page), page));
}

TEST(PageLocks, OfListsThatComeAndGoAreLockedWhileSomebodyCopies)
{
    Driver driver;
    driver.refuses = true;
    const int common = 0;
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (unsigned round = 0; round < 20; ++round) {
                PageLocks locks(driver.functions(), &common);
                hold_at_random(locks, driver, 1000 * t + round, 50);
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(driver.count(), 0u);
}

TEST(PageLocks, AreNoneForMemoryThatIsNone)
{
    Driver driver;
    PageLocks locks(driver.functions());
    PageLocks::Hold hold;
    EXPECT_EQ(locks.hold(nullptr, 10, hold).fault, Fault::bad_argument);
    EXPECT_EQ(locks.hold(at(page), 0, hold).fault, Fault::bad_argument);
    EXPECT_EQ(locks.hold(at(UINTPTR_MAX - 10), 100, hold).fault, Fault::bad_argument);
    EXPECT_FALSE(hold);
}

} // namespace
} // namespace trencadis::devices
