#include "inventory/observe/gid_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace fabricgate {
namespace {

constexpr std::uint32_t address = 0xac100003;  // 172.16.0.3
const char *mapped = "0000:0000:0000:0000:0000:ffff:ac10:0003", *other = "0000:0000:0000:0000:0000:ffff:c0a8:0001";
const char *local = "fe80:0000:0000:0000:0000:5eff:fe00:5301", *v1 = "IB/RoCE v1", *v2 = "RoCE v2";

TEST(GidChoice, TheRoceV2EntryOfTheRailsAddressIsChosenWhereverItStands) {
  std::vector<Gid> gids{{0, local, v1, "ens1"},
                        {1, local, v2, "ens1"},
                        {2, mapped, v1, "ens1"},
                        {3, other, v2, "ens1"},
                        {7, mapped, v2, "ens1"}};
  for (int turn = 0; turn < 5; ++turn) {
    EXPECT_EQ(choose_gid(gids, "ens1", address).index, 7);
    std::rotate(gids.begin(), gids.begin() + 1, gids.end());
  }
}

TEST(GidChoice, WhatCannotCarryTheRailIsRefusedWithItsReason) {
  struct Row {
    std::vector<Gid> gids;
    GidProblem problem;
  };
  const std::vector<Row> rows{{{}, GidProblem::empty},
                              {{{0, local, v1, "ens1"}, {1, local, v2, "ens1"}}, GidProblem::link_local},
                              {{{0, local, v2, "ens1"}, {3, mapped, v1, "ens1"}}, GidProblem::roce_v1},
                              {{{0, local, v2, "ens1"}, {3, other, v2, "ens1"}}, GidProblem::address_missing},
                              {{{3, mapped, v2, "ens1.100"}}, GidProblem::other_interface},
                              {{{3, mapped, v2, "ens1"}, {5, mapped, v2, "ens1"}}, GidProblem::ambiguous}};
  for (const Row& row : rows) {
    const GidChoice choice = choose_gid(row.gids, "ens1", address);
    EXPECT_EQ(choice.index, -1);
    EXPECT_EQ(choice.problem, row.problem);
    EXPECT_FALSE(choice.found.empty());
  }
}

TEST(GidChoice, ASecondEntryOnAnotherInterfaceDoesNotMatter) {
  EXPECT_EQ(choose_gid({{3, mapped, v2, "ens1.100"}, {5, mapped, v2, "ens1"}}, "ens1", address).index, 5);
}

}  // namespace
}  // namespace fabricgate
