// Graphs whose tiles lie with several hosts.
#include "algorithms/graphs.hpp"

#include "base/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace trencadis {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::function<void()>& call)
{
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing was thrown";
}

/// Takes what comes.
class Anywhere final : public Flow {
public:
    void wait() override {}
    void cancel() override {}
    bool cancelled() const override { return false; }

private:
    void take(const Codelet&, const Arguments&, std::span<const Access>, const TaskOptions&) override {}
};

TEST(GraphsOfHosts, AreThoseOfFormsWhoseTasksNameTilesOneByOne)
{
    std::string several;
    for (const std::string_view routine : graph_routines())
        for (const std::string_view variant : graph_variants(routine)) {
            const Form& form = graph_form(routine, variant);
            const GraphShape shape{.n = 32, .nb = 8, .m = form.tall_rows ? 256 : 0, .inner = 4};
            Anywhere anywhere;
            const auto submit = [&] { submit_graph(anywhere, routine, variant, shape, nullptr, {2, 2}); };
            if (form.packs_images) EXPECT_THAT(refusal(submit), HasSubstr("works on images")) << routine;
            else if (const std::string why = refusal(submit); why != "nothing was thrown") {
                EXPECT_THAT(why, HasSubstr("name several tiles as one"));
                several += std::string(routine) + ":" + std::string(variant) + " ";
            }
        }
    EXPECT_EQ(several, "getrf:columns getri:in-place gesv:columns "); // whole columns of tiles are factored, or interchanged
}

TEST(GraphsOfHosts, HaveATaskWriteWhatOneHostHasWhereNoFormIsNamed)
{
    EXPECT_EQ(default_form_of_hosts("potrf")->name, "in-place");
    EXPECT_EQ(default_form_of_hosts("getrf")->name, "nopiv");
    EXPECT_EQ(default_form_of_hosts("geqrf")->name, "flat");
    EXPECT_EQ(default_form_of_hosts("getri"), nullptr);
}

} // namespace
} // namespace trencadis
