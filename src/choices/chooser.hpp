#pragma once
#include "choices/calibration.hpp"
#include "choices/plan.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace trencadis::choices {

/// What is to be small.
enum class Objective {
    rule, ///< nothing is chosen: calls go as without a calibration
    time,
    energy,
    energy_delay,
};
/// Throws Error{bad_argument} for a word that is none.
Objective objective_called(std::string_view word);
std::string_view word_of(Objective objective);

/// What is expected of a plan, from what was measured near by.
struct Expected {
    Plan plan = {};
    Seconds seconds = 0; ///< 0: not known
    double against = 1;  ///< the objective's amount, of the rule's
    double nearest = 0;  ///< octaves to the nearest size that was measured
    double scatter = 1;  ///< by what factor the rule differed from itself near by; who leads by less leads by chance
    double enough = 1;   ///< what the best must take of the rule, at most, to be chosen
    bool chosen = false;
};

/// Chooses the plan of each call. The same call gets the same plan as long as the object lives, whatever runs beside it: what
/// was chosen decides how results are rounded. Any thread; a call that was asked for before is answered in less than a
/// microsecond.
class Chooser {
public:
    /// Of sessions with so many workers: rows of other numbers are left out. `ours`: the kernels are our own. `breadth`: of the
    /// plans that are considered.
    Chooser(const std::vector<Row>& rows, int workers, bool ours, Objective objective, Breadth breadth = Breadth::tried);
    ~Chooser();
    Chooser(const Chooser&) = delete;
    Chooser& operator=(const Chooser&) = delete;

    Plan choose(const Call& call) const noexcept;
    /// The best first; the rule alone where nothing is known.
    std::vector<Expected> consider(const Call& call) const;
    /// Some row says what the objective asks for.
    bool knows() const { return !models_.empty(); }

private:
    struct Model;
    struct Known;

    const Model* model_of(const Call& call) const;
    Expected expect(const Model& model, const Plan& plan, const Call& call) const;
    Plan decide(const Call& call) const;

    static constexpr std::size_t places = 1024;
    const int workers_;
    const bool ours_;
    const Breadth breadth_;
    std::vector<Model> models_;
    mutable std::array<std::atomic<const Known*>, places> known_{};
};

} // namespace trencadis::choices
