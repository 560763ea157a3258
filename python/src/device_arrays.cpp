// Arrays that lie on devices: their memory, DLPack's capsules, and the routines that take them. What they are is looked at in
// trencadis/device_arrays.py.
#include "base/error.hpp"
#include "bind.hpp"
#include "call.hpp"
#include "devices/device.hpp"
#include "dlpack.hpp"
#include "drivers/linear_algebra.hpp"

#include <memory>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <string>
#include <utility>
#include <vector>

using namespace nanobind::literals;

namespace trencadis::python {
namespace {

using Address = std::uintptr_t;
template <class T = void> T* at(Address address) { return reinterpret_cast<T*>(address); } // NOLINT(performance-no-int-to-ptr)

// ---- memory

/// Of an array on a device of a session, for as long as it lives.
class DeviceMemoryHold {
public:
    DeviceMemoryHold(Session& session, void* array, int device) : session_(session), array_(array), device_(device) {}
    ~DeviceMemoryHold()
    {
        const Unlocked unlocked;
        try {
            session_.give_up(array_);
        } catch (const Error&) { // a call of another thread still uses it: it stays until the session ends
        }
    }
    DeviceMemoryHold(const DeviceMemoryHold&) = delete;
    DeviceMemoryHold& operator=(const DeviceMemoryHold&) = delete;

    Session& session() const { return session_; }
    Address address() const { return reinterpret_cast<Address>(array_); }
    int device() const { return device_; }
    devices::Device::Outside outside() const { return session_.device(device_)->outside(array_); }

private:
    Session& session_;
    void* const array_;
    const int device_;
};

DeviceMemoryHold* allocate(Session& session, int device, std::size_t bytes)
{
    return compute([&] { return new DeviceMemoryHold(session, session.allocate_on(device, bytes), device); });
}
DeviceMemoryHold* adopt(Session& session, int device, Address memory, std::size_t bytes)
{
    return compute([&] { return new DeviceMemoryHold(session, session.adopt(device, at(memory), bytes), device); });
}

/// What others do on the stream has ended when it returns.
void synchronize(Session& session, int device, Address stream)
{
    const devices::Status status = compute([&] { return session.device(device)->synchronize(stream); });
    if (!status.ok())
        throw Error(ErrorCode::environment, "device '" + session.device(device)->name() + "': " + status.what +
                                                ", while others' work on it was waited for");
}

std::vector<std::string> names_of(const Session& session)
{
    std::vector<std::string> names;
    for (int device = 0; device < session.devices(); ++device) names.push_back(session.device(device)->name());
    return names;
}

// ---- DLPack

/// What a capsule held. Whoever made it is told once that it is no longer used, by the end of this.
class Tensor {
public:
    /// Takes it out of a capsule, which nobody can do again. Throws Error{bad_argument}.
    explicit Tensor(nb::handle capsule)
    {
        const char* const name = PyCapsule_CheckExact(capsule.ptr()) ? PyCapsule_GetName(capsule.ptr()) : nullptr;
        const std::string called = name ? name : "";
        PyErr_Clear();
        if (called == dlpack::fresh) {
            plain_ = static_cast<dlpack::Managed*>(PyCapsule_GetPointer(capsule.ptr(), dlpack::fresh));
            PyCapsule_SetName(capsule.ptr(), dlpack::used);
        } else if (called == dlpack::fresh_versioned) {
            versioned_ = static_cast<dlpack::ManagedVersioned*>(PyCapsule_GetPointer(capsule.ptr(), dlpack::fresh_versioned));
            PyCapsule_SetName(capsule.ptr(), dlpack::used_versioned);
        } else {
            const std::string type = Py_TYPE(capsule.ptr())->tp_name;
            const bool again = called == dlpack::used || called == dlpack::used_versioned;
            throw Error(ErrorCode::bad_argument, 1,
                        again ? "the DLPack capsule was used already, and can be used once: have the array make another"
                              : "__dlpack__ returned what is no DLPack capsule, a " + type);
        }
        if (versioned_ && versioned_->version.major > 1) {
            const std::string version = std::to_string(versioned_->version.major);
            end();
            throw Error(ErrorCode::bad_argument, 1, "the DLPack capsule is of version " + version + ", and 1 is known");
        }
    }
    ~Tensor() { end(); }
    Tensor(const Tensor&) = delete;
    Tensor& operator=(const Tensor&) = delete;

