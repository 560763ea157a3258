#include "session/last_calls.hpp"

#include "base/lasting.hpp"
#include "base/replaced_file.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <exception>
#include <fcntl.h>
#include <functional>
#include <sched.h>
#include <sstream>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace trencadis {
namespace {

constinit std::array<std::atomic<LastCalls*>, 16> living{}; ///< some; those of programs with more are left out at the end
constinit std::atomic<bool> at_the_end{false};              ///< all that were there have been looked at

constexpr std::uintmax_t long_ones = 32 << 10; ///< bytes of what ended processes have left; of twice as many no more is left

constexpr std::int64_t soon_ns = 1'000'000'000, interval_ns = 10'000'000'000;

bool are_of_a_kind(const choices::Row& a, const choices::Row& b)
{
    return a.m == b.m && a.n == b.n && a.k == b.k && a.workers == b.workers && a.precision == b.precision &&
           a.routine == b.routine && a.plan == b.plan;
}

/// The newest ones, the oldest first.
std::vector<choices::Row> trimmed(const std::vector<choices::Row>& rows)
{
    std::vector<choices::Row> kept;
    for (auto row = rows.rbegin(); row != rows.rend() && kept.size() < LastCalls::most; ++row) {
        const auto before = std::ranges::count_if(kept, [&](const choices::Row& one) { return are_of_a_kind(one, *row); });
        if (std::size_t(before) < LastCalls::of_a_kind) kept.push_back(*row);
    }
    std::ranges::reverse(kept);
    return kept;
}

std::string mark_of(const choices::Owner& owner)
{
    std::ostringstream mark;
    mark << std::hex << std::hash<std::string>()(owner.processor + '\n' + owner.kernels + '\n' + owner.library);
    return mark.str();
}

/// A line that is whole: nobody sees to it that two processes which end at once do not write into one another's.
bool read_line(const std::string& line, const std::string& mark, std::vector<choices::Row>& rows)
{
    std::istringstream words(line);
    choices::Row row;
    std::string its, end, more;
    std::int64_t ns = 0;
    if (!(words >> its >> row.routine >> row.precision >> row.m >> row.n >> row.k >> row.workers >> row.plan >> ns >> end) ||
        end != "." || words >> more || its != mark || ns <= 0 || row.m <= 0 || row.n <= 0 || row.k < 0 || row.workers <= 0)
        return false;
    row.seconds = 1e-9 * double(ns);
    rows.push_back(std::move(row));
    return true;
}

void read_left(const std::filesystem::path& file, const choices::Owner& owner, std::vector<choices::Row>& rows)
{
    std::istringstream left(choices::contents(file));
    const std::string mark = mark_of(owner);
    for (std::string line; std::getline(left, line);) read_line(line, mark, rows);
}

/// Of numbers and words with blanks between them, without memory of its own; what does not fit is left out.
class Line {
public:
    Line& operator<<(std::string_view word)
    {
        blank();
        if (used_ + word.size() < most) used_ += word.copy(text_ + used_, word.size());
        return *this;
    }
    Line& operator<<(std::int64_t number)
    {
        blank();
        used_ = std::size_t(std::to_chars(text_ + used_, text_ + most, number).ptr - text_);
        return *this;
    }
    std::string_view ended()
    {
        text_[used_] = '\n';
        return {text_, used_ + 1};
    }

private:
    static constexpr std::size_t most = 240;
    void blank()
    {
        if (used_ > 0 && used_ < most) text_[used_++] = ' ';
    }
    char text_[most + 1];
    std::size_t used_ = 0;
};

/// After the destructors of the program's objects and its atexit handlers, which may call.
[[gnu::destructor]] void end_of_process() { LastCalls::leave_at_the_end(); }

} // namespace

LastCalls::LastCalls(std::filesystem::path file, choices::Owner owner)
    : file_(std::move(file)), left_(file_.string() + ".left"), owner_(std::move(owner)), mark_(mark_of(owner_)),
      made_after_(forks_so_far()), process_(getpid())
{
    for (std::size_t i = 0; i < living.size() && place_ < 0; ++i) {
        LastCalls* none = nullptr;
        if (living[i].compare_exchange_strong(none, this, std::memory_order_acq_rel)) place_ = int(i);
    }
}

