#include "blas/control_tree.hpp"

#include "base/error.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

namespace trencadis::blas {
namespace {

constexpr std::array loop_names{"jc", "pc", "ic", "jr", "ir"};
constexpr std::array split_names{"none", "equal", "weighted", "dynamic"};
constexpr std::array level_names{"node", "cluster", "core"};

struct Forced {
    const InstructionSet* set;
    BlockSizes blocks;
};
thread_local std::optional<Forced> forced;

[[noreturn]] void reject(std::string_view word, const std::string& right)
{
    throw Error(ErrorCode::bad_argument, "control tree: '" + std::string(word) + "' should be " + right);
}

std::vector<std::string_view> split_at(std::string_view text, char separator)
{
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(separator, begin), text.size());
        if (end > begin) parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

template <class Value, std::size_t count> Value find_name(const std::array<const char*, count>& names, std::string_view word)
{
    std::string right = "one of";
    for (std::size_t i = 0; i < count; ++i) {
        if (word == names[i]) return Value(i);
        right += std::string(" ") + names[i];
    }
    reject(word, right);
}

Index rounded(Index value, Index unit) { return std::max(unit, value / unit * unit); }

} // namespace

std::string to_text(const ControlTree& tree)
{
    std::string text;
    for (std::size_t i = 0; i < tree.loops.size(); ++i) {
        const LoopControl& loop = tree.loops[i];
        text += std::string(i ? " " : "") + loop_names[i] + ":" + std::to_string(loop.block);
        if (loop.split != Split::none)
            text += std::string(":") + split_names[std::size_t(loop.split)] + ":" + level_names[std::size_t(loop.level)];
    }
    return text;
}

ControlTree parse_control_tree(std::string_view text)
{
    const auto words = split_at(text, ' ');
    ControlTree tree{};
    if (words.size() != tree.loops.size()) reject(text, "five words, as in 'jc:4096 pc:384 ic:192:dynamic:core jr:8 ir:24'");
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto fields = split_at(words[i], ':');
        if ((fields.size() != 2 && fields.size() != 4) || fields[0] != loop_names[i])
            reject(words[i], std::string(loop_names[i]) + ":BLOCK or " + loop_names[i] + ":BLOCK:SPLIT:LEVEL");
        LoopControl& loop = tree.loops[i];
        const auto [end, failure] = std::from_chars(fields[1].data(), fields[1].data() + fields[1].size(), loop.block);
        if (failure != std::errc() || end != fields[1].data() + fields[1].size() || loop.block < 1)
            reject(words[i], "a loop with a positive block size");
        if (fields.size() == 2) continue;
        loop.split = find_name<Split>(split_names, fields[2]);
        loop.level = find_name<Level>(level_names, fields[3]);
    }
    return tree;
}

template <Scalar T> Setup<T> setup(int cpu)
{
    if (!forced) {
        const MicroKernel<T>& kernel = instruction_set().micro_kernel<T>();
        return {kernel, sequential_tree(kernel, block_sizes<T>(cpu >= 0 ? cpu : sched_getcpu()))};
    }
    const MicroKernel<T>& kernel = forced->set->micro_kernel<T>();
    const BlockSizes& blocks = forced->blocks;
    return {kernel, sequential_tree(kernel, {blocks.kc, rounded(blocks.mc, kernel.mr), rounded(blocks.nc, kernel.nr)})};
}

ForcedSetup::ForcedSetup(const InstructionSet& set, BlockSizes blocks) { forced = Forced{&set, blocks}; }
ForcedSetup::~ForcedSetup() { forced.reset(); }

template Setup<float> setup(int);
template Setup<double> setup(int);
template Setup<std::complex<float>> setup(int);
template Setup<std::complex<double>> setup(int);

} // namespace trencadis::blas
