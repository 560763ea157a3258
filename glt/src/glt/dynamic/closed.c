/* The table before glt_init and after glt_finalize: each function reports GLT_ERROR_STATE and answers as after any failure. */
#include "glt/dynamic/dispatch.h"

#include <string.h>

/* Most results are a status; these are not. */
GLT_COLD static int answer(const char* function)
{
    static const struct {
        const char* function;
        int answer;
    } others[] = {{"can", GLT_CANNOT}, {"mutex_trylock", 0}, {"get_thread_num", -1}, {"get_num_threads", 0},
                  {"initialized", 0},  {"ult_malloc", 0},    {"tasklet_malloc", 0},  {"get_wtime", 0},
                  {"backend_name", 0}, {"last_message", 0},  {"status_text", 0}};
    static const char asked[] = "status_of_"; /* the same function, see statuses.def */
    if (strncmp(function, asked, strlen(asked)) == 0) function += strlen(asked);
    glt_refuse(function, GLT_ERROR_STATE, "-");
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i)
        if (strcmp(function, others[i].function) == 0) return others[i].answer;
    return GLT_ERROR_STATE;
}

/* The parameters are those of the interface; nothing reads them. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
/* clang-format off */
#define GLT_FUNCTION(result, function, parameters, arguments) \
    static result closed_##function parameters { return (result)(intptr_t)answer(#function); }
#define GLT_PROCEDURE(function, parameters, arguments) \
    static void closed_##function parameters { answer(#function); }
#include "trencadis/glt/functions.def"
#include "trencadis/glt/statuses.def"
#undef GLT_FUNCTION
#undef GLT_PROCEDURE

const struct glt_table glt_closed_table = {
    GLT_TABLE_VERSION, sizeof(struct glt_table), "",
#define GLT_FUNCTION(result, function, parameters, arguments) closed_##function,
#define GLT_PROCEDURE(function, parameters, arguments) closed_##function,
#include "trencadis/glt/functions.def"
#include "trencadis/glt/statuses.def"
#undef GLT_FUNCTION
#undef GLT_PROCEDURE
};
