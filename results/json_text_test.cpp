#include "results/json_text.hpp"

#include <gtest/gtest.h>

namespace fabricgate {
namespace {

using nlohmann::json;

TEST(JsonText, OnlyAWholeNumberThatFitsIsTaken) {
  const json good{{"n", 7}, {"least", -3}, {"most", UINT64_MAX}};
  EXPECT_EQ(whole_from<int>(good, "n"), 7);
  EXPECT_EQ(whole_from<int>(good, "least"), -3);
  EXPECT_EQ(count_from(good, "most"), UINT64_MAX);
  EXPECT_THROW(count_from(good, "least"), json::type_error);
  EXPECT_THROW(whole_from<std::int64_t>(good, "most"), json::type_error);
  EXPECT_THROW(whole_from<int>(good, "absent"), json::out_of_range);
  for (const json& bad : {json(1e18), json(1.5), json(7.0), json(1e300), json("7"), json(nullptr), json(true), json(std::int64_t{1} << 31)})
    EXPECT_THROW(whole_from<int>({{"n", bad}}, "n"), json::type_error) << bad;
}

}  // namespace
}  // namespace fabricgate
