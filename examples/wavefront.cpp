// The length of the longest common subsequence of two texts, by blocks in a wavefront: a data-flow algorithm without any
// linear algebra. Block (i, j) needs the last row of the block above and the last column of the block to its left, and
// says no more than that; which blocks run at the same time follows.
#include "trencadis/trencadis.hpp"

#include <algorithm>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

namespace {

std::string random_text(std::size_t length, unsigned seed)
{
    std::mt19937 generator(seed);
    std::string text(length, ' ');
    for (char& letter : text) letter = "ACGT"[generator() % 4];
    return text;
}

/// Fills one block of the table L[i][j] = length for the first i letters of a and j of b, given its upper edge (`row`, one
/// longer than b) and its left edge (`column`, as long as a); leaves its lower and right edges there.
void block(const std::string& a, const std::string& b, int* row, int* column)
{
    for (std::size_t i = 0; i < a.size(); ++i) {
        int diagonal = row[0], left = column[i];
        row[0] = left;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const int up = row[j + 1];
            left = a[i] == b[j] ? diagonal + 1 : std::max(up, left);
            diagonal = up;
            row[j + 1] = left;
        }
        column[i] = left;
    }
}

int in_blocks(trencadis::DataFlow& flow, const std::string& a, const std::string& b, std::size_t size)
{
    const std::size_t rows = (a.size() + size - 1) / size, cols = (b.size() + size - 1) / size;
    std::vector<std::vector<int>> row(cols, std::vector<int>(size + 1)), column(rows, std::vector<int>(size));
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < cols; ++j)
            flow.submit("block",
                        [&, i, j] { block(a.substr(i * size, size), b.substr(j * size, size), row[j].data(), column[i].data()); },
                        {trencadis::readwrite(row[j].data()), trencadis::readwrite(column[i].data())});
    flow.wait();
    return column[rows - 1][(a.size() - 1) % size];
}

} // namespace

int main()
{
    const std::string a = random_text(6000, 1), b = random_text(5000, 2);
    trencadis::Session session;
    trencadis::DataFlow flow(session);
    const int by_blocks = in_blocks(flow, a, b, 256);

    std::vector<int> row(b.size() + 1), column(a.size());
    block(a, b, row.data(), column.data());
    std::printf("longest common subsequence: %d letters in blocks, %d at once\n", by_blocks, column.back());
    return by_blocks == column.back() ? 0 : 1;
}
