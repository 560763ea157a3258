#pragma once
#include "algorithms/node_share.hpp"
#include "algorithms/packed_product.hpp"
#include "base/node_bytes.hpp"

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace trencadis {

/// The block of C that one node computes.
struct NodeBlock {
    Index row, rows, col, cols;
};

/// Cuts C, m x n, into one block per node: a grid that makes the copies of A and B smallest where all nodes are alike, otherwise
/// strips of the longer side in proportion to the weights. Blocks may be empty.
std::vector<NodeBlock> node_blocks(Index m, Index n, std::span<const NodeShare> nodes);

/// Is a product of this size faster by nodes? The split saves `gain`, the share of the time that reading other nodes' memory
/// costs (4.46 % published for a product whose operands are not copied), and loses, because nodes do not help each other in the
/// end, half a tile per worker. So it pays from 1 / (2 gain) = 11.2 tiles per worker on: n = 13,400 for 96 workers and tiles of
/// 300 x 512, where 15,360 was published.
template <Scalar T> bool nodes_pay(const PackedProduct<T>& product, std::span<const NodeShare> nodes);

/// The node of each of some pages, from the one that the address lies in: -1 for one that is nowhere yet; empty: not known.
using PageNodes = std::function<std::vector<int>(const void* data, std::size_t pages)>;

/// C <- alpha A B + beta C on several memory nodes, general A and B, as independent products, one per node: the parts of A and B
/// that a node needs are copied into its memory, by its workers, in packed form; C is updated in place. Nothing waits for another
/// node. The result depends on the number of nodes by rounding, as on the tile size; not on where the operands lie.
///
/// Memory beyond the operands: that of packed_product per node. Holds the images, so it must outlive the flow's tasks.
/// Literature: a NUMA-aware DGEMM on Kunpeng 920 (Electronics 10:1984, 2021), where threads meet at barriers inside a node; here
/// data flow orders them.
template <Scalar T> class NodeProduct {
public:
    /// `nb`: edge of all tiles; 0: chosen for each node's block and workers. Throws Error{out_of_memory}.
    NodeProduct(const PackedProduct<T>& product, std::span<const NodeShare> nodes, Index nb = 0);

    /// Submits one managing task per node, which submits that node's product inside itself.
    void submit(Flow& flow) const;

    /// What each node reads and writes: every operand of every task, images included and caches not considered, by where `pages`
    /// says it lies. Pages that are nowhere yet count as local, as do images where the system binds them or `images_local` says
    /// so. Meaningful after the run, when all pages are somewhere. Empty when the places are not known.
    std::vector<NodeBytes> bytes(const PageNodes& pages, bool images_local) const;
    bool bound() const; ///< all images are on their nodes because the system binds them

private:
    struct Part {
        NodeShare share;
        PackedProduct<T> product;
        ProductTiling tiling;
        ProductImages<T> images;
    };
    struct Manage;
    PackedProduct<T> whole_;
    std::vector<std::unique_ptr<Part>> parts_;
    std::vector<int> nodes_; ///< of all shares, also of those with an empty block
};

} // namespace trencadis
