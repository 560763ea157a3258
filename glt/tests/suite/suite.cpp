#include "suite.hpp"

#include <chrono>
#include <cstdlib>
#include <dirent.h>
#include <fstream>
#include <mutex>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace trencadis::suite {
namespace {

std::mutex reports_mutex;
std::vector<Report> reports;

void record(int status, const char* message)
{
    const std::lock_guard lock(reports_mutex);
    reports.push_back({status, message ? message : ""});
}

void start(const GLT_options& options)
{
    glt_set_error_handler(record);
    ASSERT_EQ(glt_init_with(&options), GLT_SUCCESS) << glt_last_message();
}

void finish()
{
    glt_finalize();
    EXPECT_FALSE(glt_initialized());
    for (const Report& report : take_reports()) ADD_FAILURE() << "nobody expected: " << report.message;
    glt_last_status();
}

} // namespace

bool long_version()
{
    const char* value = std::getenv("GLT_SUITE_LONG");
    return value && *value && *value != '0';
}

int scaled(int count)
{
    if (long_version()) return count * 10;
    return sanitized ? std::max(count / 20, 1) : count;
}

std::vector<Report> take_reports()
{
    const std::lock_guard lock(reports_mutex);
    return std::exchange(reports, {});
}

int taken_status()
{
    int status = GLT_SUCCESS;
    for (const Report& report : take_reports()) {
        EXPECT_NE(report.message.find("glt_"), std::string::npos) << "a message names the function: " << report.message;
        if (status != GLT_SUCCESS) {
            EXPECT_EQ(report.status, status) << report.message;
        }
        status = report.status;
    }
    return status;
}

int os_thread() { return static_cast<int>(syscall(SYS_gettid)); }

int os_threads_in_process()
{
    int count = 0;
    DIR* folder = opendir("/proc/self/task");
    while (const dirent* entry = readdir(folder)) count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

long resident_kib()
{
    long pages = 0;
    std::ifstream("/proc/self/statm") >> pages >> pages;
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

double processor_seconds()
{
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

bool unit_is_os_thread() { return std::string(glt_backend_name()) == "os"; }

void spin_for(double seconds)
{
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    while (Clock::now() < end) {}
}

int use_stack(int kib)
{
    volatile char frame[1024];
    frame[0] = static_cast<char>(kib);
    frame[1023] = static_cast<char>(kib);
    return kib == 0 ? frame[0] : use_stack(kib - 1) + frame[1023]; // no tail call
}

void Session::SetUp()
{
    GLT_options options{};
    options.num_threads = GetParam();
    start(options);
}

void Session::TearDown()
{
    if (glt_initialized()) finish();
}

void restart(const GLT_options& options)
{
    finish();
    start(options);
}

} // namespace trencadis::suite
