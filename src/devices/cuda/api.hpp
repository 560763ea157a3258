#pragma once
#include <cstddef>
#include <string>

/// What we use of NVIDIA's driver, of cuBLAS and of cuSOLVER, declared from their published interfaces: their headers are not
/// free software, and a bare Debian builds this. The driver's names are those of its binary interface, `_v2` where there is an
/// older one. A test compares with the toolkit's headers where there are any (tests/fake_cuda/headers_test.cpp).
namespace trencadis::devices::cuda {

using Result = int; ///< CUresult
using DeviceNumber = int;
using Address = unsigned long long; ///< CUdeviceptr
using Context = struct ContextOf*;
using Stream = struct StreamOf*;
using EventHandle = struct EventOf*;
using StreamCallback = void (*)(Stream, Result, void*);

enum ResultCode : Result {
    success = 0,
    out_of_memory = 2,
    no_device = 100,
    peer_access_enabled_already = 704,
    registered_already = 712
};
enum MemoryType : unsigned { memory_of_host = 1, memory_of_device = 2 };
enum Flags : unsigned { event_without_timing = 2, stream_non_blocking = 1, host_portable = 1 };

enum DeviceAttribute : int { attribute_max_pitch = 11 }; ///< CUdevice_attribute

/// CUpointer_attribute.
enum PointerAttribute : int { pointer_memory_type = 2, pointer_buffer_id = 7, pointer_device_ordinal = 9 };

struct Copy2D { ///< CUDA_MEMCPY2D_v2
    std::size_t from_x = 0, from_y = 0;
    MemoryType from_type = memory_of_host;
    const void* from_host = nullptr;
    Address from_device = 0;
    void* from_array = nullptr;
    std::size_t from_pitch = 0;
    std::size_t to_x = 0, to_y = 0;
    MemoryType to_type = memory_of_host;
    void* to_host = nullptr;
    Address to_device = 0;
    void* to_array = nullptr;
    std::size_t to_pitch = 0;
    std::size_t bytes = 0, columns = 0;
};

/// TRC_FUNCTION(symbol, arguments...): those of the driver.
#define TRC_CUDA_DRIVER(TRC_FUNCTION)                                                                                            \
    TRC_FUNCTION(cuInit, unsigned)                                                                                               \
    TRC_FUNCTION(cuDriverGetVersion, int*)                                                                                       \
    TRC_FUNCTION(cuDeviceGetCount, int*)                                                                                         \
    TRC_FUNCTION(cuDeviceGet, DeviceNumber*, int)                                                                                \
    TRC_FUNCTION(cuDeviceGetName, char*, int, DeviceNumber)                                                                      \
    TRC_FUNCTION(cuDeviceGetAttribute, int*, DeviceAttribute, DeviceNumber)                                                      \
    TRC_FUNCTION(cuDeviceTotalMem_v2, std::size_t*, DeviceNumber)                                                                \
    TRC_FUNCTION(cuDeviceCanAccessPeer, int*, DeviceNumber, DeviceNumber)                                                        \
    TRC_FUNCTION(cuDevicePrimaryCtxRetain, Context*, DeviceNumber)                                                               \
    TRC_FUNCTION(cuDevicePrimaryCtxRelease_v2, DeviceNumber)                                                                     \
    TRC_FUNCTION(cuCtxPushCurrent_v2, Context)                                                                                   \
    TRC_FUNCTION(cuCtxPopCurrent_v2, Context*)                                                                                   \
    TRC_FUNCTION(cuCtxEnablePeerAccess, Context, unsigned)                                                                       \
    TRC_FUNCTION(cuMemGetInfo_v2, std::size_t*, std::size_t*)                                                                    \
    TRC_FUNCTION(cuMemAlloc_v2, Address*, std::size_t)                                                                           \
    TRC_FUNCTION(cuPointerGetAttribute, void*, PointerAttribute, Address)                                                        \
    TRC_FUNCTION(cuMemFree_v2, Address)                                                                                          \
    TRC_FUNCTION(cuMemHostAlloc, void**, std::size_t, unsigned)                                                                  \
    TRC_FUNCTION(cuMemFreeHost, void*)                                                                                           \
    TRC_FUNCTION(cuMemHostRegister_v2, void*, std::size_t, unsigned)                                                             \
    TRC_FUNCTION(cuMemHostUnregister, void*)                                                                                     \
    TRC_FUNCTION(cuMemcpy2DAsync_v2, const Copy2D*, Stream)                                                                      \
    TRC_FUNCTION(cuStreamCreate, Stream*, unsigned)                                                                              \
    TRC_FUNCTION(cuStreamDestroy_v2, Stream)                                                                                     \
    TRC_FUNCTION(cuStreamSynchronize, Stream)                                                                                    \
    TRC_FUNCTION(cuStreamWaitEvent, Stream, EventHandle, unsigned)                                                               \
    TRC_FUNCTION(cuStreamAddCallback, Stream, StreamCallback, void*, unsigned)                                                   \
    TRC_FUNCTION(cuEventCreate, EventHandle*, unsigned)                                                                          \
    TRC_FUNCTION(cuEventDestroy_v2, EventHandle)                                                                                 \
    TRC_FUNCTION(cuEventRecord, EventHandle, Stream)

using BlasStatus = int;
using Blas = struct BlasOf*; ///< cublasHandle_t
enum BlasOp : int { op_none = 0, op_transposed = 1, op_conjugated = 2 };
enum BlasSide : int { side_left = 0, side_right = 1 };
enum BlasFill : int { fill_lower = 0, fill_upper = 1 };
enum BlasDiag : int { diag_stored = 0, diag_unit = 1 };

/// TRC_FUNCTION(symbol, arguments...): those of cuBLAS that are not of one precision.
#define TRC_CUBLAS(TRC_FUNCTION)                                                                                                 \
    TRC_FUNCTION(cublasCreate_v2, Blas*)                                                                                         \
    TRC_FUNCTION(cublasDestroy_v2, Blas)                                                                                         \
    TRC_FUNCTION(cublasSetStream_v2, Blas, Stream)

/// The routines of one precision.
struct BlasRoutines {
    BlasStatus (*gemm)(Blas, BlasOp, BlasOp, int m, int n, int k, const void* alpha, const void* A, int lda, const void* B,
                       int ldb, const void* beta, void* C, int ldc) = nullptr;
    BlasStatus (*syrk)(Blas, BlasFill, BlasOp, int n, int k, const void* alpha, const void* A, int lda, const void* beta, void* C,
                       int ldc) = nullptr;
    BlasStatus (*herk)(Blas, BlasFill, BlasOp, int n, int k, const void* alpha, const void* A, int lda, const void* beta, void* C,
                       int ldc) = nullptr; ///< of complex precisions; alpha and beta are real
    BlasStatus (*trsm)(Blas, BlasSide, BlasFill, BlasOp, BlasDiag, int m, int n, const void* alpha, const void* A, int lda,
                       void* B, int ldb) = nullptr;
};

using SolverStatus = int;
using Solver = struct SolverOf*; ///< cusolverDnHandle_t

/// TRC_FUNCTION(symbol, arguments...): those of cuSOLVER that are not of one precision.
#define TRC_CUSOLVER(TRC_FUNCTION)                                                                                               \
    TRC_FUNCTION(cusolverDnCreate, Solver*)                                                                                      \
    TRC_FUNCTION(cusolverDnDestroy, Solver)                                                                                      \
    TRC_FUNCTION(cusolverDnSetStream, Solver, Stream)

/// The routines of one precision.
struct SolverRoutines {
    SolverStatus (*potrf_room)(Solver, BlasFill, int n, void* A, int lda, int* elements) = nullptr; ///< potrf_bufferSize
    SolverStatus (*potrf)(Solver, BlasFill, int n, void* A, int lda, void* room, int elements, int* info) = nullptr;
    SolverStatus (*getrf_room)(Solver, int m, int n, void* A, int lda, int* elements) = nullptr; ///< getrf_bufferSize
    SolverStatus (*getrf)(Solver, int m, int n, void* A, int lda, void* room, int* pivots, int* info) = nullptr;
    SolverStatus (*laswp)(Solver, int n, void* A, int lda, int first, int last, const int* pivots, int step) = nullptr;
};

#define TRC_POINTER(symbol, ...) int (*symbol)(__VA_ARGS__) = nullptr;
struct Api {
    TRC_CUDA_DRIVER(TRC_POINTER)
    TRC_CUBLAS(TRC_POINTER)
    BlasRoutines s, d, c, z;
    const BlasRoutines& routines(char precision) const
    {
        return precision == 's' ? s : precision == 'd' ? d : precision == 'c' ? c : z;
    }
    TRC_CUSOLVER(TRC_POINTER)
    bool has_solver = false; ///< else these are null, and cores factor
    bool has_lu = false;     ///< likewise getrf and laswp
    SolverRoutines solver_s, solver_d, solver_c, solver_z;
    const SolverRoutines& solver(char precision) const
    {
        return precision == 's' ? solver_s : precision == 'd' ? solver_d : precision == 'c' ? solver_c : solver_z;
    }
};
#undef TRC_POINTER

/// Opens the driver, cuBLAS, and cuSOLVER where there is one, in the folders that TRENCADIS_CUDA names, or where the system
/// has them. Throws Error{missing_backend} with what to install.
const Api& load_api();

/// Such as CUDA_ERROR_OUT_OF_MEMORY, without asking the driver: callbacks may not.
std::string name_of(Result code);
std::string name_of_blas(BlasStatus code);
std::string name_of_solver(SolverStatus code);
/// The device does nothing any more after this.
bool is_loss(Result code);

} // namespace trencadis::devices::cuda
