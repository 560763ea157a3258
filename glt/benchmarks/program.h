/* What the benchmark programs share: arguments, clock, statistics, output. Wrong arguments: one line on standard error and exit
 * code 2; a wrong result, or a library that does not start: likewise, 1. */
#ifndef TRENCADIS_BENCHMARKS_PROGRAM_H
#define TRENCADIS_BENCHMARKS_PROGRAM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EXIT_WRONG = 1, EXIT_USAGE = 2 };

static const char* program_name = "";

__attribute__((noreturn, format(printf, 2, 3))) static inline void program_fail(int code, const char* format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "%s: ", program_name);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    exit(code);
}

static inline void program_begin(char** argv)
{
    const char* slash = strrchr(argv[0], '/');
    program_name = slash ? slash + 1 : argv[0];
}

static inline long program_number(const char* what, const char* text, long least, long most)
{
    char* end = NULL;
    const long value = text ? strtol(text, &end, 10) : 0;
    if (!text || end == text || *end != '\0' || value < least || value > most)
        program_fail(EXIT_USAGE, "%s is '%s'; it must be a number from %ld to %ld", what, text ? text : "", least, most);
    return value;
}

/* One option of a program: a number, or (most == 0) a switch. */
typedef struct ProgramOption {
    const char* name;
    long* value;
    long least;
    long most;
} ProgramOption;

/* Reads the options (ended by a null name) from argv; what is none of them goes to `words`, of which exactly `wanted` must be
 * there. */
static inline void program_arguments(int argc, char** argv, const char* usage, const ProgramOption* options, int wanted,
                                     const char** words)
{
    int found = 0;
    for (int i = 1; i < argc; ++i) {
        const ProgramOption* option = options;
        while (option->name && strcmp(option->name, argv[i]) != 0) ++option;
        if (strcmp(argv[i], "--help") == 0) {
            printf("usage: %s %s\n", program_name, usage);
            exit(0);
        } else if (option->name) {
            *option->value = option->most == 0 ? 1 : program_number(option->name, argv[i + 1], option->least, option->most);
            if (option->most != 0) ++i;
        } else if (argv[i][0] == '-' || found == wanted) {
            program_fail(EXIT_USAGE, "'%s' is not known; usage: %s %s", argv[i], program_name, usage);
        } else {
            words[found++] = argv[i];
        }
    }
    if (found < wanted) program_fail(EXIT_USAGE, "an argument is missing; usage: %s %s", program_name, usage);
}

static inline double program_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

enum { PROGRAM_MOST_REPETITIONS = 1000 };

typedef struct ProgramStatistics {
    double median, least, greatest;
} ProgramStatistics;

static int program_compare(const void* a, const void* b)
{
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

/* The statistics of `count` values: at least one, at most PROGRAM_MOST_REPETITIONS. */
static inline ProgramStatistics program_statistics(const double* values, int count)
{
    double sorted[PROGRAM_MOST_REPETITIONS];
    memcpy(sorted, values, (size_t)count * sizeof *values);
    qsort(sorted, (size_t)count, sizeof *sorted, program_compare);
    const double median = 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]);
    const ProgramStatistics statistics = {median, sorted[0], sorted[count - 1]};
    return statistics;
}

/* , "name": [values] : every repetition, for who wants to pair them. */
static inline void program_json_list(const char* name, const double* values, int count)
{
    printf(", \"%s\": [", name);
    for (int i = 0; i < count; ++i) printf(i ? ", %.9g" : "%.9g", values[i]);
    printf("]");
}

#endif
