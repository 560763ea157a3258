#pragma once
#include "observe/trace.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace trencadis::testing {

inline Event event(const char* name, std::uint64_t order, std::int64_t begin, std::int64_t end, EventKind kind = EventKind::task)
{
    return {name, order, begin, end, kind == EventKind::task ? 1e6 : 0, kind};
}

/// What a list scheduler makes of the Cholesky graph with `tiles` tile rows on workers of two speeds, the first half twice as
/// fast: a trace with the shape of a real one, the same every time.
inline Trace cholesky_trace(int tiles, int workers, std::int64_t gemm_ns = 1'000'000)
{
    Trace trace{"potrf, described", Origin::simulated, 0, 0, {}, {}};
    for (int w = 0; w < workers; ++w) trace.workers.push_back({w, w, 2 * w < workers ? "P-core" : "E-core", {}});
    std::vector<std::int64_t> free_at(std::size_t(workers), 0), ready(std::size_t(tiles) * std::size_t(tiles), 0);
    std::uint64_t order = 0;
    const auto at = [&](int i, int j) -> std::int64_t& { return ready[std::size_t(i) * std::size_t(tiles) + std::size_t(j)]; };
    const auto run = [&](const char* name, std::int64_t cost, std::initializer_list<std::int64_t> inputs, std::int64_t& output) {
        const auto w = std::size_t(std::min_element(free_at.begin(), free_at.end()) - free_at.begin());
        const std::int64_t begin = std::max({std::max(inputs), output, free_at[w]});
        const std::int64_t end = begin + cost * (trace.workers[w].kind == "P-core" ? 1 : 2);
        trace.workers[w].events.push_back(event(name, order++, begin, end));
        output = end;
        free_at[w] = end + 200;
        trace.span_ns = std::max(trace.span_ns, end);
    };
    for (int k = 0; k < tiles; ++k) {
        run("potrf", gemm_ns / 2, {0}, at(k, k));
        for (int i = k + 1; i < tiles; ++i) run("trsm", gemm_ns * 6 / 10, {at(k, k)}, at(i, k));
        for (int i = k + 1; i < tiles; ++i) {
            for (int j = k + 1; j < i; ++j) run("gemm", gemm_ns, {at(i, k), at(j, k)}, at(i, j));
            run("syrk", gemm_ns * 6 / 10, {at(i, k)}, at(i, i));
        }
    }
    return trace;
}

} // namespace trencadis::testing
