#pragma once
#include "algorithms/cutting.hpp"
#include "base/error.hpp"
#include "blas/level3/helpers.hpp"
#include "drivers/routine.hpp"
#include "graph/team.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <optional>

namespace trencadis {

inline constexpr Flops least_shared = 5e5; ///< less is over before another core has begun

/// In double precision as many as take as long.
template <Scalar T> constexpr Flops in_double(Flops flops) { return flops * (sizeof(Real<T>) / double(sizeof(double))); }

/// A result whose columns (or rows) go each by themselves, in slices of `size`: `compute(first, count)` makes some. They are
/// taken from both ends, so that a core has the same ones from call to call. `begins_again`: what throws for want of memory has
/// changed nothing, so that the caller can make what another core has no memory for.
template <class Compute> class Slices {
public:
    Slices(Index extent, Index size, const Compute& compute, bool begins_again = false)
        : extent_(extent), size_(size), compute_(compute), begins_again_(begins_again)
    {
    }

    Index chunks() const { return pieces(extent_, size_); }
    void work(Team& team) const
    {
        while (const Chunks taken = team.next_of_two_ends(1)) {
            try {
                make(taken);
            } catch (const Error& failure) {
                if (failure.code() != ErrorCode::out_of_memory || !team.is_joined() || !leave(taken)) throw;
                return;
            }
        }
    }
    /// When all have come back, whose writes are seen then.
    void finish() const
    {
        const std::uint64_t left = left_.load(std::memory_order_relaxed);
        for (Index c = 0; c < most_left; ++c)
            if (left >> c & 1) make({c, c + 1});
    }

private:
    static constexpr Index most_left = 64;

    void make(const Chunks& slices) const
    {
        const Index first = slices.begin * size_;
        compute_(first, std::min(slices.end * size_, extent_) - first);
    }
    bool leave(const Chunks& slices) const
    {
        if (!begins_again_ || slices.end > most_left) return false;
        for (Index c = slices.begin; c < slices.end; ++c) left_.fetch_or(std::uint64_t{1} << c, std::memory_order_relaxed);
        return true;
    }

    const Index extent_, size_;
    const Compute& compute_;
    const bool begins_again_;
    mutable std::atomic<std::uint64_t> left_{0}; ///< slices that the caller makes in the end, a bit each
};
/// Of the slices: one for each worker, or two where they are wide, since each packs the other operand anew; but none thinner than
/// `least`. Whole units, so that the bits are those of the whole.
inline Index slice_size(Index extent, int workers, Index least, Index unit)
{
    constexpr Index wide = 96;
    const Index most = std::min<Index>((extent >= 2 * wide * workers ? 2 : 1) * workers, extent / least),
                count = most < workers ? most : most / workers * workers;
    const auto size = [&](Index slices) { return round_up(pieces(extent, std::max<Index>(slices, 1)), unit); };
    // What a worker has at the most: two that are rounded up may be more than one.
    const auto part = [&](Index slices) { return pieces(pieces(extent, size(slices)), workers) * size(slices); };
    return size(count == 2 * workers && 100 * part(count) > 103 * part(workers) ? workers : count);
}

/// Are cores far from each other, as fast as each other as far as is known, and was none taken away lately? Then one part for
/// each is faster than several, since every part packs the other operand anew; nobody takes over what another has begun.
inline bool are_far_and_even(const Crew& crew)
{
    return double(crew.line_ns()) >= blas::far_line_ns && crew.is_even() && !crew.is_wary();
}
inline Index slice_size(const Crew& crew, Index extent, Index least, Index unit)
{
    constexpr Index large = 240; // of smaller ones several are as fast
    const Index each = round_up(pieces(extent, crew.workers()), unit);
    return each >= large && are_far_and_even(crew) ? each : slice_size(extent, crew.workers(), least, unit);
}

/// Carries out an operation that a team can share (blas::SmallProduct, TeamProduct, TeamTriangle) by the caller and those who can
/// be had (Crew::can_share). False: nothing was done.
template <Scalar T, class Operation> bool share_out(Crew& crew, Operation&& operation, Flops flops)
{
    const auto work = [&](Team& team) { operation.work(team); };
    if (operation.chunks() <= 1 || !crew.share_out(operation.chunks(), std::cref(work), in_double<T>(flops))) return false;
    if constexpr (requires { operation.finish(); }) operation.finish();
    return true;
}

/// Is a call of so many flops short enough that a graph of tasks would cost more than it gains? `ours`: its kernels are.
inline bool may_be_short(Flops flops, bool ours, const RoutineOptions& options, Flops most = 1.2e8)
{
    return ours && flops >= least_shared && flops <= most && options.nb == 0 && options.variant.empty();
}
/// And would others take part? Where they would not, or do not in the end, the call's other ways must give the same bits.
template <Scalar T> bool is_short(Crew& crew, Flops flops, bool ours, const RoutineOptions& options, Flops most = 1.2e8)
{
    return may_be_short(flops, ours, options, most) && crew.can_share(in_double<T>(flops));
}

/// As of `blas`, in operations on T: of those in single precision a core does twice as many.
template <Scalar T> double flops_for_a_byte(const Crew& crew, double most_line_ns = std::numeric_limits<double>::infinity())
{
    return blas::flops_for_a_byte(std::min(double(crew.line_ns()), most_line_ns), crew.flops_per_ns()) / in_double<T>(1);
}

/// Those who may help a factorization on the calling thread, by our own kernels and with the same bits. They are asked, and
/// woken, at the first update that is worth it; `largest`: flops that they would then take part in.
template <Scalar T> blas::Helpers helpers(Crew& crew, Flops flops, Flops largest, const RoutineOptions& options)
{
    constexpr Flops longest = 3.1e8;
    if (!may_be_short(flops, true, options, longest)) return {};
    crew.note_short(in_double<T>(flops));
    return {
        crew.workers(),
        [&crew, largest, can = std::optional<bool>()](Index chunks, Flops of, const std::function<void(Team&)>& work) mutable {
            if (!can) can = crew.can_share(in_double<T>(largest));
            return *can && crew.share_out(chunks, work, in_double<T>(of));
        },
        flops_for_a_byte<T>(crew), flops_for_a_byte<T>(crew, blas::column_line_ns)};
}

/// Those who may help with products and solves of a vector or a few. They are asked for each part, since parts become longer in
/// some orders: who is not there at first may be roused for the rest.
template <Scalar T> blas::Helpers helpers_for_parts(Crew& crew)
{
    const auto share = [&crew](Index chunks, Flops flops, const std::function<void(Team&)>& work) {
        return crew.can_share(in_double<T>(flops)) && crew.share_out(chunks, work, in_double<T>(flops));
    };
    return {crew.workers(), share, flops_for_a_byte<T>(crew), flops_for_a_byte<T>(crew, blas::column_line_ns)};
}

} // namespace trencadis
