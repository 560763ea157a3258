#include "choices/plan.hpp"

#include "algorithms/cutting.hpp"
#include "algorithms/routines.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace trencadis::choices {
namespace {

constexpr std::string_view routines[] = {"potrf", "getrf", "geqrf", "gemm"};
constexpr Flops longest_alone = 2e8; ///< some milliseconds: nobody can interrupt or trace the calling thread
constexpr Index least_tile = 32;
constexpr int widest = 8; ///< half octaves

bool is_product(const Call& call) { return call.routine == "gemm"; }

/// LAPACK's results, on this machine's cores, from any problem of these extents.
bool is_candidate(const Form& form, const Call& call, bool ours)
{
    if (!form.called || form.other_pivots || form.by_nodes || form.by_columns || !form.apart.empty()) return false;
    if (!form.own.empty() && !ours) return false;
    return !form.tall_rows || call.m >= std::max(2 * call.n, form.tall_rows(call.n));
}

/// Widths of the first form, which is the one that calls take; of others the least is tried.
struct Steps {
    int from, to;
};
Steps steps_of(const Form& form, const Call& call, bool is_first, Breadth breadth)
{
    if (form.tall_rows) return {0, 0};
    if (breadth == Breadth::all) return {-widest, widest};
    if (is_product(call)) return is_first ? Steps{-2, 4} : Steps{0, 0};
    return is_first ? Steps{-3, 3} : Steps{-1, 1};
}

} // namespace

Work work_of(const Call& call)
{
    if (is_product(call)) return Work::product;
    if (call.routine == "geqrf") return work_of_qr(call.m, call.n, call.precision >= 2);
    if (call.routine == "getrf") return work_of_lu(call.m, call.n, call.precision >= 2);
    return call.routine == "potrf" ? Work::cholesky : Work::factorization;
}

Flops flops_of(const Call& call)
{
    const Extents extents{.n = double(call.n), .m = double(call.m), .k = double(call.k)};
    return find_routine(call.routine).operations(extents).flops(call.precision >= 2);
}

std::string text_of(const Call& call)
{
    std::string text = std::string(call.routine) + ' ' + std::to_string(call.m) + 'x' + std::to_string(call.n);
    if (call.k) text += 'x' + std::to_string(call.k);
    return text + ' ' + precision_letters[std::size_t(call.precision)];
}

std::size_t element_bytes(int precision)
{
    constexpr std::size_t bytes[] = {4, 8, 8, 16};
    return bytes[precision];
}

std::string word_of(const Plan& plan)
{
    if (plan.by == Plan::By::rule) return "rule";
    if (plan.by == Plan::By::caller) return "caller";
    if (plan.by == Plan::By::alone) return "alone";
    const std::string name(plan.form->name);
    return plan.step == 0 ? name : name + (plan.step > 0 ? "+" : "") + std::to_string(plan.step);
}

std::optional<Plan> plan_called(std::string_view routine, std::string_view word)
{
    if (std::ranges::find(routines, routine) == std::end(routines)) return {};
    if (word == "rule") return Plan{};
    if (word == "caller") return Plan{.by = Plan::By::caller};
    if (word == "alone") return Plan{.by = Plan::By::alone};
    for (const Form& form : find_routine(routine).forms()) {
        if (!word.starts_with(form.name)) continue;
        const std::string_view rest = word.substr(form.name.size());
        const Plan plain{Plan::By::tasks, &form, 0};
        if (rest.empty()) return plain;
        int step = 0;
        const char* const begin = rest.data() + (rest.front() == '+');
        const auto [end, failure] = std::from_chars(begin, rest.data() + rest.size(), step);
        if (failure == std::errc() && end == rest.data() + rest.size() && std::abs(step) <= widest &&
            (rest.front() == '+' || rest.front() == '-'))
            return Plan{Plan::By::tasks, &form, step};
    }
    return {};
}

Tiles tiles_of(const Plan& plan, const Call& call, int workers)
{
    if (plan.by != Plan::By::tasks || plan.form->tall_rows) return {};
    const double factor = std::exp2(plan.step / 2.0);
    if (is_product(call)) return {0, std::max(1, int(std::lround(workers * factor)))};
    const Index least = std::min(call.m, call.n);
    const Index own = plan.form->tile(call.m, call.n, element_bytes(call.precision), workers);
    const auto wanted = Index(std::lround(double(own) * factor));
    const Index nb = plan.step == 0 ? own : balanced(least, std::max(wanted, least_tile), 8);
    return {std::clamp(nb, Index(1), std::max<Index>(least, 1)), 0};
}

std::vector<Plan> plans_for(const Call& call, int workers, bool ours, Breadth breadth)
{
    std::vector<Plan> plans{{}};
    if (flops_of(call) <= longest_alone) plans.push_back({.by = Plan::By::caller});
    bool is_first = true;
    for (const Form& form : find_routine(call.routine).forms()) {
        if (!is_candidate(form, call, ours)) continue;
        const Steps steps = steps_of(form, call, std::exchange(is_first, false), breadth);
        Tiles last{-1, -1};
        for (int step = steps.from; step <= steps.to; ++step) {
            const Plan plan{Plan::By::tasks, &form, step};
            const Tiles tiles = tiles_of(plan, call, workers);
            if (tiles.nb == last.nb && tiles.grain == last.grain) continue;
            plans.push_back(plan);
            last = tiles;
        }
    }
    if (workers > 1 && breadth == Breadth::tried && flops_of(call) <= longest_alone) plans.push_back({.by = Plan::By::alone});
    return plans;
}

Plan plan_of_rule(const Call& call, int workers, bool ours)
{
    if (flops_of(call) <= direct_limits(workers, ours, work_of(call)).ready) return {.by = Plan::By::caller};
    const Form* first = nullptr;
    for (const Form& form : find_routine(call.routine).forms()) {
        if (!is_candidate(form, call, ours)) continue;
        if (!first || form.tall_rows) first = &form;
    }
    return {Plan::By::tasks, first, 0};
}

std::vector<std::string_view> chosen_routines() { return {std::begin(routines), std::end(routines)}; }

} // namespace trencadis::choices
