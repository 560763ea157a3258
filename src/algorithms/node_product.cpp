#include "algorithms/node_product.hpp"

#include "graph/task_context.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace trencadis {
namespace {

constexpr Index cut_unit = 16; ///< cuts keep the alignment of whole cache lines where the caller's matrix has it

/// Where part `i` of weights begins in `size`.
Index cut(Index size, double before, double total)
{
    const Index at = static_cast<Index>(std::llround(double(size) * before / total));
    return before >= total ? size : std::min(size, (at + cut_unit / 2) / cut_unit * cut_unit);
}

std::vector<NodeBlock> strips(Index m, Index n, std::span<const NodeShare> nodes)
{
    double total = 0, before = 0;
    for (const NodeShare& node : nodes) total += node.weight;
    std::vector<NodeBlock> blocks;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const double after = i + 1 == nodes.size() ? total : before + nodes[i].weight;
        const Index size = m > n ? m : n, begin = cut(size, before, total), end = cut(size, after, total);
        blocks.push_back(m > n ? NodeBlock{begin, end - begin, 0, n} : NodeBlock{0, m, begin, end - begin});
        before = after;
    }
    return blocks;
}

/// The pages that an operand lies on.
class OperandPages {
public:
    template <Scalar T> OperandPages(const blas::Operand<T>& A, Index rows, Index cols, const PageNodes& pages)
    {
        if (rows == 0 || cols == 0) return;
        const auto begin = reinterpret_cast<std::uintptr_t>(A.data);
        const auto end = reinterpret_cast<std::uintptr_t>(A.data + (rows - 1) * A.rs + (cols - 1) * A.cs + 1);
        first_ = begin / page_bytes;
        nodes_ = pages(A.data, (end - 1) / page_bytes - first_ + 1);
        known_ = !nodes_.empty();
    }
    bool known() const { return known_; }

    /// Bytes of the operand's leading rows x cols that lie on another node than `node`.
    template <Scalar T> Bytes remote(const blas::Operand<T>& A, Index rows, Index cols, int node) const
    {
        if (A.rs != 1 && A.cs == 1) return remote(A.transposed(), cols, rows, node);
        const Index run = A.rs == 1 ? rows : 1, runs = A.rs == 1 ? 1 : rows;
        Bytes bytes = 0;
        for (Index j = 0; j < cols; ++j)
            for (Index i = 0; i < runs; ++i)
                bytes +=
                    remote(reinterpret_cast<std::uintptr_t>(A.data + i * A.rs + j * A.cs), std::size_t(run) * sizeof(T), node);
        return bytes;
    }

private:
    Bytes remote(std::uintptr_t at, std::size_t bytes, int node) const
    {
        Bytes sum = 0;
        for (const std::uintptr_t end = at + bytes; at < end;) {
            const std::uintptr_t next = std::min(end, (at / page_bytes + 1) * page_bytes);
            const int on = nodes_[at / page_bytes - first_];
            if (on >= 0 && on != node) sum += Bytes(next - at);
            at = next;
        }
        return sum;
    }
    std::uintptr_t first_ = 0;
    std::vector<int> nodes_;
    bool known_ = true;
};

/// The share of a node's images that lies elsewhere.
double remote_share(const WorkMemory& memory, int node, const PageNodes& pages)
{
    if (memory.bound() || memory.bytes() == 0) return 0;
    const std::vector<int> nodes = pages(memory.data(), memory.bytes() / page_bytes);
    const auto elsewhere = std::count_if(nodes.begin(), nodes.end(), [node](int on) { return on >= 0 && on != node; });
    return nodes.empty() ? 0 : double(elsewhere) / double(nodes.size());
}

void count_read(NodeBytes& row, Bytes all, Bytes remote, Index times)
{
    row.local_read += (all - remote) * double(times);
    row.remote_read += remote * double(times);
}
void count_written(NodeBytes& row, Bytes all, Bytes remote, Index times)
{
    row.local_written += (all - remote) * double(times);
    row.remote_written += remote * double(times);
}

} // namespace

std::vector<NodeBlock> node_blocks(Index m, Index n, std::span<const NodeShare> nodes)
{
    const auto other = [&](const NodeShare& node) { return node.weight != nodes.front().weight; };
    if (std::any_of(nodes.begin(), nodes.end(), other)) return strips(m, n, nodes);
    // A grid of r x c copies A c times and B r times: c m + r n rows and columns in all.
    const Index count = static_cast<Index>(nodes.size());
    Index r = 1;
    for (Index rows = 1; rows <= count; ++rows)
        if (count % rows == 0 && count / rows * m + rows * n < count / r * m + r * n) r = rows;
    const Index c = count / r;
    std::vector<NodeBlock> blocks;
    for (Index i = 0; i < r; ++i)
        for (Index j = 0; j < c; ++j) {
            const Index row = cut(m, double(i), double(r)), col = cut(n, double(j), double(c));
            blocks.push_back({row, cut(m, double(i + 1), double(r)) - row, col, cut(n, double(j + 1), double(c)) - col});
        }
    return blocks;
}

