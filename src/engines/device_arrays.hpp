#pragma once
#include "base/types.hpp"

#include <cstddef>

namespace trencadis {

/// Arrays whose home is a device's memory, by the address that tasks name them by: nobody on the host may read or write there.
/// Tasks on cores are given copies. Throws Error{environment} where a device was lost or fails, Error{out_of_memory} where it has
/// no room. Any thread but the devices' own.
class DeviceArrays {
public:
    /// Memory of the device's, for one array.
    virtual void* allocate(int device, std::size_t bytes) = 0;
    /// Memory that somebody else has allocated there, by the address of its maker's interfaces. Throws Error{bad_argument} where
    /// it is none of this device's.
    virtual void* adopt(int device, void* memory, std::size_t bytes) = 0;
    /// What begins there is an array no more. Throws Error{bad_argument} where nothing does, and while a call uses it.
    virtual void give_up(void* array) = 0;

    /// Columns of so many bytes, at the host `pitch` bytes apart.
    struct OnHost {
        void* at;
        std::size_t pitch;
    };
    struct Columns {
        void* at; ///< in an array
        std::size_t pitch, bytes, columns;
    };
    virtual void write(const Columns& to, const OnHost& from) = 0;
    virtual void read(const Columns& from, const OnHost& to) = 0;
    /// From an array on the same device. False: it cannot.
    virtual bool copy(const Columns& to, void* from, std::size_t from_pitch) = 0;

    virtual int device_of(const void* in_array) const = 0;        ///< -1: it is in none
    virtual const void* array_of(const void* in_array) const = 0; ///< where it begins; null: it is in none
    /// Throws Error{environment} where the device is lost.
    virtual void require_there(int device) const = 0;
    virtual Bytes room(int device) const = 0; ///< of its memory, for copies
    virtual bool any() const = 0;             ///< a load
    /// Has devices give back the memory that no array and no copy of anything is in, and returns when they have. Not from a task.
    virtual void give_up_idle() = 0;

protected:
    ~DeviceArrays() = default;
};

} // namespace trencadis
