#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

/// Graphs that an OpenMP runtime and its preset are both given. Only what both sides share, so that the OpenMP program needs
/// nothing of the library.
namespace pattern {

inline constexpr int none = -1;

/// What a task reads and what it updates, by number of the tile.
struct TileTask {
    int reads[2];
    int updates;
};

/// Tile Cholesky of n x n tiles, in the order in which `tasks` submits it; at least `most` tasks or all.
inline std::vector<TileTask> cholesky(int n, std::size_t most)
{
    std::vector<TileTask> tasks;
    const auto at = [n](int i, int j) { return i * n + j; };
    for (int k = 0; k < n && tasks.size() < most; ++k) {
        tasks.push_back({{none, none}, at(k, k)});
        for (int i = k + 1; i < n; ++i) tasks.push_back({{at(k, k), none}, at(i, k)});
        for (int j = k + 1; j < n; ++j) {
            tasks.push_back({{at(j, k), none}, at(j, j)});
            for (int i = j + 1; i < n; ++i) tasks.push_back({{at(i, k), at(j, k)}, at(i, j)});
        }
    }
    return tasks;
}

/// n tasks on tiles of their own.
inline std::vector<TileTask> independent(int n)
{
    std::vector<TileTask> tasks;
    for (int i = 0; i < n; ++i) tasks.push_back({{none, none}, i});
    return tasks;
}

/// At most the first so many tasks of one of them.
inline std::vector<TileTask> named(std::string_view name, int n, std::size_t most = 1000)
{
    std::vector<TileTask> tasks = name == "cholesky" ? cholesky(n, most) : independent(n);
    if (tasks.size() > most) tasks.erase(tasks.begin() + std::ptrdiff_t(most), tasks.end());
    return tasks;
}

} // namespace pattern
