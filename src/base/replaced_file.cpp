#include "base/replaced_file.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <string>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>

namespace trencadis {
namespace {

/// The text is there, and `durably` on the disk, whole, or there is an error number.
int write_whole(const std::filesystem::path& draft, std::string_view text, bool durably)
{
    if (!may_write(text.size())) return EFBIG;
    const int file = open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file < 0) return errno;
    int failure = 0;
    while (!text.empty() && !failure) {
        const ssize_t written = write(file, text.data(), text.size());
        if (written >= 0) text.remove_prefix(std::size_t(written));
        else if (errno != EINTR) failure = errno;
    }
    if (durably && !failure && fsync(file) != 0) failure = errno;
    if (close(file) != 0 && !failure) failure = errno;
    return failure;
}

} // namespace

bool may_write(std::uintmax_t bytes)
{
    rlimit limit{};
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

int replace_file(const std::filesystem::path& file, std::string_view text, bool durably)
{
    static std::atomic<int> drafts{0}; // several threads of a process may write at once
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    const std::filesystem::path draft =
        file.string() + '.' + std::to_string(getpid()) + '.' + std::to_string(drafts.fetch_add(1, std::memory_order_relaxed));
    int failure = write_whole(draft, text, durably);
    if (!failure && std::rename(draft.c_str(), file.c_str()) != 0) failure = errno;
    if (failure) {
        if (failure != EEXIST) std::filesystem::remove(draft, error);
        return failure;
    }
    if (!durably) return 0;
    if (const int folder = open(file.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); folder >= 0) {
        fsync(folder); // the new name
        close(folder);
    }
    return 0;
}

} // namespace trencadis
