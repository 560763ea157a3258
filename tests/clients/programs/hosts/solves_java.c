#include "guest.h"
#include <jni.h>

JNIEXPORT void JNICALL Java_Solves_multiply(JNIEnv* env, jclass its, jint n, jdoubleArray a, jdoubleArray b, jdoubleArray c)
{
    (void)its;
    double* const A = (*env)->GetDoubleArrayElements(env, a, NULL);
    double* const B = (*env)->GetDoubleArrayElements(env, b, NULL);
    double* const C = (*env)->GetDoubleArrayElements(env, c, NULL);
    const double one = 1, zero = 0;
    dgemm_("N", "N", &n, &n, &n, &one, A, &n, B, &n, &zero, C, &n);
    (*env)->ReleaseDoubleArrayElements(env, a, A, JNI_ABORT);
    (*env)->ReleaseDoubleArrayElements(env, b, B, JNI_ABORT);
    (*env)->ReleaseDoubleArrayElements(env, c, C, 0);
}
