#include "machine/fma_burst.hpp"

#include "base/lasting.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>

namespace trencadis {

namespace {

// One function per instruction set, by macro and not by template or target_clones: vectors are lowered before a template would be
// inlined into the function that carries the target, and target_clones needs ifunc, which sanitizers dislike.
// `accumulators` independent chains cover latency times width (4 or 5 cycles, 2 units); all stay in registers. They begin where
// the compiler cannot know: a chain that begins at the fixed point 1 it leaves out of the loop, and the peak would be a fifteenth
// too high.
#define TRC_FMA_BURST(function, attributes, lanes, accumulators)                                                                 \
    attributes Flops function(long rounds)                                                                                       \
    {                                                                                                                            \
        typedef double Vector __attribute__((vector_size((lanes) * sizeof(double))));                                            \
        Vector chain[accumulators];                                                                                              \
        double begin = 1.0;                                                                                                      \
        asm("" : "+m"(begin));                                                                                                   \
        for (int i = 0; i < (accumulators); ++i) chain[i] = Vector{} + begin + i;                                                \
        const Vector factor = Vector{} + 0.999;                                                                                  \
        const Vector step = Vector{} + 0.001;                                                                                    \
        for (long round = 0; round < rounds; ++round) {                                                                          \
            _Pragma("GCC unroll 32") for (int i = 0; i < (accumulators); ++i) chain[i] = chain[i] * factor + step;               \
        }                                                                                                                        \
        for (int i = 0; i < (accumulators); ++i) asm volatile("" : : "m"(chain[i]));                                             \
        return 2.0 * (lanes) * (accumulators) * static_cast<double>(rounds);                                                     \
    }

#if defined(__x86_64__)
TRC_FMA_BURST(burst_avx512, __attribute__((target("avx512f"))), 8, 16)
TRC_FMA_BURST(burst_avx2, __attribute__((target("avx2,fma"))), 4, 12)
#endif
TRC_FMA_BURST(burst_generic, , 2, 12)

#undef TRC_FMA_BURST

struct Choice {
    const char* name;
    Flops (*burst)(long);
};

Choice choose()
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return {"avx512", burst_avx512};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {"avx2", burst_avx2};
#endif
    return {"generic", burst_generic};
}

const Choice& choice()
{
    static constinit Lasting<const Choice> chosen;
    return chosen.get([] { return new Choice(choose()); });
}

} // namespace

Flops fma_burst(long rounds) { return choice().burst(rounds); }

double fma_peak()
{
    constexpr int bursts = 8;
    constexpr long rounds = 5000;
    static std::atomic<double> found{0}; // relaxed: who comes at the same time finds its own
    double best = found.load(std::memory_order_relaxed);
    if (best > 0) return best;
    for (int i = 0; i < bursts; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        const Flops flops = fma_burst(rounds);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        if (took.count() > 0) best = std::max(best, flops / took.count());
    }
    found.store(best, std::memory_order_relaxed);
    return best;
}

const char* fma_instruction_set() { return choice().name; }

} // namespace trencadis