/// Where the process ends meanwhile, by another thread, that one is through with it before it goes.
LastCalls::~LastCalls()
{
    LastCalls* its = this;
    if (place_ >= 0 && !living[std::size_t(place_)].compare_exchange_strong(its, nullptr, std::memory_order_acq_rel))
        while (!at_the_end.load(std::memory_order_acquire)) sched_yield();
    write();
}

std::vector<choices::Row> LastCalls::read(const std::filesystem::path& file, const choices::Owner& owner)
{
    std::vector<choices::Row> rows = choices::Calibration::read(file, owner).rows;
    read_left(file.string() + ".left", owner, rows);
    return trimmed(rows);
}

/// What ended processes have left becomes part of the file before it grows long.
void LastCalls::begin() noexcept
{
    const int kept_errno = errno;
    try {
        std::error_code error;
        std::filesystem::create_directories(file_.parent_path(), error);
        const std::uintmax_t bytes = std::filesystem::file_size(left_, error);
        if (!error && bytes > long_ones) write();
    } catch (const std::exception&) { // no memory: there will be another time
    }
    errno = kept_errno;
}

void LastCalls::leave_at_the_end() noexcept
{
    for (std::atomic<LastCalls*>& one : living)
        if (LastCalls* const its = one.exchange(nullptr, std::memory_order_acq_rel)) its->leave();
    at_the_end.store(true, std::memory_order_release);
}

void LastCalls::leave() noexcept
{
    if (forks_so_far() != made_after_ || getpid() != process_) return;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock() || noted_.empty()) return;
    const int file = open(left_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644);
    if (file < 0) return;
    struct stat is {};
    std::uintmax_t bytes = fstat(file, &is) == 0 && S_ISREG(is.st_mode) ? std::uintmax_t(is.st_size) : 2 * long_ones;
    for (const Noted& one : noted_) {
        const char precision = choices::precision_letters[std::size_t(one.call.precision)];
        Line line;
        line << mark_ << one.call.routine << std::string_view(&precision, 1) << one.call.m << one.call.n << one.call.k
             << std::int64_t(one.workers) << one.word << std::int64_t(1e9 * one.took) << ".";
        const std::string_view text = line.ended();
        bytes += text.size();
        if (bytes > 2 * long_ones || !may_write(bytes)) break;
        if (::write(file, text.data(), text.size()) < 0) break;
    }
    close(file);
    is_left_ = true;
}

void LastCalls::note(const choices::Call& call, const choices::Plan& plan, int workers, Seconds took,
                     std::int64_t now_ns) noexcept
{
    constexpr std::size_t most_noted = 256; // until they are written
    if (!(took > 0)) return;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock() || is_left_) return;
    const auto is_like_it = [&](const Noted& one) { return one.call == call && one.plan == plan && one.workers == workers; };
    if (std::size_t(std::ranges::count_if(noted_, is_like_it)) == of_a_kind)
        noted_.erase(std::ranges::find_if(noted_, is_like_it));
    else if (noted_.size() == most_noted) noted_.erase(noted_.begin());
    try {
        noted_.push_back({call, plan, workers, took, choices::word_of(plan)});
    } catch (const std::exception&) { // no memory: it is not told of
        return;
    }
    if (write_at_ == 0) {
        write_at_ = now_ns + soon_ns;
        begin();
    }
    if (now_ns < write_at_) return;
    write_at_ = now_ns + interval_ns;
    write();
}

/// What others have noted meanwhile stays, but what one of two writes that both write at once.
void LastCalls::write() noexcept
{
    if (noted_.empty() || is_left_) return;
    const int kept_errno = errno;
    try {
        // What is left from now on is the next one's: it is in another file.
        const std::filesystem::path taken = left_.string() + '.' + std::to_string(getpid()) + '.' + std::to_string(place_);
        std::error_code error;
        std::filesystem::rename(left_, taken, error);
        std::vector<choices::Row> rows = choices::Calibration::read(file_, owner_).rows;
        if (!error) read_left(taken, owner_, rows);
        for (const Noted& one : noted_)
            rows.push_back({std::string(one.call.routine), choices::precision_letters[std::size_t(one.call.precision)],
                            one.call.m, one.call.n, one.call.k, one.workers, one.word, one.took, 0, 0});
        const bool written = choices::write_calibration(file_, owner_, trimmed(rows), false).empty();
        if (written) std::filesystem::remove(taken, error);
        else std::filesystem::rename(taken, left_, error);
    } catch (const std::exception&) { // no memory, say: nobody hears of these calls
    }
    noted_.clear();
    errno = kept_errno;
}

} // namespace trencadis
