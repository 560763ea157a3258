// Micro-kernels and packing of every instruction set that runs here, as a share of what the core can do.
//
//   build/bin/blas_kernels [--benchmark_filter=avx512/d]
//
// `share` is the speed over the peak of the core's multiply-adds, measured in the same second (fma_burst before and after every
// round, the faster of the two): a core's clock changes with its neighbours. Time is processor time of the thread.
// `tile`: packed 192 x 192 x 192, all of it in the second cache. `block`: a block of A in the second cache, B in the third, C in
// memory, as the loops around the micro-kernel use it.
#include "blas/level3/macro_kernel.hpp"
#include "blas/level3/packing.hpp"
#include "machine/fma_burst.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>

namespace {

using namespace trencadis;
using namespace trencadis::blas;

double seconds()
{
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

/// Double precision flops per second of one core with the widest vectors; about 0.2 ms.
double burst()
{
    const double start = seconds();
    const Flops done = fma_burst(100000);
    return done / (seconds() - start);
}

/// Bytes of the widest vectors of an instruction set, which its peak is proportional to.
double vector_bytes(std::string_view set) { return set == "avx512" ? 64 : set == "avx2" ? 32 : 16; }

/// Runs `work` once per round between two bursts; reports the median rate and the median share.
template <class T, class Work> void rounds(benchmark::State& state, const InstructionSet& set, double flops, Work work)
{
    const double wider = vector_bytes(set.name) / vector_bytes(fma_instruction_set()) * (sizeof(Real<T>) == 4 ? 2 : 1);
    std::vector<double> rates, shares;
    work();
    for (auto _ : state) {
        const double before = burst(), start = seconds();
        work();
        const double time = seconds() - start, after = burst();
        state.SetIterationTime(time);
        rates.push_back(flops / time);
        shares.push_back(flops / time / (wider * std::max(before, after)));
    }
    const auto median = [](std::vector<double>& values) {
        std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
        return values[values.size() / 2];
    };
    state.counters["gflops"] = median(rates) * 1e-9;
    state.counters["share"] = median(shares);
}

template <class R> struct Buffer {
    explicit Buffer(Index n) : data(static_cast<R*>(std::aligned_alloc(4096, (n * sizeof(R) + 8191) / 4096 * 4096)))
    {
        std::fill_n(data, n, R(0.5));
    }
    ~Buffer() { std::free(data); }
    Buffer(const Buffer&) = delete;
    R* data;
};

template <class T> void product(benchmark::State& state, const InstructionSet* set, Index m, Index n, Index k, Index mc, Index rs)
{
    const MicroKernel<T>& kernel = set->micro_kernel<T>();
    const Buffer<Real<T>> A(kernel.left_size(m, k)), B(kernel.right_size(k, n));
    const Buffer<T> C(m * n);
    mc = std::max<Index>(1, mc / kernel.mr) * kernel.mr;
    rounds<T>(state, *set, flops_per_fma<T> * double(m) * double(n) * double(k), [&] {
        for (Index i = 0; i < m; i += mc)
            multiply_packed<T>(kernel, k, Part::all, 0, T(1e-3), {A.data, m, k}, i, std::min(m, i + mc), {B.data, n, k}, 0, n,
                               T(1), C.data, rs == 1 ? 1 : n, rs == 1 ? m : 1);
    });
}

template <class T> void solving(benchmark::State& state, const InstructionSet* set, Index m, Index n)
{
    const MicroKernel<T>& kernel = set->micro_kernel<T>();
    const Buffer<Real<T>> X(kernel.left_size(m, n)), U(triangle_size(kernel, n));
    std::fill_n(U.data, triangle_size(kernel, n), Real<T>(0));
    rounds<T>(state, *set, flops_per_fma<T> / 2 * double(m) * double(n) * double(n),
              [&] { solve_packed(kernel, X.data, m, 0, m, n, U.data); });
}

/// The same where B lies, m rows of it, some panels past all of the triangle and then the next ones, as solves carry them.
template <class T> void solving_in_place(benchmark::State& state, const InstructionSet* set, Index m, Index n, bool by_rows)
{
    const MicroKernel<T>& kernel = set->micro_kernel<T>();
    const Index rs = by_rows ? n : 1, cs = by_rows ? 1 : m, half = block_sizes<T>().kc * block_sizes<T>().mc;
    const Index group = rows_past_triangle(kernel, half, n, rs, cs);
    const Buffer<Real<T>> X(kernel.left_size(group, n)), U(triangle_size(kernel, n));
    const Buffer<T> B(m * n);
    std::fill_n(U.data, triangle_size(kernel, n), Real<T>(0));
    const auto solve_group = [&](Index begin, Index end) {
        const Real<T>* panel = U.data;
        for (Index j = 0; j < n; j += kernel.nr) {
            for (Index i = begin; i < end; i += kernel.mr) {
                const Index height = kernel.height(end - i), behind = j + kernel.nr;
                T* const own = B.data + i * rs;
                const T* const next = i + kernel.mr < end ? own + kernel.mr * rs + j * cs
                                      : behind < n        ? B.data + begin * rs + behind * cs
                                                          : nullptr;
                solve_step(kernel, j, n, panel, X.data + planes<T> * (i - begin) * n, height, std::min(height, end - i), own, rs,
                           cs, next);
            }
            panel += planes<T> * (std::min(j + kernel.nr, n) + 1) * kernel.nr;
        }
    };
    rounds<T>(state, *set, flops_per_fma<T> / 2 * double(m) * double(n) * double(n), [&] {
        for (Index begin = 0; begin < m; begin += group) solve_group(begin, std::min(m, begin + group));
    });
}

/// Packing, as bytes read and written per second; source in the second cache.
template <class T>
void packing(benchmark::State& state, const InstructionSet* set, bool left, bool row_major, Structure structure)
{
    const MicroKernel<T>& kernel = set->micro_kernel<T>();
    const Index n = 192;
    const Buffer<T> A(n * n);
    const Buffer<Real<T>> image(std::max(kernel.left_size(n, n), kernel.right_size(n, n)));
    Operand<T> operand = general(A.data, n, row_major ? Op::trans : Op::none);
    operand.structure = structure;
    for (auto _ : state) {
        if (left) pack_left(kernel, operand, n, n, image.data);
        else pack_right(kernel, operand, n, n, image.data);
        benchmark::ClobberMemory();
    }
    state.SetBytesProcessed(state.iterations() * 2 * n * n * Index(sizeof(T)));
}

template <class T> void unpacking(benchmark::State& state, const InstructionSet* set, bool row_major)
{
    const MicroKernel<T>& kernel = set->micro_kernel<T>();
    const Index n = 192;
    const Buffer<T> A(n * n);
    const Buffer<Real<T>> image(kernel.left_size(n, n));
    for (auto _ : state) {
        unpack_left(kernel, image.data, n, n, A.data, row_major ? n : 1, row_major ? 1 : n);
        benchmark::ClobberMemory();
    }
    state.SetBytesProcessed(state.iterations() * 2 * n * n * Index(sizeof(T)));
}

template <class T> void register_products(const InstructionSet* set, const std::string& prefix)
{
    const auto add = [&](const std::string& name, Index m, Index n, Index k, Index mc, Index rs = 1) {
        benchmark::RegisterBenchmark((prefix + name).c_str(), product<T>, set, m, n, k, mc, rs)->UseManualTime()->MinTime(0.1);
    };
    add("tile", 192, 192, 192, 192);
    add("tile_row_major", 192, 192, 192, 192, 0);
    add("ragged", 187, 181, 192, 192);
    const Index bytes = sizeof(T);
    for (const Index kc : {128, 192, 256, 384})
        for (const Index part : {300, 600}) // KiB of the second cache for the block of A
            add("block/kc:" + std::to_string(kc) + "/l2:" + std::to_string(part), 1920, 1536, kc, (part << 10) / (kc * bytes));
    benchmark::RegisterBenchmark((prefix + "solve").c_str(), solving<T>, set, 192, 192)->UseManualTime()->MinTime(0.1);
    if (!set->micro_kernel<T>().solve_in_place) return;
    for (const bool by_rows : {false, true})
        for (const Index order : {192, 512, 1024})
            benchmark::RegisterBenchmark(
                (prefix + "solve_in_place/" + (by_rows ? "rows/" : "columns/") + std::to_string(order)).c_str(),
                solving_in_place<T>, set, 480, order, by_rows)
                ->UseManualTime()
                ->MinTime(0.1);
}

template <class T> void register_packing(const InstructionSet* set, const std::string& prefix)
{
    for (const bool left : {true, false})
        for (const bool row_major : {false, true})
            for (const Structure structure : {Structure::general, Structure::symmetric}) {
                const std::string name = prefix + (left ? "pack_left" : "pack_right") +
                                         (row_major ? "/row_major" : "/column_major") +
                                         (structure == Structure::general ? "" : "/symmetric");
                benchmark::RegisterBenchmark(name.c_str(), packing<T>, set, left, row_major, structure)->MinTime(0.05);
            }
    for (const bool row_major : {false, true})
        benchmark::RegisterBenchmark((prefix + "unpack_left" + (row_major ? "/row_major" : "/column_major")).c_str(),
                                     unpacking<T>, set, row_major)
            ->MinTime(0.05);
}

template <class T> void register_scalar(const InstructionSet* set, const char* letter)
{
    const std::string prefix = std::string(set->name) + '/' + letter + '/';
    register_products<T>(set, prefix);
    register_packing<T>(set, prefix);
}

} // namespace

int main(int argc, char** argv)
{
    for (const InstructionSet* set : instruction_set_entries()) {
        if (!set->runs_here()) continue;
        register_scalar<float>(set, "s");
        register_scalar<double>(set, "d");
        register_scalar<std::complex<float>>(set, "c");
        register_scalar<std::complex<double>>(set, "z");
    }
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
}
