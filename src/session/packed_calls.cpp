#include "session/packed_calls.hpp"

namespace trencadis {

bool runs_packed(const Session& session, const RoutineOptions& options)
{
    const bool ours = session.kernels().native();
    if (options.variant == "packed" && !ours)
        throw Error(ErrorCode::bad_argument,
                    "variant 'packed' needs the kernels 'native'; this session's are '" + session.kernels().name() + "'");
    return ours && (options.variant.empty() || options.variant == "packed");
}

template <Scalar T>
void run_packed(Session& session, const RoutineOptions& options, std::initializer_list<PackedProduct<T>> products)
{
    const PackedProduct<T>& first = *products.begin();
    const Index nb = options.nb;
    const ProductTiling tiling = nb ? ProductTiling{nb, nb, nb} : product_tiling(first, session.workers());
    const ProductImages<T> images(first, tiling);
    run_routine(session, options, [&](TaskFlow& flow) {
        for (const PackedProduct<T>& product : products) packed_product(flow, product, tiling, images);
    });
}

template <Scalar T> void run_packed(Session& session, const RoutineOptions& options, const PackedSystem<T>& system)
{
    const SystemTiling tiling = options.nb ? SystemTiling{options.nb, options.nb} : system_tiling(system, session.workers());
    const SystemImages<T> images(system, tiling);
    run_routine(session, options, [&](TaskFlow& flow) { packed_trsm(flow, system, tiling, images); });
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template void run_packed(Session&, const RoutineOptions&, std::initializer_list<PackedProduct<T>>);                          \
    template void run_packed(Session&, const RoutineOptions&, const PackedSystem<T>&);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
