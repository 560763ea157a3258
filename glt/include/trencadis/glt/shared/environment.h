/* The options of glt_init_with, completed by the environment and the processors this process may use. Asks the back end's glt_can
 * for the idle policies it has. */
#ifndef TRENCADIS_GLT_SHARED_ENVIRONMENT_H
#define TRENCADIS_GLT_SHARED_ENVIRONMENT_H

#include "status.h"

#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GLT_SHARED_STACK_STANDARD ((size_t)65536)
extern int glt_shared_setenv(const char* name, const char* value, int replace) __asm__("setenv");
extern int glt_shared_unsetenv(const char* name) __asm__("unsetenv");

#define GLT_SHARED_STACK_MAX ((size_t)1 << 30)

struct glt_shared_environment {
    int num_threads;
    size_t stack_size;        /* a multiple of 4096 */
    int idle;                 /* GLT_IDLE_SPIN, GLT_IDLE_SPIN_SLEEP or GLT_IDLE_SLEEP */
    int bind;                 /* 1 or 0 */
    int num_cpus;             /* in cpu[], at least 1 */
    int cpu[GLT_MAX_THREADS]; /* the processors of this process's mask, rising */
};

/* The calling thread to one processor, until glt_shared_unbind with the mask it had. 0 when the system refused. */
struct glt_shared_mask {
    long bytes; /* 0: nothing to restore */
    unsigned char bits[2048];
};

static inline int glt_shared_bind(int cpu, struct glt_shared_mask* before)
{
    unsigned char mask[2048] = {0};
    if (before) before->bytes = glt_shared_syscall(SYS_sched_getaffinity, 0, sizeof before->bits, before->bits);
    mask[cpu / 8] = (unsigned char)(1u << (cpu % 8));
    return glt_shared_syscall(SYS_sched_setaffinity, 0, sizeof mask, mask) == 0;
}

static inline void glt_shared_unbind(struct glt_shared_mask* before)
{
    if (before->bytes > 0) glt_shared_syscall(SYS_sched_setaffinity, 0, (size_t)before->bytes, before->bits);
    before->bytes = 0;
}

/* The mask of the calling thread; where the kernel does not say, processor 0 alone. */
GLT_SHARED_APART void glt_shared_read_cpus(struct glt_shared_environment* environment)
{
    unsigned char mask[2048] = {0};
    long bytes = glt_shared_syscall(SYS_sched_getaffinity, 0, sizeof mask, mask);
    int count = 0;
    for (long bit = 0; bit < 8 * bytes && count < GLT_MAX_THREADS; ++bit)
        if (mask[bit / 8] >> (bit % 8) & 1) environment->cpu[count++] = (int)bit;
    if (count == 0) environment->cpu[count++] = 0;
    environment->num_cpus = count;
}

/* A whole number, with k or m for 1024 and 1024^2 where `suffix` says so. 0 when the text is none, or too big for a size_t. */
static inline int glt_shared_read_number(const char* text, int suffix, size_t* number)
{
    char* end = NULL;
    unsigned long long value;
    unsigned shift = 0;
    if (text[0] < '0' || text[0] > '9') return 0;
    value = strtoull(text, &end, 10);
    if (suffix && (*end == 'k' || *end == 'K')) shift = 10;
    if (suffix && (*end == 'm' || *end == 'M')) shift = 20;
    if (shift) ++end;
    if (*end != '\0' || value > (SIZE_MAX >> 21)) return 0;
    *number = (size_t)value << shift;
    return 1;
}

static inline int glt_shared_read_threads(const char* function, const GLT_options* options, struct glt_shared_environment* out)
{
    const char* text = getenv("GLT_NUM_THREADS");
    size_t number = 0;
    if (options && options->num_threads != 0) {
        if (options->num_threads < 0 || options->num_threads > GLT_MAX_THREADS)
            return glt_shared_report(GLT_ERROR_VALUE, "%s: num_threads is %d, not 1 to %d", function, options->num_threads,
                                     GLT_MAX_THREADS);
        out->num_threads = options->num_threads;
    } else if (text && *text) {
        if (!glt_shared_read_number(text, 0, &number) || number < 1 || number > GLT_MAX_THREADS)
            return glt_shared_report(GLT_ERROR_ENVIRONMENT, "%s: GLT_NUM_THREADS is \"%s\", not 1 to %d", function, text,
                                     GLT_MAX_THREADS);
        out->num_threads = (int)number;
    } else {
        out->num_threads = out->num_cpus;
    }
    return GLT_SUCCESS;
}

