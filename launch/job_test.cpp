#include "launch/job.hpp"

#include <gtest/gtest.h>

namespace fabricgate::launch {
namespace {

Job sample() {
  return {.identity = {.run = "r1", .inventory = "aa", .build = "b", .suite = "default"},
          .name = "pair-2",
          .inventory_text = "schema: 1\n",
          .tiers = {Tier::pair, Tier::collective},
          .hosts = {"n1", "n2"},
          .finished = {"pair.rail n1,n2 rail0"},
          .options = {.budget_s = 60, .allow_busy = true, .seed = 7},
          .head = "h1",
          .deadline_s = 90};
}

TEST(Job, SurvivesItsText) {
  const Job job = sample();
  const auto read = job_from_text(to_text(job));
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->identity, job.identity);
  EXPECT_EQ(read->tiers, job.tiers);
  EXPECT_EQ(read->hosts, job.hosts);
  EXPECT_EQ(read->finished, job.finished);
  EXPECT_EQ(read->options, job.options);
  EXPECT_EQ(read->inventory_text, job.inventory_text);
  EXPECT_EQ(read->head, job.head);
}

TEST(Job, TruncatedOrForeignTextIsAnErrorNotACrash) {
  const std::string text = to_text(sample());
  for (std::size_t cut = 0; cut < text.size(); cut += 7) EXPECT_FALSE(job_from_text(text.substr(0, cut)));
  EXPECT_FALSE(job_from_text("[]"));
  EXPECT_FALSE(job_from_text("{\"schema\": 2}"));
}

TEST(Job, FilesOfARunShareOneFolderOfTheNode) {
  EXPECT_EQ(rank_spool("/var/tmp/fabricgate", "r1", "n1"), "/var/tmp/fabricgate/r1/rank-n1.jsonl");
  EXPECT_EQ(job_path("/var/tmp/fabricgate", "r1", "host"), "/var/tmp/fabricgate/r1/job-host.json");
}

}  // namespace
}  // namespace fabricgate::launch
