/* Finds and loads plug-ins: libglt_<back end>.so beside libglt.so, then wherever the loader looks. A plug-in stays loaded. */
#define _GNU_SOURCE
#include "glt/dynamic/dispatch.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "libglt_"
#define SUFFIX ".so"
enum { NAME_MAX_LENGTH = 63, PATH_MAX_LENGTH = 4096 };

/* The folder of libglt.so with a slash at its end; "" when the loader does not say. */
static void own_folder(char folder[PATH_MAX_LENGTH])
{
    Dl_info self;
    folder[0] = '\0';
    if (dladdr((const void*)&glt_closed_table, &self) == 0 || self.dli_fname == NULL) return;
    char* resolved = realpath(self.dli_fname, NULL);
    const char *file = resolved != NULL ? resolved : self.dli_fname, *slash = strrchr(file, '/');
    if (slash != NULL && slash - file + 2 <= PATH_MAX_LENGTH) snprintf(folder, (size_t)(slash - file) + 2, "%s", file);
    free(resolved);
}

static int is_word(const char* name)
{
    const size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-");
    return length > 0 && length <= NAME_MAX_LENGTH && name[length] == '\0';
}

static int is_plugin(const struct dirent* entry)
{
    const size_t length = strlen(entry->d_name), suffix = strlen(SUFFIX);
    return length > strlen(PREFIX) + suffix && strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0 &&
           strcmp(entry->d_name + length - suffix, SUFFIX) == 0;
}

/* The names of the plug-ins in `folder`, each after a space. */
static void list_folder(const char* folder, char* list, size_t size)
{
    struct dirent** entries = NULL;
    const int count = scandir(folder, &entries, is_plugin, alphasort);
    *list = '\0';
    for (int i = 0; i < count; ++i) {
        const size_t used = strlen(list), length = strlen(entries[i]->d_name) - strlen(PREFIX SUFFIX);
        snprintf(list + used, size - used, " %.*s", (int)length, entries[i]->d_name + strlen(PREFIX));
        free(entries[i]);
    }
    free(entries);
}

static void report_absent(const char* function, const char* name, const char* folder)
{
    char list[200];
    list_folder(*folder != '\0' ? folder : ".", list, sizeof list);
    glt_fail(function, GLT_ERROR_MISSING,
             "the back end '%s' is not installed: no " PREFIX "%s" SUFFIX " in %s or on the loader's path; found there:%s", name,
             name, folder, *list != '\0' ? list : " none");
}

static void* open_plugin(const char* function, const char* name)
{
    char folder[PATH_MAX_LENGTH], path[PATH_MAX_LENGTH + NAME_MAX_LENGTH + sizeof PREFIX SUFFIX];
    own_folder(folder);
    snprintf(path, sizeof path, "%s" PREFIX "%s" SUFFIX, folder, name);
    const int beside = *folder != '\0' && access(path, F_OK) == 0;
    if (!beside) snprintf(path, sizeof path, PREFIX "%s" SUFFIX, name);
    /* Never closed: its threads may still be ending, and thread-local destructors of its library point into it. */
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library != NULL) return library;
    const char* reason = dlerror();
    /* The loader names the file it could not find: the plug-in itself, or a library that the plug-in needs. */
    if (!beside && (reason == NULL || strncmp(reason, path, strlen(path)) == 0)) report_absent(function, name, folder);
    else glt_fail(function, GLT_ERROR_MISSING, "the back end '%s' is there but cannot be loaded: %s", name, reason);
    return NULL;
}

static const struct glt_table* load(const char* function, const char* name)
{
    void* library = open_plugin(function, name);
    if (library == NULL) return NULL;
    const struct glt_table* (*plugin)(void) = (const struct glt_table* (*)(void))dlsym(library, "glt_plugin");
    const struct glt_table* table = plugin != NULL ? plugin() : NULL;
    if (table != NULL && table->version == GLT_TABLE_VERSION && table->size == sizeof *table && strcmp(table->name, name) == 0)
        return table;
    if (table == NULL) glt_fail(function, GLT_ERROR_MISSING, PREFIX "%s" SUFFIX " is no plug-in: it has no glt_plugin", name);
    else
        glt_fail(function, GLT_ERROR_MISSING,
                 "%s%s%s has table version %u of %u bytes and is called '%s'; version %d of %zu bytes and '%s' are needed",
                 PREFIX, name, SUFFIX, (unsigned)table->version, (unsigned)table->size, table->name, GLT_TABLE_VERSION,
                 sizeof *table, name);
    return NULL;
}

const struct glt_table* glt_find_plugin(const char* function, const char* name)
{
    if (is_word(name)) return load(function, name);
    glt_fail(function, GLT_ERROR_VALUE, "'%.80s' is no name of a back end; small letters, digits, - and _, as in native", name);
    return NULL;
}