static inline int glt_shared_read_stack(const char* function, const GLT_options* options, struct glt_shared_environment* out)
{
    const char* text = getenv("GLT_STACK_SIZE");
    size_t size = GLT_SHARED_STACK_STANDARD;
    if (options && options->stack_size != 0) {
        size = options->stack_size;
        if (size < GLT_STACK_MIN || size > GLT_SHARED_STACK_MAX)
            return glt_shared_report(GLT_ERROR_VALUE, "%s: stack_size is %zu bytes, not %zu to %zu", function, size,
                                     GLT_STACK_MIN, GLT_SHARED_STACK_MAX);
    } else if (text && *text) {
        if (!glt_shared_read_number(text, 1, &size) || size < GLT_STACK_MIN || size > GLT_SHARED_STACK_MAX)
            return glt_shared_report(GLT_ERROR_ENVIRONMENT, "%s: GLT_STACK_SIZE is \"%s\", not %zu to %zu bytes (or with k, m)",
                                     function, text, GLT_STACK_MIN, GLT_SHARED_STACK_MAX);
    }
    out->stack_size = (size + 4095) / 4096 * 4096;
    return GLT_SUCCESS;
}

static inline int glt_shared_read_idle(const char* function, const char* backend, const GLT_options* options,
                                       struct glt_shared_environment* out)
{
    static const char* const names[] = {"", "spin", "spin-sleep", "sleep"};
    static const int preferred[] = {GLT_IDLE_SPIN_SLEEP, GLT_IDLE_SLEEP, GLT_IDLE_SPIN};
    const char* text = getenv("GLT_IDLE");
    int idle = options ? options->idle : GLT_IDLE_STANDARD;
    if (idle < GLT_IDLE_STANDARD || idle > GLT_IDLE_SLEEP)
        return glt_shared_report(GLT_ERROR_VALUE, "%s: idle is %d, not one of GLT_IDLE_SPIN, _SPIN_SLEEP, _SLEEP", function,
                                 idle);
    if (idle == GLT_IDLE_STANDARD && text && *text) {
        for (int i = GLT_IDLE_SPIN; i <= GLT_IDLE_SLEEP; ++i)
            if (strcmp(text, names[i]) == 0) idle = i;
        if (idle == GLT_IDLE_STANDARD)
            return glt_shared_report(GLT_ERROR_ENVIRONMENT, "%s: GLT_IDLE is \"%s\", not spin, spin-sleep or sleep", function,
                                     text);
    }
    for (int i = 0; i < 6 && idle == GLT_IDLE_STANDARD; ++i) /* what the library does itself costs the least */
        if (glt_can(GLT_CAN_IDLE_SPIN + preferred[i % 3] - GLT_IDLE_SPIN) >= (i < 3 ? GLT_NATIVELY : GLT_EMULATED))
            idle = preferred[i % 3];
    if (glt_can(GLT_CAN_IDLE_SPIN + idle - GLT_IDLE_SPIN) == GLT_CANNOT)
        return glt_shared_report(GLT_ERROR_UNSUPPORTED, "%s: the back end %s has no idle policy \"%s\"", function, backend,
                                 names[idle]);
    out->idle = idle;
    return GLT_SUCCESS;
}

static inline int glt_shared_read_bind(const char* function, const GLT_options* options, struct glt_shared_environment* out)
{
    const char* text = getenv("GLT_BIND");
    int bind = options ? options->bind : 0;
    if (bind < -1 || bind > 1) return glt_shared_report(GLT_ERROR_VALUE, "%s: bind is %d, not 1, 0 or -1", function, bind);
    if (bind == 0 && text && *text) {
        if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
            return glt_shared_report(GLT_ERROR_ENVIRONMENT, "%s: GLT_BIND is \"%s\", not 0 or 1", function, text);
        bind = text[0] == '1' ? 1 : -1;
    }
    out->bind = bind == 0 ? out->num_threads <= out->num_cpus : bind > 0;
    return GLT_SUCCESS;
}

/* A program compiled for one back end has that one only. */
static inline int glt_shared_read_backend(const char* function, const char* backend, const GLT_options* options)
{
    const char* text = getenv("GLT_BACKEND");
    if (options && options->backend) {
        if (strcmp(options->backend, backend) != 0)
            return glt_shared_report(GLT_ERROR_MISSING, "%s: backend is \"%s\", but only \"%s\" is here", function,
                                     options->backend, backend);
    } else if (text && *text && strcmp(text, backend) != 0) {
        return glt_shared_report(GLT_ERROR_MISSING, "%s: GLT_BACKEND is \"%s\", but only \"%s\" is here", function, text,
                                 backend);
    }
    return GLT_SUCCESS;
}

/* Fills `out` and answers GLT_SUCCESS, or reports in the name of `function` ("glt_init") what cannot be. */
GLT_SHARED_APART int glt_shared_resolve(const char* function, const char* backend, const GLT_options* options,
                                        struct glt_shared_environment* out)
{
    int status = glt_shared_read_backend(function, backend, options);
    glt_shared_read_cpus(out);
    if (status == GLT_SUCCESS) status = glt_shared_read_threads(function, options, out);
    if (status == GLT_SUCCESS) status = glt_shared_read_stack(function, options, out);
    if (status == GLT_SUCCESS) status = glt_shared_read_idle(function, backend, options, out);
    if (status == GLT_SUCCESS) status = glt_shared_read_bind(function, options, out);
    return status;
}

#ifdef __cplusplus
}
#endif

#endif
