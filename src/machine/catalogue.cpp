// Where described machines are found by name.
#include "base/environment.hpp"
#include "base/registry.hpp"
#include "machine/describe.hpp"
#include "machine/machine.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace trencadis {

namespace {

namespace fs = std::filesystem;

/// The folder of the file this code was loaded from: libtrencadis.so, or a program that has it inside.
fs::path own_folder()
{
    Dl_info info;
    static const char inside = 0;
    if (!dladdr(&inside, &info) || !info.dli_fname) return {};
    std::error_code error;
    return fs::canonical(info.dli_fname, error).parent_path();
}

/// TRENCADIS_MACHINES (folders, with colons between), then the source tree this was built from, then what is installed: beside
/// the library (a wheel) or in share/ next to its lib folder.
std::vector<fs::path> folders()
{
    std::vector<fs::path> list;
    if (const char* variable = environment("TRENCADIS_MACHINES")) {
        const std::string_view text = variable;
        for (std::size_t begin = 0; begin <= text.size();) {
            const std::size_t end = std::min(text.find(':', begin), text.size());
            if (end > begin) list.emplace_back(text.substr(begin, end - begin));
            begin = end + 1;
        }
    }
#ifdef TRC_SOURCE_MACHINES
    list.emplace_back(TRC_SOURCE_MACHINES);
#endif
    if (const fs::path own = own_folder(); !own.empty()) {
        list.push_back(own / "machines");
        for (fs::path above = own.parent_path(); above != above.root_path(); above = above.parent_path())
            if (fs::path share = above / "share" / "trencadis" / "machines"; fs::exists(share)) {
                list.push_back(std::move(share));
                break;
            }
    }
    return list;
}

bool is_path(std::string_view text) { return text.find('/') != std::string_view::npos || text.ends_with(".toml"); }

} // namespace

std::vector<std::string> described_machines()
{
    std::set<std::string> names;
    for (const fs::path& folder : folders()) {
        std::error_code error;
        for (const auto& entry : fs::directory_iterator(folder, error))
            if (entry.path().extension() == ".toml") names.insert(entry.path().stem().string());
    }
    return {names.begin(), names.end()};
}

Machine load_machine(std::string_view name_or_path)
{
    if (is_path(name_or_path)) return read_machine_file(std::string(name_or_path));
    for (const fs::path& folder : folders()) {
        std::error_code error;
        const fs::path file = folder / (std::string(name_or_path) + ".toml");
        if (fs::is_regular_file(file, error)) return read_machine_file(file.string());
    }
    // No name known: a file that is not called .toml, as `trencadis simulate --machine mine.txt`.
    std::error_code error;
    if (const fs::path file(name_or_path); fs::exists(file, error) && !fs::is_directory(file, error))
        return read_machine_file(file.string());
    const auto names = described_machines();
    const std::vector<std::string_view> known(names.begin(), names.end());
    throw Error(ErrorCode::bad_argument, unknown_name("machine", name_or_path, known));
}

} // namespace trencadis
