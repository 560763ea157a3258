#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/lasting.hpp"
#include "kernels/providers/provider.hpp"
#include "kernels/providers/vendor_library.hpp"

#include <dlfcn.h>
#include <filesystem>
#include <glob.h>
#include <mutex>

// The Python environment of the build; vendor libraries from PyPI lie there.
#ifndef TRENCADIS_PYTHON_PREFIX
#define TRENCADIS_PYTHON_PREFIX ""
#endif

namespace trencadis {
namespace {

namespace fs = std::filesystem;

/// Under first_uses().
std::vector<std::string>& added_folders()
{
    static constinit Lasting<std::vector<std::string>> folders;
    return folders.get();
}

std::vector<std::string> matches(const std::string& pattern)
{
    std::vector<std::string> found;
    glob_t result{};
    if (glob(pattern.c_str(), 0, nullptr, &result) == 0)
        for (std::size_t i = 0; i < result.gl_pathc; ++i) found.emplace_back(result.gl_pathv[i]);
    globfree(&result);
    return found;
}

void add_prefix(std::vector<std::string>& folders, const fs::path& prefix)
{
    if (prefix.empty()) return;
    for (std::string& site : matches((prefix / "lib" / "python3*" / "site-packages").string())) {
        folders.push_back((prefix / "lib").string());
        folders.push_back(std::move(site));
    }
}

/// The folders above the file this code was loaded from: a build tree beside `.venv`, or a package inside one.
void add_prefixes_above_us(std::vector<std::string>& folders)
{
    Dl_info self{};
    if (!dladdr(reinterpret_cast<void*>(&candidate_files), &self) || !self.dli_fname) return;
    std::error_code ignored;
    fs::path here = fs::canonical(self.dli_fname, ignored).parent_path();
    for (int level = 0; level < 5 && here.has_relative_path(); ++level, here = here.parent_path()) {
        add_prefix(folders, here);
        add_prefix(folders, here / ".venv");
    }
}

std::vector<std::string> folders_to_search()
{
    std::vector<std::string> folders;
    {
        const std::lock_guard lock(first_uses());
        folders = added_folders();
    }
    if (const char* active = environment("VIRTUAL_ENV")) add_prefix(folders, active);
    add_prefixes_above_us(folders);
    add_prefix(folders, TRENCADIS_PYTHON_PREFIX);
    return folders;
}

void append_once(std::vector<std::string>& paths, std::string path)
{
    for (const std::string& known : paths)
        if (known == path) return;
    paths.push_back(std::move(path));
}

} // namespace

void add_kernel_library_folder(const std::string& folder)
{
    const std::lock_guard lock(first_uses());
    append_once(added_folders(), folder);
}

std::vector<std::string> candidate_files(const LibraryPlaces& places)
{
    if (const char* given = environment(places.variable); given && *given) return {given};
    std::vector<std::string> paths;
    for (const std::string& folder : folders_to_search())
        for (const std::string& file : places.in_folders)
            if (fs::exists(fs::path(folder) / file)) append_once(paths, (fs::path(folder) / file).string());
    for (const std::string& file : places.in_system) {
        if (file.find('*') == std::string::npos) append_once(paths, file);
        else
            for (std::string& match : matches(file)) append_once(paths, std::move(match));
    }
    return paths;
}

} // namespace trencadis
