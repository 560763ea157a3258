#pragma once
#include <cstdint>

/// DLPack's structures, as its specification 1.0 lays them out (https://dmlc.github.io/dlpack/latest/c_api.html); those without a
/// version are of the versions before.
namespace trencadis::python::dlpack {

struct Device {
    std::int32_t kind, number;
};
struct Type {
    std::uint8_t code, bits;
    std::uint16_t lanes;
};
inline constexpr std::uint8_t real = 2, complex = 5; ///< codes of types

struct Tensor {
    void* data;
    Device device;
    std::int32_t dimensions;
    Type type;
    std::int64_t* shape;
    std::int64_t* strides; ///< elements; null: by rows, with nothing between them
    std::uint64_t byte_offset;
};
struct Managed {
    Tensor tensor;
    void* context;
    void (*end)(Managed*);
};
struct Version {
    std::uint32_t major, minor;
};
inline constexpr std::uint64_t read_only = 1; ///< of the flags
struct ManagedVersioned {
    Version version;
    void* context;
    void (*end)(ManagedVersioned*);
    std::uint64_t flags;
    Tensor tensor;
};

/// What capsules are called until somebody has taken what is in them, and from then on.
inline constexpr const char *fresh = "dltensor", *fresh_versioned = "dltensor_versioned", *used = "used_dltensor",
                            *used_versioned = "used_dltensor_versioned";

} // namespace trencadis::python::dlpack
