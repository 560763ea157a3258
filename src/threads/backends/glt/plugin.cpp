#include "threads/backends/glt/plugin.hpp"

#include "base/error.hpp"
#include "base/own_folder.hpp"

#include <cstring>
#include <dlfcn.h>
#include <unistd.h>

namespace trencadis {
namespace {

struct Loaded {
    const glt_table* table = nullptr;
    std::string why_not;
};

Loaded load(const std::string& name)
{
    const std::string file = "libglt_" + name + ".so";
    std::string path = file; // then the loader looks for it
    for (const std::string& folder : {own_folder(), own_folder() + "/../lib"})
        if (path == file && access((folder + "/" + file).c_str(), R_OK) == 0) path = folder + "/" + file;
    // Never closed: its threads may still be ending, and destructors of thread-local objects point into it.
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) {
        const std::string reason = dlerror();
        // The loader names the file it could not find: the plug-in, or a library that the plug-in needs.
        if (path == file && reason.rfind(file, 0) == 0) return {nullptr, "not found: " + file};
        return {nullptr, "cannot be loaded: " + reason};
    }
    const auto plugin = reinterpret_cast<const glt_table* (*)()>(dlsym(library, "glt_plugin"));
    const glt_table* const table = plugin ? plugin() : nullptr;
    if (!table || table->version != GLT_TABLE_VERSION || table->size != sizeof *table || name != table->name)
        return {nullptr, path + " is of another version of trencadis"};
    return {table, {}};
}

} // namespace

std::string why_no_glt_plugin(const char* name) { return load(name).why_not; }

const glt_table& load_glt_plugin(const char* name)
{
    const Loaded loaded = load(name);
    if (!loaded.table) throw Error(ErrorCode::missing_backend, std::string("thread back end '") + name + "': " + loaded.why_not);
    return *loaded.table;
}

} // namespace trencadis
