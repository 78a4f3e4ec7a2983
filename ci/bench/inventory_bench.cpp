/// Loading and validating 5,000 nodes against plain YAML::Load of the same text, which builds a tree and checks
/// nothing.
///   ninja -C build/release bench_inventory && build/release/ci/bench/bench_inventory
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>

#include "inventory/inventory.hpp"

namespace {

constexpr int node_count = 5000;
constexpr int repetitions = 7;

std::string head() {
  std::string text =
      "schema: 1\ncluster: { name: bench, management_cidr: 10.0.0.0/16 }\nclasses:\n  gpu:\n    gpus: 8\n    rails:\n";
  for (int rail = 0; rail < 8; ++rail)
    text += fmt::format(
        "      - {{ netdev: eth{0}, device: mlx5_{0}, gpu: {0}, rate_gbps: 400, mtu: 9000, cidr: 172.{1}.0.0/16 }}\n",
        rail, 16 + rail);
  return text + "nodes:\n";
}

std::string address(int node) {
  return fmt::format("10.0.{}.{}", (node + 1) / 256, (node + 1) % 256);
}

std::string in_ranges() {
  std::string text = head();
  for (int node = 0; node < node_count; node += 50)
    text += fmt::format("  - hosts: gpu[{:05}-{:05}]\n    class: gpu\n    address: {}\n    rack: r{}\n", node,
                        node + 49, address(node), node / 50);
  return text;
}

std::string with_overrides() {
  std::string text = head();
  for (int node = 0; node < node_count; ++node)
    text += fmt::format(
        "  - hosts: gpu{:05}\n    class: gpu\n    address: {}\n    overrides:\n      rails:\n        0: {{ leaf: "
        "leaf{} }}\n",
        node, address(node), node / 32);
  return text;
}

/// Median of a few repetitions.
double seconds(const std::function<void()>& work) {
  std::vector<double> all;
  for (int i = 0; i < repetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    all.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(all.begin(), all.begin() + repetitions / 2, all.end());
  return all[repetitions / 2];
}

bool measure(const char* title, const std::string& text) {
  std::size_t nodes = 0, tree = 0;
  const double ours = seconds([&] {
    const auto loaded = fabricgate::parse_inventory(text, "bench");
    nodes = loaded.inventory ? loaded.inventory->nodes.size() : 0;
    if (!loaded.inventory) std::fprintf(stderr, "%s\n", to_string(loaded.problems.front()).c_str());
  });
  const double plain = seconds([&] { tree = YAML::Load(text)["nodes"].size(); });
  fmt::print(
      "{}: {} nodes, {} list items, {} bytes: load and validate {:.1f} ms, YAML::Load alone {:.1f} ms, ratio {:.2f}\n",
      title, nodes, tree, text.size(), ours * 1e3, plain * 1e3, ours / plain);
  return nodes == node_count;
}

}  // namespace

int main() {
  const bool ranges = measure("ranges", in_ranges());
  return measure("an override on every node", with_overrides()) && ranges ? 0 : 1;
}
