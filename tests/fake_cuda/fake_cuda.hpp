#pragma once
#include <functional>

/// What the test tells the stand-in for NVIDIA's driver, beside the driver's own functions.
extern "C" {
/// The call of this number, from 1 on, of the function from now on fails.
void fake_cuda_fail(const char* symbol, int number, int code);
/// That call and all that come after it.
void fake_cuda_fail_from(const char* symbol, int number, int code);
/// The device does nothing from now on: what is in its streams is left out, callbacks and calls have the code.
void fake_cuda_break(int code);
void fake_cuda_start_slowly(unsigned milliseconds); ///< from now on
void fake_cuda_mend();                              ///< neither of them any more
void fake_cuda_others_have(unsigned long bytes);    ///< of the memory; mended as well
void fake_cuda_max_pitch(unsigned long bytes);      ///< of copies, on devices that are opened from now on; mended as well
unsigned long fake_cuda_used();                     ///< bytes of all devices' memory
unsigned long fake_cuda_last_synchronized();        ///< stream, as the driver's interface numbers it
int fake_cuda_contexts_on_stack();                  ///< of the calling thread
int fake_cuda_wrong_calls();                        ///< without a context, or by a callback
}

/// For the stand-in for cuBLAS: 0, or the code that the call has to answer. `pointer` of a device's address.
int fake_cuda_call(const char* symbol);
void fake_cuda_enqueue(void* stream, std::function<void()> work);
void* fake_cuda_pointer(const void* address);
