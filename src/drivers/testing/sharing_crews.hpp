#pragma once
#include "drivers/testing/small_crew.hpp"
#include "graph/testing/both_ends.hpp"

#include <random>
#include <utility>
#include <vector>

namespace trencadis::testing {

template <Scalar T> std::vector<T> random_numbers(Index count)
{
    std::mt19937_64 generator(1);
    std::uniform_real_distribution<double> draw(-1, 1);
    std::vector<T> numbers(static_cast<std::size_t>(count));
    for (T& x : numbers) x = T(Real<T>(draw(generator)));
    return numbers;
}

/// Two workers who take part in what is shared; the caller does all of it.
class SharingCrew final : public SmallCrew {
public:
    struct Is {
        bool far = true, even = true, wary = false;
    };
    explicit SharingCrew(Is is) : SmallCrew(2), is_(is) {}
    bool can_share(Flops) override { return true; }
    bool share_out(Index chunks, const std::function<void(Team&)>& work, Flops flops) override
    {
        if (std::exchange(refuses_next, false)) return false;
        shared = chunks;
        asked.push_back(flops);
        SharedWork all(chunks, 1);
        Team alone(all);
        work(alone);
        return true;
    }
    std::int64_t line_ns() const override { return is_.far ? 184 : 15; }
    bool is_even() const override { return is_.even; }
    bool is_wary() const override { return is_.wary; }
    Index shared = 0;
    std::vector<Flops> asked; ///< for as many as are left of the call
    bool refuses_next = false;

private:
    const Is is_;
};

/// What of a call is shared by the caller and one who joins, both at once.
class TwoCrew final : public SmallCrew {
public:
    TwoCrew() : SmallCrew(2) {}
    bool can_share(Flops) override { return true; }
    bool is_wary() const override { return false; }
    bool share_out(Index chunks, const std::function<void(Team&)>& work, Flops) override
    {
        shared.push_back(chunks);
        testing::work_from_both_ends(chunks, work);
        return true;
    }
    std::vector<Index> shared;
};

} // namespace trencadis::testing
