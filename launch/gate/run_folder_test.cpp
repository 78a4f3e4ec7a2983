#include "launch/gate/run_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "results/file.hpp"
#include "suites/gate/good_run.hpp"

namespace fabricgate::launch {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RunFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    runs = testing::TempDir() + "run_folder_" + std::to_string(::getpid());
    const suites::GoodRun run = suites::good_run();
    auto made = make_setup(job_by_hand(run.inventory, {}));
    ASSERT_TRUE(made) << made.error().what;
    setup = std::make_unique<launch::Setup>(std::move(*made));
  }
  void TearDown() override { fs::remove_all(runs); }

  RunFolder create() const {
    auto folder = RunFolder::create(runs, *setup);
    EXPECT_TRUE(folder) << folder.error().what;
    return *folder;
  }
  static void write(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(path).parent_path());
    EXPECT_TRUE(write_file_atomic(path, text)) << path;
  }
  static std::string text_of(const std::string& path) {
    auto text = read_file(path);
    EXPECT_TRUE(text) << path;
    return text ? *text : "";
  }

  std::string runs;
  std::unique_ptr<launch::Setup> setup;
};

TEST_F(RunFolderTest, WhatWasCreatedIsLoadedAgain) {
  const RunFolder folder = create();
  const auto loaded = RunFolder::load(folder.path());
  ASSERT_TRUE(loaded) << loaded.error().what;
  EXPECT_EQ(loaded->job.identity, setup->job.identity);
  EXPECT_EQ(loaded->inventory.checksum, setup->inventory.checksum);
  EXPECT_EQ(loaded->job.limits_text, suites::default_limits_text());
  EXPECT_EQ(loaded->job.suite_text, suites::default_suite_text());
}

TEST_F(RunFolderTest, TheFolderOfAStageIsSaidToBeOne) {
  write(runs + "/stage-0.jsonl", "{}\n");  // as commands/stage.cpp names it
  EXPECT_THAT(RunFolder::load(runs).error().what, HasSubstr("is the folder of a stage"));
}

TEST_F(RunFolderTest, TheBudgetAndWhatEndedTheRunAreKept) {
  setup->job.options.budget_s = 2.5;
  const RunFolder folder = create();
  EXPECT_EQ(folder.interrupted(), "");
  ASSERT_TRUE(folder.note_interrupt("SIGINT"));
  EXPECT_EQ(RunFolder(folder.path()).interrupted(), "SIGINT");
  EXPECT_EQ(folder.unfinished(), "");
  ASSERT_TRUE(folder.note_unfinished("tier pair: mpirun ended by signal 9 on the head"));
  EXPECT_EQ(RunFolder(folder.path()).unfinished(), "tier pair: mpirun ended by signal 9 on the head");
  const auto loaded = RunFolder::load(folder.path());
  ASSERT_TRUE(loaded) << loaded.error().what;
  EXPECT_EQ(loaded->job.options.budget_s, 2.5);
}

TEST_F(RunFolderTest, FindingsOfTheRunAreKeptAndALineThatIsNoneIsOneItself) {
  const RunFolder folder = create();
  EXPECT_TRUE(folder.findings().empty());
  const Finding stranger = make_finding("launch.placement", {}, "ranks on nodes of the inventory only", "h9 is none");
  ASSERT_TRUE(folder.add(stranger));
  EXPECT_THAT(RunFolder(folder.path()).findings(), ElementsAre(stranger));
  write(folder.file("findings.jsonl"), "{\"cause\": \n");
  const auto spoilt = folder.findings();
  ASSERT_EQ(spoilt.size(), 1U);
  EXPECT_EQ(spoilt[0].cause, "gate.record_unreadable");
}

TEST_F(RunFolderTest, ARunIsNeverWrittenOverAnother) {
  const RunFolder folder = create();
  write(folder.file("head.jsonl"), "kept\n");
  const auto again = RunFolder::create(runs, *setup);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().what, HasSubstr(folder.path() + " exists already"));
  EXPECT_EQ(text_of(folder.file("head.jsonl")), "kept\n");
}

TEST_F(RunFolderTest, AnotherInventoryThanThatOfTheRunIsRefused) {
  const RunFolder folder = create();
  write(folder.file("inventory.yaml"), setup->inventory.text + "\n# changed\n");
  const auto loaded = RunFolder::load(folder.path());
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().what, HasSubstr(folder.file("inventory.yaml") + " is not the inventory of this run"));
}

TEST_F(RunFolderTest, AnIdentityThatIsBrokenOrACopyThatIsGoneNamesTheFile) {
  const RunFolder folder = create();
  write(folder.file("identity.json"), "{\"run\": 7}");
  auto loaded = RunFolder::load(folder.path());
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().what, HasSubstr(folder.file("identity.json")));
  for (const char* name : {"identity.json", "suite.yaml", "limits.yaml", "inventory.yaml"}) {
    fs::remove(folder.file(name));
    loaded = RunFolder::load(folder.path());
    ASSERT_FALSE(loaded) << name;
    EXPECT_THAT(loaded.error().what, HasSubstr(folder.file(name)));
  }
}

TEST_F(RunFolderTest, AnIdentityThatLacksAnythingNamesFileKeyAndWhatToDo) {
  const RunFolder folder = create();
  const auto whole = nlohmann::json::parse(*read_file(folder.file("identity.json")));
  for (const char* key : {"run", "inventory", "build", "suite", "suite_sha256", "limits_sha256", "budget_s"})
    for (const nlohmann::json& value : {nlohmann::json(nullptr), nlohmann::json(nlohmann::json::array()), nlohmann::json("")}) {
      nlohmann::json changed = whole;
      changed[key] = value;
      write(folder.file("identity.json"), changed.dump());
      const auto loaded = RunFolder::load(folder.path());
      ASSERT_FALSE(loaded) << key << value;
      for (const std::string& part : {folder.file("identity.json"), "'" + std::string(key) + "'", std::string("from a copy")})
        EXPECT_THAT(loaded.error().what, HasSubstr(part));
      EXPECT_THAT(loaded.error().what, testing::Not(HasSubstr("json.exception")));
    }
}

