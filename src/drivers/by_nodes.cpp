#include "drivers/by_nodes.hpp"

#include "algorithms/forms/products.hpp"

#include <optional>
#include <vector>

namespace trencadis {
namespace {

/// The nodes that a product is cut up for.
std::vector<NodeShare> shares_of(const Crew& crew)
{
    std::vector<NodeShare> shares;
    for (const Crew::Node& node : crew.nodes())
        shares.push_back({node.number, node.workers, node.speed, node.bound ? node.number : WorkMemory::anywhere});
    return shares;
}

/// Is it to be done? `asked`: the caller says so.
template <Scalar T>
bool by_nodes(const Crew& crew, bool asked, const RoutineOptions& options, const PackedProduct<T>& product,
              std::span<const NodeShare> shares)
{
    const bool several = shares.size() > 1, can = !several || crew.binds_nodes();
    if (asked && !can)
        throw Error(ErrorCode::bad_argument, "variant '" + options.variant +
                                                 "' keeps tasks to the workers of a memory node, which " + crew.name() +
                                                 " cannot; use 'native' and a scheduler whose options do not number workers");
    // On a single node the product by nodes is the plain one, and can say what it read and wrote.
    return asked || (!several && crew.counts_node_bytes()) ||
           (options.variant.empty() && several && can && nodes_pay<T>(product, shares));
}

/// None where there is no memory for it and the caller left the choice: others need less.
template <Scalar T>
std::optional<NodesLayout<T>>& make(std::optional<NodesLayout<T>>& call, const RoutineOptions& options, const Problem& problem,
                                    Place& place)
{
    try {
        call.emplace(place, problem);
    } catch (const Error& failure) {
        if (failure.code() != ErrorCode::out_of_memory || !options.variant.empty()) throw;
    }
    return call;
}

} // namespace

template <Scalar T>
bool runs_by_nodes(Crew& crew, const RoutineOptions& options, Problem problem, std::initializer_list<Place::Operand> operands)
{
    const Form& form = form_for(crew, forms::gemm(), options);
    if (form.own.empty()) return false;
    const std::vector<NodeShare> shares = shares_of(crew);
    const std::span<const Place::Operand> given(operands.begin(), operands.size());
    Place known(given), memory(given);
    if (!by_nodes(crew, form.by_nodes, options, whole_product<T>(known, problem), shares)) return false;
    problem.nb = options.nb;
    problem.nodes = shares;
    std::optional<NodesLayout<T>> call;
    if (!make(call, options, problem, memory)) return false;
    run_routine(crew, options, [&](Flow& flow) { call->submit(flow); });
    if (!crew.counts_node_bytes()) return true;
    const auto pages = [&](const void* data, std::size_t count) { return crew.nodes_of_pages(data, count); };
    crew.add_node_bytes(call->product.bytes(pages, crew.overlaid()));
    return true;
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template bool runs_by_nodes<T>(Crew&, const RoutineOptions&, Problem, std::initializer_list<Place::Operand>);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
