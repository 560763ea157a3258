#include "observe/energy/files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace trencadis::meters {

std::optional<std::string> word_in(const std::filesystem::path& path, int* error)
{
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    std::array<char, 256> text{};
    const ssize_t length = file < 0 ? -1 : ::read(file, text.data(), text.size());
    const int number = errno;
    if (file >= 0) ::close(file);
    if (error) *error = length < 0 ? number : 0;
    if (length < 0) return {};
    std::string word(text.data(), std::size_t(length));
    word.erase(std::find_if(word.rbegin(), word.rend(), [](unsigned char c) { return c > ' '; }).base(), word.end());
    return word;
}

std::optional<double> number_in(const std::filesystem::path& path, int* error)
{
    const auto word = word_in(path, error);
    double number = 0;
    if (!word || word->empty()) return {};
    const auto [end, wrong] = std::from_chars(word->data(), word->data() + word->size(), number);
    if (wrong != std::errc{} || end != word->data() + word->size()) {
        if (error) *error = EINVAL;
        return {};
    }
    return number;
}

std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder)
{
    std::error_code none;
    std::vector<std::filesystem::path> entries;
    for (std::filesystem::directory_iterator at(folder, none), end; !none && at != end; at.increment(none))
        entries.push_back(at->path());
    std::sort(entries.begin(), entries.end());
    return entries;
}

std::string why_unread(int error)
{
    if (error == EACCES || error == EPERM) return "no permission to read it; root has it";
    if (error == EINVAL || error == 0) return "holds no number";
    return std::strerror(error);
}

} // namespace trencadis::meters
