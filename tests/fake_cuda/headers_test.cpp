// What is declared in devices/cuda/api.hpp is what NVIDIA's headers declare, where there are any: numbers, layouts, and of each
// function how many arguments there are, how long, and which of them are addresses.
#include "devices/cuda/api.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <tuple>
#include <type_traits>

#if __has_include(<cuda.h>)
#include <cuda.h>
#endif
#if __has_include(<cusolverDn.h>)
#include <cusolverDn.h>
#endif
#if __has_include(<cublas_v2.h>)
#include <cublas_v2.h>
#endif

namespace trencadis::devices::cuda {
namespace {

template <class Ours, class Theirs>
constexpr bool alike = sizeof(Ours) == sizeof(Theirs) && std::is_pointer_v<Ours> == std::is_pointer_v<Theirs>;
template <class Ours, class Theirs> constexpr bool same_shape = false;
template <class... Ours, class Result, class... Theirs>
constexpr bool same_shape<int (*)(Ours...), Result (*)(Theirs...)> = [] {
    if constexpr (sizeof...(Ours) != sizeof...(Theirs) || sizeof(Result) != sizeof(int)) return false;
    else return (alike<Ours, Theirs> && ...);
}();

TEST(CudaHeaders, DeclareTheDriverAsWeDo)
{
#if __has_include(<cuda.h>)
#define TRC_SAME(symbol, ...) static_assert(same_shape<decltype(Api::symbol), decltype(&::symbol)>, #symbol);
    TRC_CUDA_DRIVER(TRC_SAME)
#undef TRC_SAME
    static_assert(same_shape<int (*)(Stream, Result, void*), int (*)(CUstream, CUresult, void*)>);
    static_assert(sizeof(Copy2D) == sizeof(CUDA_MEMCPY2D));
    static_assert(offsetof(Copy2D, from_type) == offsetof(CUDA_MEMCPY2D, srcMemoryType));
    static_assert(offsetof(Copy2D, from_host) == offsetof(CUDA_MEMCPY2D, srcHost));
    static_assert(offsetof(Copy2D, from_device) == offsetof(CUDA_MEMCPY2D, srcDevice));
    static_assert(offsetof(Copy2D, from_pitch) == offsetof(CUDA_MEMCPY2D, srcPitch));
    static_assert(offsetof(Copy2D, to_type) == offsetof(CUDA_MEMCPY2D, dstMemoryType));
    static_assert(offsetof(Copy2D, to_host) == offsetof(CUDA_MEMCPY2D, dstHost));
    static_assert(offsetof(Copy2D, to_device) == offsetof(CUDA_MEMCPY2D, dstDevice));
    static_assert(offsetof(Copy2D, to_pitch) == offsetof(CUDA_MEMCPY2D, dstPitch));
    static_assert(offsetof(Copy2D, bytes) == offsetof(CUDA_MEMCPY2D, WidthInBytes));
    static_assert(offsetof(Copy2D, columns) == offsetof(CUDA_MEMCPY2D, Height));
    static_assert(int(memory_of_host) == int(CU_MEMORYTYPE_HOST) && int(memory_of_device) == int(CU_MEMORYTYPE_DEVICE));
    static_assert(int(event_without_timing) == int(CU_EVENT_DISABLE_TIMING));
    static_assert(int(stream_non_blocking) == int(CU_STREAM_NON_BLOCKING) && int(host_portable) == CU_MEMHOSTALLOC_PORTABLE);
    static_assert(int(host_portable) == CU_MEMHOSTREGISTER_PORTABLE);
    static_assert(int(pointer_memory_type) == CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
    static_assert(int(attribute_max_pitch) == CU_DEVICE_ATTRIBUTE_MAX_PITCH);
    static_assert(int(pointer_buffer_id) == CU_POINTER_ATTRIBUTE_BUFFER_ID);
    static_assert(int(pointer_device_ordinal) == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
    EXPECT_EQ(name_of(CUDA_ERROR_OUT_OF_MEMORY), "CUDA_ERROR_OUT_OF_MEMORY");
    EXPECT_EQ(name_of(CUDA_ERROR_NO_DEVICE), "CUDA_ERROR_NO_DEVICE");
    EXPECT_EQ(name_of(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED), "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED");
    static_assert(int(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED) == int(registered_already));
    static_assert(int(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) == int(peer_access_enabled_already));
    for (const CUresult loss :
         {CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_LAUNCH_FAILED, CUDA_ERROR_ECC_UNCORRECTABLE, CUDA_ERROR_DEVICE_UNAVAILABLE,
          CUDA_ERROR_CONTEXT_IS_DESTROYED, CUDA_ERROR_LAUNCH_TIMEOUT, CUDA_ERROR_ASSERT, CUDA_ERROR_NVLINK_UNCORRECTABLE})
        EXPECT_TRUE(is_loss(loss)) << loss;
    EXPECT_FALSE(is_loss(CUDA_ERROR_OUT_OF_MEMORY));
#else
    GTEST_SKIP() << "no cuda.h was found; it comes with NVIDIA's toolkit: pip install nvidia-cuda-runtime-cu12";
#endif
}

TEST(CudaHeaders, DeclareCublasAsWeDo)
{
#if __has_include(<cublas_v2.h>)
#define TRC_SAME(symbol, ...) static_assert(same_shape<decltype(Api::symbol), decltype(&::symbol)>, #symbol);
    TRC_CUBLAS(TRC_SAME)
#undef TRC_SAME
    static_assert(same_shape<decltype(BlasRoutines::gemm), decltype(&cublasSgemm_v2)>);
    static_assert(same_shape<decltype(BlasRoutines::gemm), decltype(&cublasZgemm_v2)>);
    static_assert(same_shape<decltype(BlasRoutines::syrk), decltype(&cublasDsyrk_v2)>);
    static_assert(same_shape<decltype(BlasRoutines::herk), decltype(&cublasCherk_v2)>);
    static_assert(same_shape<decltype(BlasRoutines::trsm), decltype(&cublasDtrsm_v2)>);
    static_assert(int(op_none) == CUBLAS_OP_N && int(op_transposed) == CUBLAS_OP_T && int(op_conjugated) == CUBLAS_OP_C);
    static_assert(int(side_left) == CUBLAS_SIDE_LEFT && int(side_right) == CUBLAS_SIDE_RIGHT);
    static_assert(int(fill_lower) == CUBLAS_FILL_MODE_LOWER && int(fill_upper) == CUBLAS_FILL_MODE_UPPER);
    static_assert(int(diag_stored) == CUBLAS_DIAG_NON_UNIT && int(diag_unit) == CUBLAS_DIAG_UNIT);
    EXPECT_EQ(name_of_blas(CUBLAS_STATUS_ALLOC_FAILED), "CUBLAS_STATUS_ALLOC_FAILED");
    EXPECT_EQ(name_of_blas(CUBLAS_STATUS_EXECUTION_FAILED), "CUBLAS_STATUS_EXECUTION_FAILED");
#else
    GTEST_SKIP() << "no cublas_v2.h was found; it comes with NVIDIA's toolkit: pip install nvidia-cublas-cu12";
#endif
}

TEST(CudaHeaders, DeclareCusolverAsWeDo)
{
#if __has_include(<cusolverDn.h>)
#define TRC_SAME(symbol, ...) static_assert(same_shape<decltype(Api::symbol), decltype(&::symbol)>, #symbol);
    TRC_CUSOLVER(TRC_SAME)
#undef TRC_SAME
    static_assert(same_shape<decltype(SolverRoutines::potrf_room), decltype(&cusolverDnSpotrf_bufferSize)>);
    static_assert(same_shape<decltype(SolverRoutines::potrf_room), decltype(&cusolverDnZpotrf_bufferSize)>);
    static_assert(same_shape<decltype(SolverRoutines::potrf), decltype(&cusolverDnDpotrf)>);
    static_assert(same_shape<decltype(SolverRoutines::potrf), decltype(&cusolverDnCpotrf)>);
    static_assert(same_shape<decltype(SolverRoutines::getrf_room), decltype(&cusolverDnSgetrf_bufferSize)>);
    static_assert(same_shape<decltype(SolverRoutines::getrf_room), decltype(&cusolverDnZgetrf_bufferSize)>);
    static_assert(same_shape<decltype(SolverRoutines::getrf), decltype(&cusolverDnDgetrf)>);
    static_assert(same_shape<decltype(SolverRoutines::getrf), decltype(&cusolverDnCgetrf)>);
    static_assert(same_shape<decltype(SolverRoutines::laswp), decltype(&cusolverDnSlaswp)>);
    static_assert(same_shape<decltype(SolverRoutines::laswp), decltype(&cusolverDnZlaswp)>);
    EXPECT_EQ(name_of_solver(CUSOLVER_STATUS_ALLOC_FAILED), "CUSOLVER_STATUS_ALLOC_FAILED");
    EXPECT_EQ(name_of_solver(CUSOLVER_STATUS_EXECUTION_FAILED), "CUSOLVER_STATUS_EXECUTION_FAILED");
#else
    GTEST_SKIP() << "no cusolverDn.h was found; it comes with NVIDIA's toolkit: pip install nvidia-cusolver-cu12";
#endif
}

} // namespace
} // namespace trencadis::devices::cuda
