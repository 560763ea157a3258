#include "base/error.hpp"
#include "base/lasting.hpp"
#include "kernels/providers/provider.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

namespace trencadis {
namespace {

constexpr std::string_view form = "give a provider, or one and others for single routines, as native,potrf=mkl,trsm=openblas";

[[noreturn]] void malformed(std::string_view text, std::string_view word, std::string_view what)
{
    std::string message = "kernels '";
    message.append(text).append("': '").append(word).append("' ").append(what).append("; ").append(form);
    throw Error(ErrorCode::bad_argument, message);
}

std::string_view trimmed(std::string_view word)
{
    const auto first = word.find_first_not_of(' ');
    return first == word.npos ? std::string_view{} : word.substr(first, word.find_last_not_of(' ') + 1 - first);
}

std::vector<std::string_view> words_of(std::string_view text)
{
    std::vector<std::string_view> words;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        words.push_back(trimmed(text.substr(begin, end - begin)));
        begin = end + 1;
    }
    return words;
}

const KernelProvider& provider_called(std::string_view name)
{
    return find_entry("kernels", kernel_provider_entries(), name).load();
}

KernelRoutine routine_called(std::string_view text, std::string_view name)
{
    const auto found = std::find(kernel_routine_names.begin(), kernel_routine_names.end(), name);
    if (found == kernel_routine_names.end())
        throw Error(ErrorCode::bad_argument,
                    "kernels '" + std::string(text) + "': " + unknown_name("routine", name, kernel_routine_names));
    return KernelRoutine(found - kernel_routine_names.begin());
}

KernelProvider::Choice read_choice(std::string_view text, std::string_view word)
{
    const std::size_t equals = word.find('=');
    if (equals == word.npos) malformed(text, word, "is not routine=provider");
    return {routine_called(text, trimmed(word.substr(0, equals))), &provider_called(trimmed(word.substr(equals + 1)))};
}

const KernelProvider& make_mixture(std::string_view text, std::span<const std::string_view> words)
{
    if (words.front().find('=') != std::string_view::npos)
        malformed(text, words.front(), "stands where the provider of all other routines does");
    const KernelProvider& base = provider_called(words.front());
    std::vector<KernelProvider::Choice> choices;
    for (const std::string_view word : words.subspan(1)) {
        const KernelProvider::Choice choice = read_choice(text, word);
        for (const KernelProvider::Choice& other : choices)
            if (other.routine == choice.routine)
                malformed(text, kernel_routine_names[std::size_t(choice.routine)], "is given twice");
        choices.push_back(choice);
    }
    return *new KernelProvider(std::string(text), base, choices); // outlives every session
}

} // namespace

const KernelProvider& load_kernels(std::string_view text)
{
    const std::vector<std::string_view> words = words_of(text);
    if (words.size() == 1 && text.find('=') == text.npos) return provider_called(words.front());
    static constinit Lasting<std::map<std::string, const KernelProvider*, std::less<>>> all;
    const std::lock_guard lock(first_uses());
    auto& known = all.get();
    if (const auto found = known.find(text); found != known.end()) return *found->second;
    const KernelProvider& mixture = make_mixture(text, words);
    known.emplace(text, &mixture);
    return mixture;
}

} // namespace trencadis
