#include "algorithms/graphs.hpp"

#include "algorithms/forms/names.hpp"
#include "algorithms/forms/owners.hpp"
#include "algorithms/routines.hpp"
#include "base/error.hpp"
#include "base/registry.hpp"
#include "graph/forwarding_flow.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace trencadis {
namespace {

[[noreturn]] void refuse(const char* name, Index value, const std::string& right)
{
    throw Error(ErrorCode::bad_argument, std::string(name) + " is " + std::to_string(value) + ", must be " + right);
}

/// Those that take any matrix. Of the others n says all.
bool has_rows(std::string_view routine) { return routine == "gemm" || routine == "getrf" || routine == "geqrf"; }

Index rows_of(std::string_view routine, const Form& form, const GraphShape& shape)
{
    if (!form.tall_rows) {
        if (shape.m < 0) refuse("m", shape.m, "at least 1");
        if (shape.m != 0 && shape.m != shape.n && !has_rows(routine))
            refuse("m", shape.m, "left out: of this routine matrices are square");
        return shape.m ? shape.m : shape.n;
    }
    const Index m = shape.m ? shape.m : default_graph_rows(form, shape.n);
    if (m < 2 * shape.n) refuse("m", m, "at least 2 n: the form is for tall matrices");
    return m;
}

/// What a product with a Hermitian matrix is called where that is symmetric.
std::string_view of_real_matrices(std::string_view kernel)
{
    for (const auto& [complex, real] : {std::pair("herk", "syrk"), {"hemm", "symm"}, {"her2k", "syr2k"}})
        if (kernel == complex) return real;
    return kernel;
}

/// Passes tasks on that name one tile at a time.
class TileByTile final : public ForwardingFlow {
public:
    TileByTile(Flow& flow, Index nb, std::string who) : ForwardingFlow(flow), nb_(nb), who_(std::move(who)) {}

private:
    void take(const Codelet& codelet, const Arguments& arguments, std::span<const Access> accesses,
              const TaskOptions& options) override
    {
        for (const Access& access : accesses)
            if (access.datum.element && (access.datum.rows > nb_ || access.datum.cols > nb_))
                throw Error(ErrorCode::bad_argument,
                            who_ + " has tasks that name several tiles as one, and those lie with several hosts; choose another");
        pass_on(codelet, arguments, accesses, options);
    }
    const Index nb_;
    const std::string who_;
};

/// Where a graph is submitted to see whether each task writes what one owner has.
class OneOwnerEach final : public Flow {
public:
    bool holds = true;

    void wait() override {}
    void cancel() override {}
    bool cancelled() const override { return false; }

private:
    void take(const Codelet&, const Arguments&, std::span<const Access> accesses, const TaskOptions&) override
    {
        std::optional<std::int16_t> first;
        for (const Access& access : accesses) {
            if (!is_writing(access.mode)) continue;
            if (!first) first = access.datum.owner;
            holds &= access.datum.owner == *first;
        }
    }
};

/// The graph of empty tasks has tiles without elements.
bool is_without_tiles(std::string_view routine) { return routine == "tasks"; }

} // namespace

int graph_precision(char letter)
{
    static constexpr std::string_view letters = "sdcz";
    const std::size_t at = letters.find(letter);
    if (at == letters.npos)
        throw Error(ErrorCode::bad_argument, std::string("precision is '") + letter + "', must be s, d, c or z");
    return int(at);
}

std::vector<std::string_view> graph_routines()
{
    std::vector<std::string_view> routines;
    for (const RoutineEntry& entry : routine_entries())
        if (!simulated_forms(entry).empty()) routines.push_back(entry.name);
    return routines;
}

std::vector<std::string_view> graph_variants(std::string_view routine)
{
    for (const RoutineEntry& entry : routine_entries())
        if (std::vector<std::string_view> forms; entry.name == routine && !(forms = simulated_forms(entry)).empty()) return forms;
    throw Error(ErrorCode::bad_argument, unknown_name("routine", routine, graph_routines()));
}

const Form& graph_form(std::string_view routine, std::string_view variant)
{
    const std::vector<std::string_view> variants = graph_variants(routine); // knows the routine
    if (variant.empty()) variant = variants.front();
    for (const Form& form : find_routine(routine).forms())
        if (form.has_graph() && form.name == variant) return form;
    throw Error(ErrorCode::bad_argument, unknown_name(std::string(routine) + " variant", variant, variants));
}

const Form& default_graph_form(std::string_view routine, bool devices)
{
    const Form& first = graph_form(routine, {});
    if (!devices) return first;
    for (const Form& form : find_routine(routine).forms())
        if (form.has_graph() && !form.packs_images) return form;
    return first;
}

Index default_graph_tile(const Form& form, Index n, std::size_t element_bytes, int workers)
{
    return (form.simulated_tile ? form.simulated_tile : form.tile)(n, n, element_bytes, workers);
}

Index default_graph_rows(const Form& form, Index n) { return form.tall_rows ? form.tall_rows(n) : 0; }

