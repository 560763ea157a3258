#include "base/registry.hpp"
#include "interfaces/c/edge.hpp"

#include <charconv>
#include <sstream>

#ifndef TRENCADIS_VERSION
#error "the build gives the version"
#endif

namespace trencadis::c {
namespace {

std::int64_t number(const std::string& key, std::string_view text)
{
    std::int64_t value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc() || end != text.data() + text.size())
        throw Error(ErrorCode::bad_argument, 2, key + " has '" + std::string(text) + "' in it, must be a number");
    return value;
}

int core(const std::string& key, std::string_view text)
{
    const std::int64_t value = number(key, text);
    if (value < 0 || value > 1 << 20)
        throw Error(ErrorCode::bad_argument, 2, key + " names core " + std::to_string(value) + ", which cannot be");
    return int(value);
}

/// "0,1,4-7".
std::vector<int> core_list(const std::string& key, const std::string& text)
{
    std::vector<int> cores;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
        const std::size_t dash = part.find('-');
        const int first = core(key, std::string_view(part).substr(0, dash));
        const int last = dash == std::string::npos ? first : core(key, std::string_view(part).substr(dash + 1));
        for (int c = first; c <= last; ++c) cores.push_back(c);
    }
    if (cores.empty()) throw Error(ErrorCode::bad_argument, 2, key + " is '" + text + "', must be core numbers as in 0,1,4-7");
    return cores;
}

bool truth(const std::string& key, const std::string& value)
{
    if (value != "0" && value != "1") throw Error(ErrorCode::bad_argument, 2, key + " is '" + value + "', must be 0 or 1");
    return value == "1";
}

void set(SessionOptions& options, const std::string& key, const std::string& value)
{
    static constexpr std::string_view known[] = {"engine", "scheduler", "kernels", "threads",      "workers",  "worker_count",
                                                 "window", "relief",    "devices", "reproducible", "objective"};
    if (key == "engine") options.engine = value;
    else if (key == "scheduler") options.scheduler = value;
    else if (key == "kernels") options.kernels = value;
    else if (key == "threads") options.threads = value;
    else if (key == "workers") options.workers = core_list(key, value);
    else if (key == "worker_count") options.worker_count = core(key, value);
    else if (key == "relief") options.relief = value;
    else if (key == "devices") options.devices = value;
    else if (key == "reproducible") options.reproducible = truth(key, value);
    else if (key == "objective") options.objective = value;
    else if (key == "window") options.window = number(key, value);
    else throw Error(ErrorCode::bad_argument, 2, unknown_name("session option", key, known));
}

/// `communicator`: of those who hear of it where the text is refused.
SessionOptions parse(const char* text, const void* communicator = nullptr)
{
    SessionOptions options;
    options.communicator = communicator;
    Session::or_refuse(options, [&] {
        std::istringstream words(text ? text : "");
        for (std::string word; words >> word;) {
            const std::size_t sign = word.find('=');
            if (sign == std::string::npos || sign == 0 || sign + 1 == word.size())
                throw Error(ErrorCode::bad_argument, 2, "options has the word '" + word + "', must be key=value");
            set(options, word.substr(0, sign), word.substr(sign + 1));
        }
    });
    return options;
}

} // namespace
} // namespace trencadis::c

using namespace trencadis::c;

extern "C" {

const char* trc_version(void) { return TRENCADIS_VERSION; }

int trc_session_create(trc_session** session, const char* options)
{
    return guarded([&] {
        require(session, 1, "session");
        *session = nullptr;
        *session = new trc_session(parse(options));
    });
}

int trc_session_create_on(trc_session** session, const char* options, const void* communicator)
{
    return guarded([&] {
        require(session, 1, "session");
        *session = nullptr;
        require(communicator, 3, "communicator");
        trencadis::SessionOptions wanted = parse(options, communicator);
        if (wanted.engine.empty()) wanted.engine = "starpu-mpi";
        *session = new trc_session(wanted);
    });
}

int trc_session_destroy(trc_session* session)
{
    return guarded([&] {
        if (session) session->close();
        delete session;
    });
}

int trc_session_workers(trc_session* session)
{
    int workers = 0;
    guarded([&] { workers = session_of(session)->workers(); });
    return workers;
}

int trc_session_keep(trc_session* session, const void* data, int64_t rows, int64_t cols, int64_t lda, int64_t element_bytes)
{
    return guarded([&] {
        require(session, 1, "session"); // there may be several standard ones, of so many workers each: they keep nothing
        require(data, 2, "data");
        session_of(session)->keep(data, rows, cols, lda, element_bytes < 1 ? 0 : std::size_t(element_bytes));
    });
}

int trc_session_touch(trc_session* session, const void* data)
{
    return guarded([&] {
        require(session, 1, "session");
        require(data, 2, "data");
        session_of(session)->touch_kept(data);
    });
}

int trc_session_leave(trc_session* session, const void* data)
{
    return guarded([&] {
        require(session, 1, "session");
        require(data, 2, "data");
        session_of(session)->leave(data);
    });
}

int trc_set_num_threads(int count)
{
    return guarded([&] { trencadis::Session::limit_standard(count); });
}

int trc_get_num_threads(void)
{
    int count = 0;
    guarded([&] { count = trencadis::Session::standard_workers(); });
    return count;
}

} // extern "C"
