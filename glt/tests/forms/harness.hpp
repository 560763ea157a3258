#pragma once
#include "trencadis/glt.h"

#include <cstdlib>
#include <mutex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace glt_forms {

/// The back ends that were built; the test's environment names them.
inline std::vector<std::string> backends()
{
    const char* list = std::getenv("GLT_TEST_BACKENDS");
    std::istringstream words(list ? list : "");
    std::vector<std::string> names;
    for (std::string word; words >> word;) names.push_back(word);
    return names;
}

/// The library with two threads of a back end, from construction to destruction.
class Running {
public:
    explicit Running(const std::string& backend, int threads = 2)
    {
        GLT_options options{};
        options.backend = backend.c_str();
        options.num_threads = threads;
        status = glt_init_with(&options);
    }
    ~Running() { glt_finalize(); }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    int status;
};

/// Catches errors instead of writing them, from construction to destruction. One at a time.
class Errors {
public:
    Errors()
    {
        glt_last_status();
        {
            const std::lock_guard hold(seen().lock);
            seen().errors.clear();
        }
        glt_set_error_handler([](int status, const char* message) {
            const std::lock_guard hold(seen().lock); // units report from several threads, also while a test looks
            seen().errors.emplace_back(status, message);
        });
    }
    ~Errors() { glt_set_error_handler(nullptr); }
    Errors(const Errors&) = delete;
    Errors& operator=(const Errors&) = delete;
    std::size_t count() const
    {
        const std::lock_guard hold(seen().lock);
        return seen().errors.size();
    }
    int status() const { return last().first; }
    std::string text() const { return last().second; }

private:
    struct Seen {
        std::mutex lock;
        std::vector<std::pair<int, std::string>> errors;
    };
    static Seen& seen()
    {
        static Seen all;
        return all;
    }
    static std::pair<int, std::string> last()
    {
        const std::lock_guard hold(seen().lock);
        return seen().errors.empty() ? std::pair<int, std::string>(GLT_SUCCESS, "") : seen().errors.back();
    }
};

template <class Result, class... Arguments> void call_with_zeros(Result (*function)(Arguments...)) { function(Arguments{}...); }

/// Every function of the list, but those that end or begin the library, exit the caller or change the handler, with zeros for all
/// arguments.
inline void call_everything_with_zeros()
{
#define GLT_FUNCTION(result, function, parameters, arguments)                                                                    \
    names.emplace_back(#function, [] { call_with_zeros(glt_##function); });
#define GLT_PROCEDURE(function, parameters, arguments) GLT_FUNCTION(void, function, parameters, arguments)
    std::vector<std::pair<std::string, void (*)()>> names;
#include "trencadis/glt/functions.def"
#undef GLT_FUNCTION
#undef GLT_PROCEDURE
    for (const auto& [name, call] : names) {
        const bool apart = name == "init" || name == "init_with" || name == "finalize" || name == "ult_exit" ||
                           name == "ult_suspend" || name == "set_error_handler" || name == "ult_malloc" ||
                           name == "tasklet_malloc";
        if (!apart) call();
    }
}

} // namespace glt_forms
