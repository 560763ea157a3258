#include "engines/starpu/bottom_levels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trencadis {
namespace {

struct Work {
    double amount;
    void run(TaskContext&) {}
    Flops flops() const { return amount; }
};
constexpr Codelet work = codelet_of<Work>("work");

/// Of tasks that nobody runs.
class Nowhere final : public OwnFlow {
public:
    Nowhere(const Home& home) : OwnFlow(home, {}) {}

private:
    void hand_over(std::unique_ptr<OwnTask>) override {}
    void await_all() override {}
};

class Tasks {
public:
    void add(double flops, std::initializer_list<Access> accesses)
    {
        Work args{flops};
        const auto copy = [](void* to, void* from) { new (to) Work(*static_cast<Work*>(from)); };
        tasks_.push_back(std::make_unique<OwnTask>(flow_, tasks_.size(), work, Flow::Arguments{&args, sizeof args, copy},
                                                   std::span<const Access>(accesses.begin(), accesses.size()), TaskOptions{}));
    }
    std::vector<double> levels() const { return bottom_levels(tasks_, 2); }

private:
    WorkerBooks books_{{}};
    Nowhere flow_{{"engine 'none'", {}, books_}};
    std::vector<std::unique_ptr<OwnTask>> tasks_;
};

TEST(BottomLevelsOfStarpu, AreTheLongestWayToTheEnd)
{
    double a = 0, b = 0;
    Tasks tasks;
    tasks.add(2, {write(&a)});               // before both readers
    tasks.add(20, {read(&a)});               // in the way of the last one
    tasks.add(4, {read(&a), readwrite(&b)}); // likewise
    tasks.add(6, {readwrite(&a)});
    tasks.add(8, {read(&b)});
    EXPECT_THAT(tasks.levels(), ::testing::ElementsAre(14, 13, 6, 3, 4));
}

TEST(BottomLevelsOfStarpu, TakeReadersOfOneDatumForIndependent)
{
    double a = 0;
    Tasks tasks;
    for (const double flops : {2, 4, 6}) tasks.add(flops, {read(&a)});
    EXPECT_THAT(tasks.levels(), ::testing::ElementsAre(1, 2, 3));
}

TEST(BottomLevelsOfStarpu, CountADatumOnceThatIsNamedTwice)
{
    double a = 0;
    Tasks tasks;
    tasks.add(2, {read(&a), write(&a)});
    tasks.add(2, {read(&a), read(&a)});
    EXPECT_THAT(tasks.levels(), ::testing::ElementsAre(2, 1));
}

} // namespace
} // namespace trencadis
