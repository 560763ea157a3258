#include "array.hpp"
#include "bind.hpp"
#include "call.hpp"
#include "drivers/linear_algebra.hpp"
#include "graph/task_flow.hpp"
#include "kernels/providers/provider.hpp"
#include "numpy.hpp"

#include <algorithm>

// Products for matmul: plain arrays with unit stride in one dimension of each matrix, or stacks of such matrices.

namespace trencadis::python {
namespace {

constexpr Flops shared_from = 1e8;    // a product this large keeps all workers busy by itself: about a millisecond
constexpr Flops flops_per_task = 2e6; // some tens of microseconds, far above a task's cost

/// C <- A B as gemm takes it. A C stored by rows is computed as C^T = B^T A^T.
template <Scalar T> class Product {
public:
    Product(Strided A, Strided B, Strided C)
    {
        if (!C.column_major()) {
            const Strided first = B.transposed();
            B = A.transposed();
            A = first;
            C = C.transposed();
        }
        left_ = Factor(A);
        right_ = Factor(B);
        m_ = C.rows;
        n_ = C.cols;
        k_ = A.cols;
        ldc_ = C.leading();
        c_ = static_cast<T*>(C.data);
    }
    Flops flops() const { return flops_per_fma<T> * static_cast<double>(m_) * static_cast<double>(n_) * static_cast<double>(k_); }
    void run(Session& session) const
    {
        gemm(session, left_.op, right_.op, m_, n_, k_, T(1), left_.data, left_.ld, right_.data, right_.ld, T(0), c_, ldc_,
             {.nb = 0, .interrupted = signalled, .variant = {}});
    }
    /// On the calling thread alone.
    void run(const KernelProvider& kernels) const
    {
        kernels.gemm(left_.op, right_.op, m_, n_, k_, T(1), left_.data, left_.ld, right_.data, right_.ld, T(0), c_, ldc_);
    }

private:
    struct Factor {
        Op op = Op::none;
        const T* data = nullptr;
        Index ld = 1;
        Factor() = default;
        explicit Factor(const Strided& m) : op(m.column_major() ? Op::none : Op::trans), data(static_cast<const T*>(m.data))
        {
            ld = op == Op::none ? m.leading() : m.transposed().leading();
        }
    };
    Factor left_, right_;
    Index m_, n_, k_, ldc_;
    T* c_;
};

/// Large products one after the other, each on all workers; small ones side by side.
template <Scalar T> void multiply(Session& session, const Buffer& a, const Buffer& b, const Buffer& c)
{
    const auto product = [&](Index i) { return Product<T>(a.matrix(i), b.matrix(i), c.matrix(i)); };
    const Index count = c.stack();
    const Flops each = product(0).flops();
    if (count == 1 || each >= shared_from) {
        for (Index i = 0; i < count; ++i) product(i).run(session);
        return;
    }
    const KernelProvider& kernels = session.kernels();
    const auto range = [&](Index first, Index last) {
        for (Index i = first; i < last; ++i) product(i).run(kernels);
    };
    const Index together = std::clamp<Index>(static_cast<Index>(flops_per_task / std::max(each, 1.0)), 1, count);
    if (together * 2 > count) return range(0, count);
    session.run(
        [&](Flow& flow) {
            for (Index first = 0; first < count; first += together)
                flow.submit(
                    "gemm stack", [&range, first, last = std::min(count, first + together)] { range(first, last); },
                    std::span<const Access>{});
        },
        signalled);
}

bool gemm_takes(const Buffer& array)
{
    const Strided m = array.matrix(); // the strides of all matrices of a stack
    return m.column_major() || m.row_major();
}

template <Scalar T> Flops flops_of(const Buffer& a, const Buffer& b)
{
    return double(a.stack()) * product_flops<T>(a.matrix().rows, b.matrix().cols, a.matrix().cols);
}

bool bind_multiply(Session* session, nb::handle a_array, nb::handle b_array, nb::handle c_array)
{
    const auto a = Buffer::open(a_array.ptr(), Buffer::Access::read, 3);
    const auto b = Buffer::open(b_array.ptr(), Buffer::Access::read, 3);
    const auto c = Buffer::open(c_array.ptr(), Buffer::Access::write, 3);
    if (!a || !b || !c || a->kind() != b->kind() || a->kind() != c->kind()) return false;
    const int dimensions = c->dimensions();
    if (dimensions < 2 || a->dimensions() != dimensions || b->dimensions() != dimensions) return false;
    if (a->stack() != c->stack() || b->stack() != c->stack()) return false;
    const Strided A = a->matrix(), B = b->matrix(), C = c->matrix();
    if (A.cols != B.rows || C.rows != A.rows || C.cols != B.cols) return false;
    if (!gemm_takes(*a) || !gemm_takes(*b) || !gemm_takes(*c)) return false;
    if (c->stack() == 0) return true;
    with_scalar(c->kind(), [&](auto zero) {
        using T = decltype(zero);
        compute([&] { multiply<T>(session_for(session, flops_of<T>(*a, *b)), *a, *b, *c); });
    });
    return true;
}

/// The quick way for two plain matrices: the product as a new array, or None.
nb::object bind_product(Session* session, nb::handle a_array, nb::handle b_array)
{
    if (!is_plain_array(a_array) || !is_plain_array(b_array)) return nb::none();
    const auto a = Buffer::open(a_array.ptr(), Buffer::Access::read);
    const auto b = Buffer::open(b_array.ptr(), Buffer::Access::read);
    if (!a || !b || a->kind() != b->kind() || a->dimensions() != 2 || b->dimensions() != 2) return nb::none();
    const Strided A = a->matrix(), B = b->matrix();
    if (A.cols != B.rows || A.empty() || B.empty() || !gemm_takes(*a) || !gemm_takes(*b)) return nb::none();
    nb::object product = empty(a->kind(), A.rows, B.cols, 2, 'C'); // numpy.matmul's order
    const Buffer c = Buffer::require(product.ptr(), Buffer::Access::write, 3, "c");
    with_scalar(a->kind(), [&](auto zero) {
        using T = decltype(zero);
        compute([&] { multiply<T>(session_for(session, flops_of<T>(*a, *b)), *a, *b, c); });
    });
    return product;
}

} // namespace

void bind_products(nb::module_& m)
{
    using namespace nb::literals;
    m.def("product", &bind_product, "session"_a.none(), "a"_any, "b"_any);
    m.def("multiply", &bind_multiply, "session"_a.none(), "a"_any, "b"_any, "c"_any);
}

} // namespace trencadis::python