TEST_F(RunFolderTest, RecordFilesAreThoseOfHeadAndNodesInAFixedOrder) {
  const RunFolder folder = create();
  for (const char* name :
       {"spools/b/run/rank-b.jsonl", "spools/a/run/records-pair.jsonl", "spools/a/run/rank-a.jsonl", "head.jsonl",
        "spools/a/run/processes.jsonl", "spools/a/run/rank-a.jsonl.part", "records.jsonl", "spools/a/notes.txt"})
    write(folder.file(name), std::string(name) + "\n");
  std::vector<std::string> names, texts;
  for (const suites::RecordFile& file : folder.record_files()) {
    names.push_back(file.name);
    texts.push_back(file.text);
  }
  EXPECT_THAT(names, ElementsAre("head.jsonl", "spools/a/run/rank-a.jsonl", "spools/a/run/records-pair.jsonl",
                                 "spools/b/run/rank-b.jsonl"));
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(texts[i], names[i] + "\n");
}

TEST_F(RunFolderTest, EqualLinesOfSeveralFilesAreWrittenOnce) {
  const RunFolder folder = create();
  write(folder.file("head.jsonl"), "one\n");
  write(folder.file("spools/a/rank-a.jsonl"), "two\nthree\n");
  write(folder.file("spools/a/records-host.jsonl"), "three\n\none\nfour\n");
  ASSERT_TRUE(folder.write_records());
  EXPECT_EQ(text_of(folder.file("records.jsonl")), "one\ntwo\nthree\nfour\n");
}

TEST_F(RunFolderTest, ALineThatWasCutStaysALineOfItsOwn) {
  const RunFolder folder = create();
  write(folder.file("spools/a/rank-a.jsonl"), "whole\n{\"cut");
  write(folder.file("spools/b/rank-b.jsonl"), "next\n");
  ASSERT_TRUE(folder.write_records());
  EXPECT_EQ(text_of(folder.file("records.jsonl")), "whole\n{\"cut\nnext\n");
}

TEST_F(RunFolderTest, AddedRecordsAreRecordsOfTheHead) {
  const RunFolder folder = create();
  const Record record{.identity = setup->job.identity, .check = "stage.node", .tier = Tier::stage, .hosts = {"n0001"}};
  ASSERT_TRUE(folder.add(record));
  ASSERT_TRUE(folder.add(record));
  const auto files = folder.record_files();
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].text, to_line(record) + "\n" + to_line(record) + "\n");
}

TEST_F(RunFolderTest, WhatCannotBeReadIsALineThatIsNoRecord) {
  const RunFolder folder = create();
  fs::create_directories(folder.file("spools/a"));
  fs::create_symlink("/proc/self/mem", folder.file("spools/a/rank-a.jsonl"));  // a regular file that nobody can read from its start
  auto files = folder.record_files();
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].name, "spools/a/rank-a.jsonl");
  EXPECT_THAT(files[0].text, testing::StartsWith("this file could not be read: "));
  fs::remove_all(folder.file("spools"));
  EXPECT_TRUE(folder.record_files().empty());
  fs::create_symlink("spools", folder.file("spools"));
  files = folder.record_files();
  ASSERT_EQ(files.size(), 1U);
  EXPECT_THAT(files[0].text, testing::StartsWith("this folder could not be read: "));
}

TEST_F(RunFolderTest, LatestMovesToTheNewestRun) {
  create();
  ASSERT_TRUE(point_latest(runs, "run-1"));
  ASSERT_TRUE(point_latest(runs, "run-2"));
  EXPECT_EQ(fs::read_symlink(runs + "/latest"), "run-2");
  EXPECT_EQ(std::distance(fs::directory_iterator(runs), fs::directory_iterator()), 2)
      << "the run and the link, nothing else";
}

TEST_F(RunFolderTest, ALatestThatIsAFolderIsLeftAsItIsAndNamed) {
  fs::create_directories(runs + "/latest");
  const auto linked = point_latest(runs, "run-1");
  ASSERT_FALSE(linked);
  EXPECT_THAT(linked.error().what, testing::HasSubstr(runs + "/latest is a folder"));
  EXPECT_THAT(linked.error().what, testing::HasSubstr("run-1"));
  EXPECT_EQ(std::distance(fs::directory_iterator(runs), fs::directory_iterator()), 1) << "nothing else is left";
}

TEST_F(RunFolderTest, ALatestThatCannotBeReplacedLeavesNothing) {
  fs::create_directories(runs);
  const auto linked = point_latest(runs, std::string(5000, 'x'));  // longer than any link
  ASSERT_FALSE(linked);
  EXPECT_TRUE(fs::is_empty(runs));
}

TEST(ForEachLine, EmptyLinesAreLeftOutAndTheLastNeedsNoEnd) {
  std::vector<std::string> lines;
  for_each_line("a\n\n\nb\nc", [&](std::string_view line) { lines.emplace_back(line); });
  EXPECT_THAT(lines, ElementsAre("a", "b", "c"));
  for_each_line("", [](std::string_view) { ADD_FAILURE() << "nothing has no lines"; });
}

}  // namespace
}  // namespace fabricgate::launch
