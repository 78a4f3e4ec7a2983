#pragma once
/// For tests of inventories that are refused.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "inventory/inventory.hpp"
#include "results/file.hpp"

namespace fabricgate {

/// One edit of testdata/base.yaml (`from` empty: the whole text is `to`) and every problem it must give.
struct BadInventory {
  const char* title;
  std::string from, to;
  std::vector<std::string> expected;  ///< line:column: what
};

/// The text of testdata/base.yaml with the edit has exactly these problems.
inline void expect_problems(const BadInventory& bad) {
  const auto base = read_file(TESTDATA "/base.yaml");
  ASSERT_TRUE(base);
  ASSERT_TRUE(parse_inventory(*base, "base").inventory);
  std::string text = bad.to;
  if (!bad.from.empty()) {
    const std::size_t at = base->find(bad.from);
    ASSERT_NE(at, std::string::npos) << bad.title;
    text = std::string(*base).replace(at, bad.from.size(), bad.to);
  }
  const LoadedInventory loaded = parse_inventory(text, "f");
  std::vector<std::string> found;
  for (const auto& problem : loaded.problems) found.push_back(to_string(problem).substr(2));
  EXPECT_EQ(found, bad.expected) << bad.title;
  EXPECT_FALSE(loaded.inventory) << bad.title;
}

}  // namespace fabricgate
