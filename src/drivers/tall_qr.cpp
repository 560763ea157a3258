#include "drivers/tall_qr.hpp"

#include "algorithms/forms/tall_qr.hpp"
#include "base/error.hpp"
#include "drivers/routine.hpp"

#include <complex>
#include <optional>

namespace trencadis {
namespace {

/// None where there is no memory for what stands beside the blocks: others need less.
template <Scalar T>
std::optional<TallLayout<T>>& make(std::optional<TallLayout<T>>& call, Place& place, const Problem& problem, IllConditioned ill)
{
    try {
        call.emplace(place, problem, ill);
    } catch (const Error& failure) {
        if (failure.code() != ErrorCode::out_of_memory) throw;
    }
    return call;
}

} // namespace

template <Scalar T>
bool geqrf_by_rows(Crew& crew, Index m, Index n, T* A, Index lda, T* tau, const Form* form, const RoutineOptions& options,
                   bool here)
{
    const bool asked = form != nullptr;
    if (asked ? !form->tall_rows : options.nb != 0) return false;
    if (n == 0 || (asked ? m < 2 * n : !TallQr<T>::suits(m, n))) return false;
    const Place::Operand operands[] = {{A, lda}, {tau}};
    Place memory(operands);
    std::optional<TallLayout<T>> tall;
    if (!make(tall, memory, {.m = m, .n = n}, asked ? IllConditioned::factored : IllConditioned::left)) return false;
    run_routine(
        crew, options, [&](Flow& flow) { tall->submit(flow); }, here);
    return tall->call->done();
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template bool geqrf_by_rows(Crew&, Index, Index, T*, Index, T*, const Form*, const RoutineOptions&, bool);
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
