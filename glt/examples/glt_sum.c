/* A sum, split over user-level threads and waited for with one counter. The same source in both forms: linked to trencadis::glt
 * it runs on the back end that GLT_BACKEND names, linked to trencadis::glt_static_os it has that one inside. */
#include <stdio.h>
#include <trencadis/glt.h>

enum { PARTS = 64, NUMBERS = 1000000 };

static double partial[PARTS];

static void add_part(void* part)
{
    const long mine = (double*)part - partial;
    double sum = 0;
    for (long i = mine; i < NUMBERS; i += PARTS) sum += 1.0 / ((i + 1.0) * (i + 2.0));
    partial[mine] = sum;
}

int main(int argc, char* argv[])
{
    GLT_attributes attributes;
    double sum = 0;
    glt_init(argc, argv);
    if (!glt_initialized()) return 2; /* the reason is on standard error */

    glt_attributes_init(&attributes);
    attributes.detached = 1;
    if (glt_counter_create(0, &attributes.counter) != GLT_SUCCESS) return 2;
    for (int i = 0; i < PARTS; ++i)
        if (glt_ult_create_with(add_part, &partial[i], &attributes, NULL) != GLT_SUCCESS) return 2;
    glt_counter_wait(attributes.counter);
    glt_counter_free(&attributes.counter);

    for (int i = 0; i < PARTS; ++i) sum += partial[i];
    printf("%s, %d threads: %.9f\n", glt_backend_name(), glt_get_num_threads(), sum);
    glt_finalize();
    return sum < 1.0 - 2.0 / NUMBERS || sum > 1.0; /* 1 - 1 / (NUMBERS + 1) */
}
