#include "bind.hpp"
#include "call.hpp"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

// Calls of a Fortran symbol one after the other, timed here: the way of a call through Python costs as much as a small product.

namespace nb = nanobind;
using namespace nb::literals;

namespace trencadis::python {
namespace {

using Word = std::uintptr_t;
using Seconds = double;
using Restore = std::tuple<Word, Word, std::size_t>; ///< to, from, bytes

/// The longest list is that of trsm: eleven addresses and the lengths of four letters.
constexpr std::size_t most_words = 16;

Seconds now()
{
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<Seconds>(time.tv_sec) + 1e-9 * static_cast<Seconds>(time.tv_nsec);
}

void sleep_for(Seconds silence)
{
    timespec left{static_cast<std::time_t>(silence), 0};
    left.tv_nsec = static_cast<long>((silence - static_cast<Seconds>(left.tv_sec)) * 1e9);
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left)) {}
}

/// Calls `function` with as many words as any routine takes; one that takes fewer does not look at the others.
class TimedCall {
public:
    TimedCall(Word function, const std::vector<Word>& words, std::vector<Restore> restores)
        : function_(reinterpret_cast<Function>(function)), restores_(std::move(restores))
    {
        if (!function) throw std::invalid_argument("the address of the function is 0");
        if (words.size() > most_words) throw std::invalid_argument("a call has at most 16 arguments, hidden lengths included");
        std::copy(words.begin(), words.end(), words_.begin());
    }

    void restore() const
    {
        for (const auto& [to, from, bytes] : restores_)
            std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
    }

    /// Seconds of one call, without what `restore` takes.
    [[nodiscard]] Seconds operator()() const
    {
        const auto& w = words_;
        const Seconds begin = now();
        function_(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12], w[13], w[14], w[15]);
        return now() - begin;
    }

private:
    using Function = void (*)(Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word);

    Function function_;
    std::array<Word, most_words> words_{};
    std::vector<Restore> restores_;
};

std::pair<std::int64_t, Seconds> calls_for(const TimedCall& call, Seconds least)
{
    std::int64_t calls = 0;
    Seconds inside = 0;
    for (const Seconds end = now() + least; calls == 0 || now() < end; ++calls) {
        call.restore();
        inside += call();
    }
    return {calls, inside};
}

/// How many calls counted, the seconds inside of them, and when they began and ended, by time.perf_counter.
std::tuple<std::int64_t, Seconds, Seconds, Seconds> time_calls(Word function, const std::vector<Word>& words,
                                                               std::vector<Restore> restores, Seconds dropped, Seconds least)
{
    const TimedCall call(function, words, std::move(restores));
    const Unlocked unlocked;
    if (dropped > 0) calls_for(call, dropped);
    const Seconds begin = now();
    const auto [calls, inside] = calls_for(call, least);
    return {calls, inside, begin, now()};
}

std::vector<Seconds> time_lone_calls(Word function, const std::vector<Word>& words, std::vector<Restore> restores,
                                     Seconds silence, int times)
{
    const TimedCall call(function, words, std::move(restores));
    std::vector<Seconds> seconds;
    const Unlocked unlocked;
    for (int i = 0; i < times; ++i) {
        call.restore();
        sleep_for(silence);
        seconds.push_back(call());
    }
    return seconds;
}

} // namespace

void bind_turns(nb::module_& m)
{
    m.def("time_calls", &time_calls, "function"_a, "words"_a, "restores"_a, nb::kw_only(), "dropped"_a, "least"_a);
    m.def("time_lone_calls", &time_lone_calls, "function"_a, "words"_a, "restores"_a, nb::kw_only(), "silence"_a, "times"_a);
}

} // namespace trencadis::python