    const dlpack::Tensor& tensor() const { return versioned_ ? versioned_->tensor : plain_->tensor; }
    bool read_only() const { return versioned_ && versioned_->flags & dlpack::read_only; }
    std::vector<std::int64_t> shape() const { return {tensor().shape, tensor().shape + tensor().dimensions}; }
    /// By rows where it says none.
    std::vector<std::int64_t> strides() const
    {
        if (tensor().strides) return {tensor().strides, tensor().strides + tensor().dimensions};
        std::vector<std::int64_t> all(std::size_t(tensor().dimensions), 1);
        for (std::size_t i = all.size(); i-- > 1;) all[i - 1] = all[i] * tensor().shape[i];
        return all;
    }
    std::string type() const
    {
        const dlpack::Type type = tensor().type;
        const int bits = type.bits;
        if (type.lanes == 1 && type.code == dlpack::real && (bits == 32 || bits == 64)) return bits == 32 ? "f" : "d";
        if (type.lanes == 1 && type.code == dlpack::complex && (bits == 64 || bits == 128)) return bits == 64 ? "F" : "D";
        return "code " + std::to_string(type.code) + " of " + std::to_string(bits) + " bits, " + std::to_string(type.lanes) +
               " lanes";
    }

private:
    void end()
    {
        if (plain_ && plain_->end) plain_->end(plain_);
        if (versioned_ && versioned_->end) versioned_->end(versioned_);
        plain_ = nullptr, versioned_ = nullptr;
    }
    dlpack::Managed* plain_ = nullptr;
    dlpack::ManagedVersioned* versioned_ = nullptr;
};

/// What a capsule of ours holds: the array lives while somebody uses it, whose thread may not have the interpreter lock.
template <class Managed> struct Exported {
    Managed managed{};
    std::vector<std::int64_t> shape, strides;
    PyObject* owner;

    static void end(Managed* managed)
    {
        auto* const self = static_cast<Exported*>(managed->context);
        if (PyGILState_Check()) Py_DECREF(self->owner); // also while the interpreter ends
        else if (Py_IsInitialized()) {
            const LockedAnywhere lock;
            Py_DECREF(self->owner);
        }
        delete self;
    }
    /// One that nobody has used.
    static void drop(PyObject* capsule)
    {
        const char* const name = std::is_same_v<Managed, dlpack::Managed> ? dlpack::fresh : dlpack::fresh_versioned;
        if (!PyCapsule_IsValid(capsule, name)) return;
        auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
        end(managed);
    }
};

template <class Managed>
nb::object capsule_of(nb::handle owner, const dlpack::Tensor& tensor, std::vector<std::int64_t> shape,
                      std::vector<std::int64_t> strides, bool is_read_only)
{
    auto exported = std::make_unique<Exported<Managed>>();
    exported->shape = std::move(shape);
    exported->strides = std::move(strides);
    Managed& managed = exported->managed;
    managed.tensor = tensor;
    managed.tensor.dimensions = static_cast<std::int32_t>(exported->shape.size());
    managed.tensor.shape = exported->shape.data();
    managed.tensor.strides = exported->strides.data();
    managed.context = exported.get();
    managed.end = Exported<Managed>::end;
    const char* name = dlpack::fresh;
    if constexpr (std::is_same_v<Managed, dlpack::ManagedVersioned>) {
        managed.version = {1, 0};
        managed.flags = is_read_only ? dlpack::read_only : 0;
        name = dlpack::fresh_versioned;
    }
    PyObject* const capsule = PyCapsule_New(&managed, name, Exported<Managed>::drop);
    if (!capsule) throw nb::python_error();
    exported->owner = owner.inc_ref().ptr();
    (void)exported.release(); // the capsule's
    return nb::steal(capsule);
}

/// Of an array `owner` of elements of a dtype in that memory.
nb::object export_dlpack(nb::handle owner, const DeviceMemoryHold& memory, std::size_t offset, const std::string& type, int kind,
                         int number, std::vector<std::int64_t> shape, std::vector<std::int64_t> strides, bool versioned,
                         bool is_read_only)
{
    const devices::Device::Outside outside = memory.outside();
    const bool is_complex = type == "F" || type == "D", is_double = type == "d" || type == "D";
    const auto bits = std::uint8_t((is_double ? 64 : 32) * (is_complex ? 2 : 1));
    const dlpack::Tensor tensor{
        outside.memory, {kind, number},         0, {is_complex ? dlpack::complex : dlpack::real, bits, 1}, nullptr,
        nullptr,        outside.offset + offset};
    if (versioned) return capsule_of<dlpack::ManagedVersioned>(owner, tensor, std::move(shape), std::move(strides), is_read_only);
    return capsule_of<dlpack::Managed>(owner, tensor, std::move(shape), std::move(strides), is_read_only);
}

// ---- routines, of matrices by columns wherever they lie; letters and sizes have been looked at

/// Calls f with a value of the scalar type that NumPy has this letter for.
template <class F> decltype(auto) of_type(char type, F&& f)
{
    switch (type) {
    case 'f': return f(float{});
    case 'd': return f(double{});
    case 'F': return f(std::complex<float>{});
    default: return f(std::complex<double>{});
    }
}

void gemm_there(Session& session, char type, char op_a, char op_b, Index m, Index n, Index k, Address A, Index lda, Address B,
                Index ldb, Address C, Index ldc, Index nb)
{
    of_type(type, [&]<class T>(T) {
        compute([&] {
            gemm(session, Op(op_a), Op(op_b), m, n, k, T(1), at<const T>(A), lda, at<const T>(B), ldb, T(0), at<T>(C), ldc,
                 {.nb = nb, .interrupted = signalled});
        });
    });
}

Index potrf_there(Session& session, char type, char uplo, Index n, Address A, Index lda, Index nb)
{
    return of_type(type, [&]<class T>(T) {
        return compute([&] { return potrf(session, Uplo(uplo), n, at<T>(A), lda, {.nb = nb, .interrupted = signalled}); });
    });
}

void potrs_there(Session& session, char type, char uplo, Index n, Index nrhs, Address A, Index lda, Address B, Index ldb)
{
    of_type(type, [&]<class T>(T) {
        compute([&] { potrs(session, Uplo(uplo), n, nrhs, at<const T>(A), lda, at<T>(B), ldb, {.interrupted = signalled}); });
    });
}

Index posv_there(Session& session, char type, char uplo, Index n, Index nrhs, Address A, Index lda, Address B, Index ldb)
{
    return of_type(type, [&]<class T>(T) {
        return compute(
            [&] { return posv(session, Uplo(uplo), n, nrhs, at<T>(A), lda, at<T>(B), ldb, {.interrupted = signalled}); });
    });
}

/// Pivots count from 1, and lie in the host's memory.
Index getrf_there(Session& session, char type, Index m, Index n, Address A, Index lda, Address pivots, Index nb)
{
    return of_type(type, [&]<class T>(T) {
        return compute(
            [&] { return getrf(session, m, n, at<T>(A), lda, at<Index>(pivots), {.nb = nb, .interrupted = signalled}); });
    });
}

void getrs_there(Session& session, char type, char op, Index n, Index nrhs, Address A, Index lda, Address pivots, Address B,
                 Index ldb)
{
    of_type(type, [&]<class T>(T) {
        compute([&] {
            getrs(session, Op(op), n, nrhs, at<const T>(A), lda, at<const Index>(pivots), at<T>(B), ldb,
                  {.interrupted = signalled});
        });
    });
}

/// Elements of a matrix by columns, to and from the host or another array.
void move_to(Session& session, Address array, Index ld, Address host, Index host_ld, Index rows, Index cols, std::size_t element)
{
    compute([&] { session.copy_to(at(array), ld, at(host), host_ld, rows, cols, element); });
}
void move_from(Session& session, Address array, Index ld, Address host, Index host_ld, Index rows, Index cols,
               std::size_t element)
{
    compute([&] { session.copy_from(at(array), ld, at(host), host_ld, rows, cols, element); });
}
void move_there(Session& session, Address to, Index to_ld, Address from, Index from_ld, Index rows, Index cols,
                std::size_t element)
{
    compute([&] { session.copy_array(at(to), to_ld, at(from), from_ld, rows, cols, element); });
}

} // namespace

void bind_device_arrays(nb::module_& m)
{
    nb::class_<DeviceMemoryHold>(m, "DeviceMemory", "Memory of an array on a device of a session, while it lives.")
        .def_prop_ro("address", &DeviceMemoryHold::address, "By which routines of the session take it.")
        .def_prop_ro("device", &DeviceMemoryHold::device)
        .def_prop_ro("outside", [](const DeviceMemoryHold& hold) {
            const auto outside = hold.outside();
            return nb::make_tuple(reinterpret_cast<Address>(outside.memory), outside.offset);
        });
    m.def("device_names", &names_of, "session"_a);
    m.def("allocate_on", &allocate, "session"_a, "device"_a, "bytes"_a, nb::keep_alive<0, 1>());
    m.def("adopt", &adopt, "session"_a, "device"_a, "memory"_a, "bytes"_a, nb::keep_alive<0, 1>());
    m.def("synchronize_device", &synchronize, "session"_a, "device"_a, "stream"_a);
    nb::class_<Tensor>(m, "Tensor", "What a DLPack capsule held; its maker is told when this ends.")
        .def(nb::init<nb::handle>(), "capsule"_a.none())
        .def_prop_ro("device", [](const Tensor& t) { return nb::make_tuple(t.tensor().device.kind, t.tensor().device.number); })
        .def_prop_ro("memory", [](const Tensor& t) { return reinterpret_cast<Address>(t.tensor().data); })
        .def_prop_ro("byte_offset", [](const Tensor& t) { return t.tensor().byte_offset; })
        .def_prop_ro("shape", &Tensor::shape)
        .def_prop_ro("strides", &Tensor::strides)
        .def_prop_ro("type", &Tensor::type)
        .def_prop_ro("read_only", &Tensor::read_only);
    m.def("export_dlpack", &export_dlpack, "owner"_a, "memory"_a, "offset"_a, "type"_a, "kind"_a, "number"_a, "shape"_a,
          "strides"_a, "versioned"_a, "read_only"_a);
    m.def("copy_to_device", &move_to);
    m.def("copy_from_device", &move_from);
    m.def("copy_on_device", &move_there);
    m.def("gemm_on_device", &gemm_there, "session"_a, "type"_a, "op_a"_a, "op_b"_a, "m"_a, "n"_a, "k"_a, "A"_a, "lda"_a, "B"_a,
          "ldb"_a, "C"_a, "ldc"_a, "nb"_a = 0);
    m.def("potrf_on_device", &potrf_there, "session"_a, "type"_a, "uplo"_a, "n"_a, "A"_a, "lda"_a, "nb"_a = 0);
    m.def("potrs_on_device", &potrs_there);
    m.def("posv_on_device", &posv_there);
    m.def("getrf_on_device", &getrf_there, "session"_a, "type"_a, "m"_a, "n"_a, "A"_a, "lda"_a, "pivots"_a, "nb"_a = 0);
    m.def("getrs_on_device", &getrs_there);
}

} // namespace trencadis::python
