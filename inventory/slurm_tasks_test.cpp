#include "inventory/slurm_tasks.hpp"

#include <gmock/gmock.h>

namespace fabricgate {
namespace {

using ::testing::ElementsAre;

TEST(SlurmTasks, one_number_a_node_in_the_order_of_the_node_list) {
  EXPECT_THAT(expand_tasks_per_node("4(x3),2").value(), ElementsAre(4, 4, 4, 2));
  EXPECT_THAT(expand_tasks_per_node("8").value(), ElementsAre(8));
  EXPECT_THAT(expand_tasks_per_node("1,16(x2),1(x1)").value(), ElementsAre(1, 16, 16, 1));
}

TEST(SlurmTasks, another_form_is_refused_with_the_part_that_is_wrong) {
  for (const char* text : {"", "4,", "x3", "4(x)", "4(x3", "4(x0)", "0(x3)", "4(3)", "4(x3)2", "4 (x3)", "-4", "4(x-1)",
                           "99999999999", "4(x65537)"})
    EXPECT_FALSE(expand_tasks_per_node(text)) << text;
  EXPECT_EQ(expand_tasks_per_node("4(x3),2(y1)").error().what,
            "expected tasks or tasks(xnodes) of 1 to 65536 each, as in 4(x3),2; found '2(y1)'");
  EXPECT_EQ(expand_tasks_per_node("1(x65536),1").error().what, "more than 65536 nodes");
}

}  // namespace
}  // namespace fabricgate
