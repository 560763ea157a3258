#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace trencadis {

/// While it lives, the process's environment is a copy with some variables set, for a library that takes its settings from there
/// alone and reads them when it starts. The program's own strings are not touched: the one pointer to them is exchanged and put
/// back. If somebody has set a variable meanwhile, their environment stays, less what was put in here.
class PrivateEnvironment {
public:
    /// Each a "NAME=value"; a variable that is there already is replaced.
    explicit PrivateEnvironment(std::vector<std::string> set) : set_(std::move(set)), before_(environ)
    {
        for (char** entry = before_; entry && *entry; ++entry)
            if (std::ranges::none_of(set_, [&](const std::string& ours) { return same_name(ours, *entry); }))
                all_.push_back(*entry);
        for (std::string& ours : set_) all_.push_back(ours.data());
        all_.push_back(nullptr);
        environ = all_.data();
    }
    ~PrivateEnvironment()
    {
        if (environ == all_.data()) {
            environ = before_;
            return;
        }
        for (const std::string& ours : set_) unsetenv(std::string(name(ours)).c_str());
    }
    PrivateEnvironment(const PrivateEnvironment&) = delete;
    PrivateEnvironment& operator=(const PrivateEnvironment&) = delete;

private:
    static std::string_view name(std::string_view entry) { return entry.substr(0, entry.find('=')); }
    static bool same_name(std::string_view a, std::string_view b) { return name(a) == name(b); }

    std::vector<std::string> set_;
    char** const before_;
    std::vector<char*> all_;
};

} // namespace trencadis
