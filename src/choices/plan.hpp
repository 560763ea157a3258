#pragma once
#include "algorithms/forms/form.hpp"
#include "algorithms/tile_size.hpp"
#include "base/types.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// How calls are carried out whose callers leave it open: what could be done (plans), what that took on this host
/// (calibration), and what follows for a call (chooser). Pure: no thread, lock or clock.
namespace trencadis::choices {

/// A call, as far as its plans differ. k: the depth of a product, else 0; m is n where there is one extent.
struct Call {
    std::string_view routine;
    int precision = 1; ///< s, d, c, z
    Index m = 0, n = 0, k = 0;

    bool operator==(const Call&) const = default;
};
inline constexpr std::string_view precision_letters = "sdcz";
Flops flops_of(const Call& call);
Work work_of(const Call& call);        ///< as direct_limits has it
std::string text_of(const Call& call); ///< "potrf 500x500 d", "gemm 100x200x300 z"
std::size_t element_bytes(int precision);

/// A way to carry a call out. Its tiles are told by how many half octaves they are wider than the form's own rule has them, so
/// that a plan means the same at every size.
struct Plan {
    enum class By {
        rule,   ///< as without a calibration
        caller, ///< the calling thread, without tiles; others help it where that pays at the moment
        tasks,  ///< in a form, with a tile size
        alone,  ///< as in a session of one worker, which the calling thread is
    };
    By by = By::rule;
    const Form* form = nullptr; ///< by tasks
    int step = 0;

    bool operator==(const Plan&) const = default;
};

/// "rule", "caller", "alone", "packed", "packed+1", "in-place-2".
std::string word_of(const Plan& plan);
/// None: the routine has no such plan.
std::optional<Plan> plan_called(std::string_view routine, std::string_view word);

/// How many of the widths: those that a calibration has time for, around the form's own, or all from tiles of 32 to the whole,
/// for so many workers and no fewer.
enum class Breadth { tried, all };
/// The plans for a call, the rule first: the forms with LAPACK's results, in the widths that make sense. `ours`: the kernels are
/// our own.
std::vector<Plan> plans_for(const Call& call, int workers, bool ours, Breadth breadth = Breadth::tried);

/// What the rule comes to where nothing else is going on: the calling thread, or tasks in a form, in QR that of tall matrices.
Plan plan_of_rule(const Call& call, int workers, bool ours);

/// What a plan says to a form: the tile size, or for products, whose tiles follow from the number of workers, for how many they
/// are cut.
struct Tiles {
    Index nb = 0;
    int grain = 0;
};
Tiles tiles_of(const Plan& plan, const Call& call, int workers);

/// Routines whose calls are chosen.
std::vector<std::string_view> chosen_routines();

} // namespace trencadis::choices