std::vector<std::string_view> graph_kernels(std::string_view routine, std::string_view variant, char precision)
{
    const std::span<const std::string_view> all = graph_form(routine, variant).kernels;
    std::vector<std::string_view> kernels(all.begin(), all.end());
    if (graph_precision(precision) >= 2) return kernels;
    for (std::string_view& kernel : kernels) kernel = of_real_matrices(kernel);
    return kernels;
}

std::vector<std::string_view> all_graph_kernels()
{
    std::vector<std::string_view> all;
    for (const std::string_view routine : graph_routines())
        for (const std::string_view variant : graph_variants(routine))
            for (const char precision : {'d', 'z'})
                for (const std::string_view kernel : graph_kernels(routine, variant, precision))
                    if (std::find(all.begin(), all.end(), kernel) == all.end()) all.push_back(kernel);
    return all;
}

Index default_inner(const Form& form, Index nb)
{
    constexpr Index usual = 32;
    return std::min(std::max<Index>(nb, 1), form.inner ? form.inner(nb) : usual);
}

Problem graph_problem(std::string_view routine, const Form& form, const GraphShape& shape)
{
    graph_precision(shape.precision);
    if (shape.n < 0) refuse("n", shape.n, "at least 0");
    if (is_without_tiles(routine)) return {.n = shape.n};
    const bool cuts = form.cuts && shape.workers > 0; // by the number of workers
    if (shape.nb < 1 && !(shape.nb == 0 && cuts)) refuse("nb", shape.nb, "at least 1");
    if (shape.k < 0 || (shape.k > 0 && routine != "gemm")) refuse("k", shape.k, "at least 1, of products alone");
    const Index m = rows_of(routine, form, shape);
    if (shape.nrhs < 1) refuse("nrhs", shape.nrhs, "at least 1");
    if (shape.inner < 0 || (shape.nb > 0 && shape.inner > shape.nb))
        refuse("inner", shape.inner, "between 1 and nb = " + std::to_string(shape.nb) + ", or 0 to have it chosen");
    const Index inner = shape.inner ? shape.inner : default_inner(form, shape.nb);
    return {.m = m,
            .n = shape.n,
            .k = shape.k ? shape.k : shape.n,
            .nb = shape.nb,
            .inner = inner,
            .nrhs = shape.nrhs,
            .rhs_nb = shape.nb ? std::min(shape.nb, shape.nrhs) : shape.nrhs,
            .workers = shape.workers};
}

Flops routine_flops(std::string_view routine, const GraphShape& shape)
{
    const Extents extents{.n = double(shape.n), .m = double(shape.m), .k = double(shape.k), .nrhs = double(shape.nrhs)};
    return find_routine(routine).operations(extents).flops(graph_precision(shape.precision) >= 2);
}

std::size_t graph_bytes(std::string_view routine, std::string_view variant, const GraphShape& shape)
{
    const Form& form = graph_form(routine, variant);
    Place names(nullptr);
    LayoutRoom layout;
    form.lay[graph_precision(shape.precision)](layout, names, graph_problem(routine, form, shape));
    return names.bytes();
}

void submit_graph(Flow& flow, std::string_view routine, std::string_view variant, const GraphShape& shape, void* memory)
{
    const Form& form = graph_form(routine, variant);
    Place names(memory);
    LayoutRoom layout;
    form.lay[graph_precision(shape.precision)](layout, names, graph_problem(routine, form, shape));
    NamesFlow named(flow);
    layout->submit(named);
}

void submit_graph(Flow& flow, std::string_view routine, std::string_view variant, const GraphShape& shape, void* memory,
                  const TileOwners& owners)
{
    const Form& form = graph_form(routine, variant);
    if (form.packs_images)
        throw Error(ErrorCode::bad_argument, "variant '" + std::string(form.name) + "' of " + std::string(routine) +
                                                 " works on images that cores make for themselves, which no host sends");
    Place names = Place(memory).held_by(owners, shape.nb);
    LayoutRoom layout;
    form.lay[graph_precision(shape.precision)](layout, names, graph_problem(routine, form, shape));
    NamesFlow named(flow);
    OwnedFlow owned(named, names.held());
    TileByTile single(owned, shape.nb, "variant '" + std::string(form.name) + "' of " + std::string(routine));
    layout->submit(single);
}

const Form* default_form_of_hosts(std::string_view routine)
{
    constexpr GraphShape few{.n = 32, .nb = 8, .inner = 4, .precision = 'd'};
    graph_form(routine, {}); // knows the routine
    const Form* other = nullptr;
    for (const Form& form : find_routine(routine).forms()) {
        if (!form.has_graph() || form.packs_images || form.tall_rows || form.by_nodes) continue;
        OneOwnerEach sees;
        try {
            submit_graph(sees, routine, form.name, few, nullptr, {2, 2});
        } catch (const Error&) {
            continue; // names several tiles as one
        }
        if (sees.holds) return &form;
        if (!other) other = &form;
    }
    return other;
}

} // namespace trencadis
