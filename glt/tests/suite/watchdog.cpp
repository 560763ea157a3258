#include "watchdog.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <unistd.h>

#include "suite.hpp"

namespace trencadis::suite {
namespace {

using Clock = std::chrono::steady_clock;

std::mutex mutex;
std::condition_variable changed;
std::optional<Clock::time_point> deadline;
std::string test_name;
bool over = false;

struct ThreadState {
    std::string name, state;
    long ticks = 0; // of processor time
};

std::map<int, ThreadState> threads_now()
{
    std::map<int, ThreadState> threads;
    DIR* folder = opendir("/proc/self/task");
    while (const dirent* entry = folder ? readdir(folder) : nullptr) {
        std::ifstream file("/proc/self/task/" + std::string(entry->d_name) + "/stat");
        std::string line;
        if (entry->d_name[0] == '.' || !std::getline(file, line)) continue;
        const std::size_t open = line.find('('), close = line.rfind(')');
        ThreadState& thread = threads[std::atoi(entry->d_name)];
        thread.name = line.substr(open + 1, close - open - 1);
        long user = 0, system = 0;
        char state = '?';
        std::sscanf(line.c_str() + close + 2, "%c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &state, &user, &system);
        thread.state = state;
        thread.ticks = user + system;
    }
    if (folder) closedir(folder);
    return threads;
}

/// Whether threads turn or sleep tells the two common bugs apart.
void tell_what_threads_do()
{
    const std::map<int, ThreadState> before = threads_now();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    int busy = 0, shown = 0;
    for (const auto& [id, thread] : threads_now()) {
        const auto old = before.find(id);
        const long ticks = thread.ticks - (old == before.end() ? 0 : old->second.ticks);
        busy += ticks > 5;
        if (++shown <= 12)
            std::fprintf(stderr, "  thread %d '%s': state %s, %ld ms of the last 300 on a processor\n", id, thread.name.c_str(),
                         thread.state.c_str(), ticks * 1000 / sysconf(_SC_CLK_TCK));
    }
    std::fputs(
        busy ? "  hint: threads turn without getting on: something yields to itself, or a waiter is never put into a queue\n"
             : "  hint: all threads sleep: a wake-up was lost, or units wait for each other\n",
        stderr);
}

void watch()
{
    std::unique_lock lock(mutex);
    while (!over) {
        if (!deadline) {
            changed.wait(lock);
        } else if (const auto end = *deadline; Clock::now() < end) {
            changed.wait_until(lock, end);
        } else {
            std::fprintf(stderr, "\nGLT suite: %s did not end within its time limit over back end '%s'\n", test_name.c_str(),
                         glt_backend_name());
            tell_what_threads_do();
            std::abort();
        }
    }
}

void limit(std::optional<double> seconds)
{
    const double factor = (sanitized ? 3 : 1) * (long_version() ? 20 : 1);
    {
        const std::lock_guard lock(mutex);
        deadline.reset();
        if (seconds)
            deadline =
                Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*seconds * factor));
    }
    changed.notify_one();
}

class Watchdog : public testing::EmptyTestEventListener {
public:
    Watchdog() : thread_(watch) {}
    ~Watchdog() override
    {
        {
            const std::lock_guard lock(mutex);
            over = true;
        }
        changed.notify_one();
        thread_.join();
    }
    void OnTestStart(const testing::TestInfo& test) override
    {
        {
            const std::lock_guard lock(mutex);
            test_name = std::string(test.test_suite_name()) + "." + test.name();
        }
        limit(120); // a thousand yields of OS threads take half a minute beside others that compute
    }
    void OnTestEnd(const testing::TestInfo&) override { limit(std::nullopt); }

private:
    std::thread thread_;
};

} // namespace

void set_time_limit(double seconds) { limit(seconds); }

testing::TestEventListener* make_watchdog() { return new Watchdog; }

} // namespace trencadis::suite