template <Scalar T> bool nodes_pay(const PackedProduct<T>& product, std::span<const NodeShare> nodes)
{
    constexpr double gain = 0.0446;
    if (nodes.size() < 2) return false;
    int workers = 0;
    for (const NodeShare& node : nodes) workers += node.workers;
    const ProductTiling tiling = product_tiling(product, 1); // tiles as large as the caches want them
    return double(product.m) * double(product.n) * 2 * gain >= double(workers) * double(tiling.rows) * double(tiling.cols);
}

/// The managing task: runs on a worker of the node and computes with the others of the node once all is submitted.
template <Scalar T> struct NodeProduct<T>::Manage {
    static constexpr bool at_home = true;
    const Part* part;
    void run(TaskContext& context) const { packed_product(context.flow(), part->product, part->tiling, part->images); }
};

template <Scalar T>
NodeProduct<T>::NodeProduct(const PackedProduct<T>& product, std::span<const NodeShare> nodes, Index nb) : whole_(product)
{
    const std::vector<NodeBlock> blocks = node_blocks(product.m, product.n, nodes);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        nodes_.push_back(nodes[i].node);
        const NodeBlock& block = blocks[i];
        if (block.rows == 0 || block.cols == 0) continue;
        PackedProduct<T> own = product;
        own.m = block.rows;
        own.n = block.cols;
        own.A = product.A.block(block.row, 0);
        own.B = product.B.block(0, block.col);
        own.C = {product.C.data + block.row + block.col * product.C.ld, block.rows, block.cols, product.C.ld};
        const ProductTiling tiling = nb ? square_tiling(own, nb) : product_tiling(own, nodes[i].workers);
        parts_.push_back(std::unique_ptr<Part>(new Part{nodes[i], own, tiling, {own, tiling, {.node = nodes[i].memory}}}));
    }
}

template <Scalar T> void NodeProduct<T>::submit(Flow& flow) const
{
    static constexpr Codelet codelet = [] {
        Codelet manage = codelet_of<Manage>("node");
        manage.submits = true;
        manage.counted = false;
        return manage;
    }();
    for (const auto& part : parts_) {
        TaskOptions options;
        options.node = part->share.node;
        flow.submit(codelet, Manage{part.get()}, {}, options);
    }
}

template <Scalar T> std::vector<NodeBytes> NodeProduct<T>::bytes(const PageNodes& pages, bool images_local) const
{
    const Index k = whole_.alpha == T(0) ? 0 : whole_.k;
    const blas::Operand<T> C = blas::general(static_cast<const T*>(whole_.C.data), whole_.C.ld);
    const OperandPages of_A(whole_.A, whole_.m, k, pages), of_B(whole_.B, k, whole_.n, pages), of_C(C, whole_.m, whole_.n, pages);
    if (!of_A.known() || !of_B.known() || !of_C.known()) return {};
    std::vector<NodeBytes> rows;
    for (const int node : nodes_) rows.push_back({node});
    for (const auto& part : parts_) {
        const PackedProduct<T>& p = part->product;
        const int node = part->share.node;
        NodeBytes& row = *std::find_if(rows.begin(), rows.end(), [node](const NodeBytes& r) { return r.node == node; });
        const ProductTraffic traffic = product_traffic(p, part->tiling);
        const Bytes A = double(p.m) * double(k) * sizeof(T), B = double(k) * double(p.n) * sizeof(T),
                    all = double(p.m) * double(p.n) * sizeof(T);
        count_read(row, A, of_A.remote(p.A, p.m, k, node), traffic.packs_of_A);
        count_read(row, B, of_B.remote(p.B, k, p.n, node), traffic.packs_of_B);
        const Bytes remote_C = of_C.remote(blas::general(static_cast<const T*>(p.C.data), p.C.ld), p.m, p.n, node);
        count_read(row, all, remote_C, traffic.reads_of_C);
        count_written(row, all, remote_C, traffic.writes_of_C);
        const double left = images_local ? 0 : remote_share(part->images.left_memory(), node, pages),
                     right = images_local ? 0 : remote_share(part->images.right_memory(), node, pages);
        count_written(row, A, left * A, traffic.packs_of_A);
        count_written(row, B, right * B, traffic.packs_of_B);
        count_read(row, A, left * A, traffic.reads_of_left);
        count_read(row, B, right * B, traffic.reads_of_right);
    }
    return rows;
}

template <Scalar T> bool NodeProduct<T>::bound() const
{
    return std::all_of(parts_.begin(), parts_.end(), [](const auto& part) {
        const WorkMemory &left = part->images.left_memory(), &right = part->images.right_memory();
        return (left.bound() || left.bytes() == 0) && (right.bound() || right.bytes() == 0);
    });
}

#define TRC_INSTANTIATE(T)                                                                                                       \
    template bool nodes_pay(const PackedProduct<T>&, std::span<const NodeShare>);                                                \
    template class NodeProduct<T>;
TRC_INSTANTIATE(float)
TRC_INSTANTIATE(double)
TRC_INSTANTIATE(std::complex<float>)
TRC_INSTANTIATE(std::complex<double>)
#undef TRC_INSTANTIATE

} // namespace trencadis
