#include "blas/factorizations/look_ahead.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace trencadis::blas {
namespace {

/// Counts which panels each column has been updated by, and looks that they come in their order.
struct Counted {
    static constexpr Flops to_begin = 1e5;

    Index n;
    std::vector<Index> updates_of = std::vector<Index>(std::size_t(n)), begins = {}, narrow = {};

    void factor(Panel p)
    {
        for (Index c = p.begin; c < p.end; ++c) EXPECT_EQ(updates_of[std::size_t(c)], number(p)) << "column " << c;
        begins.push_back(p.begin);
    }
    void update(Panel p, Panel columns)
    {
        EXPECT_LE(p.end, columns.begin);
        EXPECT_LT(columns.begin, columns.end);
        EXPECT_LE(columns.end, n);
        EXPECT_LT(number(p), Index(begins.size())) << "not factored yet";
        if (columns.width() < LookAhead<Counted>::unit && columns.width() < n - p.end) narrow.push_back(columns.begin);
        for (Index c = columns.begin; c < columns.end; ++c) EXPECT_EQ(updates_of[std::size_t(c)]++, number(p)) << "column " << c;
    }
    Index slice(Panel) const { return 16; }
    Flops updates(Panel, Index first) const { return 1e5 * double(n - first); }
    Flops panel(Panel) const { return 1e6; }
    Flops all_from(Index j) const { return 1e6 * double(n - j); }
    Bytes bytes(Panel) const { return 1e5; }
    Bytes columns(Index first) const { return 1e4 * double(n - first); }

    static constexpr Index width = 40;
    static Index number(Panel p) { return p.begin / width; }
};

/// One after the other, whichever is first.
Helpers one_after_the_other(bool caller_first)
{
    const auto share = [=](Index chunks, Flops, const std::function<void(Team&)>& work) {
        SharedWork all(chunks);
        Team caller(all), other(all, nullptr, 1, true);
        work(caller_first ? caller : other);
        work(caller_first ? other : caller);
        return true;
    };
    return {2, share, 0, 1};
}

/// Every column by all panels in front of it.
void expect_all(Index n, Index k, Index together, const Helpers& helpers)
{
    SCOPED_TRACE("n " + std::to_string(n) + ", k " + std::to_string(k) + ", together " + std::to_string(together));
    Counted panels{n};
    LookAhead<Counted> steps(panels, n, k, Counted::width, LookAhead<Counted>::unit, together, helpers);
    EXPECT_EQ(steps.is_shared(), helpers.share != nullptr);
    steps.factor();
    std::vector<Index> begins, updates_of(std::size_t(n), 0);
    steps.for_each_panel([&](Panel p) {
        begins.push_back(p.begin);
        for (Index c = p.end; c < n; ++c) ++updates_of[std::size_t(c)];
    });
    EXPECT_EQ(panels.begins, begins);
    EXPECT_EQ(panels.updates_of, updates_of);
    EXPECT_TRUE(panels.narrow.empty()) << "column " << panels.narrow.front();
}

TEST(LookAheads, UpdateAllColumnsInOrderWhoeverTakesPart)
{
    for (const Index n : {33, 120, 199, 200, 201, 207, 208, 240, 333})
        for (const Index k : {n, n - 1, n - 7, n - 30})
            for (const Index together : {1, 2, 3, 100}) {
                expect_all(n, k, together, {});
                for (const bool caller_first : {true, false})
                    if (n > 160) expect_all(n, k, together, one_after_the_other(caller_first));
            }
}

TEST(LookAheads, AreWeighedByWhatTheySaveAndWhatTheyMove)
{
    Helpers two = one_after_the_other(true);
    const auto is_shared = [&](double flops_for_a_byte) {
        two.flops_for_a_column_byte = flops_for_a_byte;
        Counted panels{200};
        return LookAhead<Counted>(panels, 200, 200, Counted::width, 1, 1, two).is_shared();
    };
    // Steps save 8.4e6, 6.4e6, 4e6 - 1e5 and nothing; 120 columns and three panels go to the other core.
    EXPECT_TRUE(is_shared(11));
    EXPECT_FALSE(is_shared(13));
}

} // namespace
} // namespace trencadis::blas
