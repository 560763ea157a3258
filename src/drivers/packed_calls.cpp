#include "drivers/packed_calls.hpp"

#include "algorithms/node_product.hpp"

#include <algorithm>

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

template <Scalar T>
bool by_nodes(const Crew& crew, const RoutineOptions& options, const PackedProduct<T>& product,
              const std::vector<NodeShare>& shares)
{
    const bool several = shares.size() > 1, can = !several || crew.binds_nodes();
    if (options.variant == "nodes" && !can)
        throw Error(ErrorCode::bad_argument, "variant 'nodes' keeps tasks to the workers of a memory node, which " + crew.name() +
                                                 " cannot; use 'native' and a scheduler whose options do not number workers");
    // On a single node the product by nodes is the plain one, and can say what it read and wrote.
    return options.variant == "nodes" || (!several && crew.counts_node_bytes()) ||
           (options.variant.empty() && several && can && nodes_pay<T>(product, shares));
}

} // namespace

template <Scalar T> bool run_product(Crew& crew, const RoutineOptions& options, const PackedProduct<T>& product)
{
    const std::vector<NodeShare> shares = shares_of(crew);
    if (!by_nodes(crew, options, product, shares)) return run_packed(crew, options, {product});
    std::optional<NodeProduct<T>> nodes;
    make_images(nodes, options, product, shares, options.nb);
    if (!nodes) return false;
    run_routine(crew, options, [&](Flow& flow) { nodes->submit(flow); });
    if (!crew.counts_node_bytes()) return true;
    const auto pages = [&](const void* data, std::size_t count) { return crew.nodes_of_pages(data, count); };
    crew.add_node_bytes(nodes->bytes(pages, crew.overlaid()));
    return true;
}

template <Scalar T> bool run_packed(Crew& crew, const RoutineOptions& options, std::initializer_list<PackedProduct<T>> products)
{
    const PackedProduct<T>& first = *products.begin();
    const Index nb = options.nb;
    const ProductTiling tiling = nb ? square_tiling(first, nb) : product_tiling(first, crew.workers());
    std::optional<ProductImages<T>> images;
    make_images(images, options, first, tiling);
    if (!images) return false;
    run_routine(crew, options, [&](Flow& flow) {
        for (const PackedProduct<T>& product : products) packed_product(flow, product, tiling, *images);
    });
    return true;
}

template <Scalar T> bool run_packed(Crew& crew, const RoutineOptions& options, const PackedSystem<T>& system)
{
    const SystemTiling tiling = options.nb ? square_tiling(system, options.nb) : system_tiling(system, crew.workers());
    std::optional<SystemImages<T>> images;
    make_images(images, options, system, tiling);
    if (!images) return false;
    run_routine(crew, options, [&](Flow& flow) { packed_trsm(flow, system, tiling, *images); });
    return true;
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template bool run_product(Crew&, const RoutineOptions&, const PackedProduct<T>&);                                            \
    template bool run_packed(Crew&, const RoutineOptions&, std::initializer_list<PackedProduct<T>>);                             \
    template bool run_packed(Crew&, const RoutineOptions&, const PackedSystem<T>&);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
