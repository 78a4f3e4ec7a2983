#include "bootstrap/ssh/transfer.hpp"

#include <gmock/gmock.h>

#include "bootstrap/ssh/scan.hpp"
#include "bootstrap/ssh/sshd_fixture.hpp"

namespace fabricgate::bootstrap {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

class Transfer : public SshdTest {
 protected:
  static std::shared_ptr<const std::string> bytes(std::size_t size) {
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 2654435761u >> 11);
    return std::make_shared<const std::string>(std::move(text));
  }

  TransferOutcome upload(const Upload& file) {
    auto outcomes = upload_to_nodes(inventory, {{0, {file}}}, Deadline::in_seconds(60));
    if (!outcomes) return {0, outcomes.error()};
    return (*outcomes)[0];
  }

  TransferOutcome fetch(const std::string& remote, std::uint64_t max = 1 << 30) {
    auto outcomes = fetch_from_nodes(inventory, {{0, remote, folder + "/local", max}}, Deadline::in_seconds(60));
    if (!outcomes) return {0, outcomes.error()};
    return (*outcomes)[0];
  }

  static std::size_t entries(const std::string& path) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path), fs::directory_iterator()));
  }
};

TEST_F(Transfer, UploadArrivesWholeWithItsModeInANewFolder) {
  const std::string path = folder + "/new/deep er/it's";
  const auto content = bytes(3000001);
  const auto outcome = upload(make_upload(content, path, 0755));
  ASSERT_TRUE(outcome.status) << outcome.status.error().what;
  EXPECT_TRUE(*read_file(path) == *content);
  EXPECT_EQ(fs::status(path).permissions(), static_cast<fs::perms>(0755));
  EXPECT_EQ(entries(folder + "/new/deep er"), 1u);
}

TEST_F(Transfer, UploadReplacesAnOlderFile) {
  const std::string path = folder + "/file";
  ASSERT_TRUE(write_file_atomic(path, "old"));
  ASSERT_TRUE(upload(make_upload(bytes(10), path, 0600)).status);
  EXPECT_EQ(*read_file(path), *bytes(10));
}

TEST_F(Transfer, WrongChecksumLeavesTheOldFileAndNoPart) {
  fs::create_directory(folder + "/target");
  ASSERT_TRUE(write_file_atomic(folder + "/target/file", "old"));
  auto file = make_upload(bytes(1000), folder + "/target/file", 0644);
  file.sha256[0] = file.sha256[0] == '0' ? '1' : '0';
  const auto outcome = upload(file);
  ASSERT_TRUE(outcome.finding);
  EXPECT_EQ(outcome.finding->cause, "stage.upload_truncated");
  EXPECT_EQ(outcome.finding->subject.file, folder + "/target/file");
  EXPECT_EQ(*read_file(folder + "/target/file"), "old");
  EXPECT_EQ(entries(folder + "/target"), 1u);
}

/// A file size limit on the node's side, set by a forced command, cuts the file as a broken disk would.
TEST_F(Transfer, FileCutOnTheNodeIsTruncatedAndNeverInPlace) {
  fs::create_directory(folder + "/target");
  const std::string key = *read_file(folder + "/user.pub");
  ASSERT_TRUE(write_file_atomic(folder + "/authorized",
                                "command=\"ulimit -f 100; eval \\\"$SSH_ORIGINAL_COMMAND\\\"\" " + key));
  const auto outcome = upload(make_upload(bytes(1 << 20), folder + "/target/file", 0644));
  ASSERT_TRUE(outcome.finding);
  EXPECT_EQ(outcome.finding->cause, "stage.upload_truncated");
  EXPECT_EQ(entries(folder + "/target"), 0u);
}

TEST_F(Transfer, FullDiskIsSeenBeforeAnythingIsWritten) {
  const std::string small = folder + "/small";
  fs::create_directory(small);
  if (std::system(("mount -t tmpfs -o size=1m tmpfs " + small).c_str()) != 0)
    GTEST_SKIP() << "cannot mount a small tmpfs";
  const auto outcome = upload(make_upload(bytes(4 << 20), small + "/file", 0644));
  const auto left = entries(small);
  shell("umount " + small);
  ASSERT_TRUE(outcome.finding);
  EXPECT_EQ(outcome.finding->cause, "stage.disk_full");
  EXPECT_THAT(outcome.finding->expected, HasSubstr("4194304"));
  EXPECT_EQ(left, 0u);
}

TEST_F(Transfer, FolderThatCannotBeMadeIsAFinding) {
  const auto outcome = upload(make_upload(bytes(10), "/proc/nowhere/file", 0644));
  ASSERT_TRUE(outcome.finding);
  EXPECT_EQ(outcome.finding->cause, "stage.upload_failed");
  EXPECT_THAT(outcome.finding->found, HasSubstr("its folder cannot be made: mkdir: "));
}

TEST_F(Transfer, FetchBringsEveryFileAndReplacesTheOldFolder) {
  fs::create_directories(folder + "/remote/sub dir");
  const auto big = bytes(5000003);
  ASSERT_TRUE(write_file_atomic(folder + "/remote/records.jsonl", *big));
  ASSERT_TRUE(write_file_atomic(folder + "/remote/empty", ""));
  ASSERT_TRUE(write_file_atomic(folder + "/remote/sub dir/it's", "no line end"));
  fs::create_directory(folder + "/local");
  ASSERT_TRUE(write_file_atomic(folder + "/local/stale", "x"));
  const auto outcome = fetch(folder + "/remote");
  ASSERT_TRUE(outcome.status) << outcome.status.error().what;
  EXPECT_TRUE(outcome.present);
  EXPECT_THAT(outcome.files, ElementsAre("empty", "records.jsonl", "sub dir/it's"));
  EXPECT_EQ(outcome.bytes, big->size() + 11);
  EXPECT_TRUE(*read_file(folder + "/local/records.jsonl") == *big);
  EXPECT_EQ(*read_file(folder + "/local/sub dir/it's"), "no line end");
  EXPECT_FALSE(fs::exists(folder + "/local/stale"));
}

TEST_F(Transfer, FetchOfAMissingFolderSaysAbsentAndTouchesNothing) {
  const auto outcome = fetch(folder + "/nothing");
  ASSERT_TRUE(outcome.status) << outcome.status.error().what;
  EXPECT_FALSE(outcome.present);
  EXPECT_FALSE(fs::exists(folder + "/local"));
}

TEST_F(Transfer, FetchBeyondItsBoundLeavesNothing) {
  fs::create_directories(folder + "/remote");
  ASSERT_TRUE(write_file_atomic(folder + "/remote/a", std::string(100000, 'x')));
  const auto outcome = fetch(folder + "/remote", 1000);
  ASSERT_FALSE(outcome.status);
  EXPECT_THAT(outcome.status.error().what, HasSubstr("more than 1000 bytes"));
  EXPECT_FALSE(fs::exists(folder + "/local"));
}

TEST_F(Transfer, NoiseOfLoginFilesDoesNotReachTheFiles) {
  const std::string key = *read_file(folder + "/user.pub");
  ASSERT_TRUE(write_file_atomic(
      folder + "/authorized",
      "command=\"printf 'Welcome!\\nno newline at end'; eval \\\"$SSH_ORIGINAL_COMMAND\\\"\" " + key));
  fs::create_directories(folder + "/remote");
  ASSERT_TRUE(write_file_atomic(folder + "/remote/a", "content"));
  const auto outcome = fetch(folder + "/remote");
  ASSERT_TRUE(outcome.status) << outcome.status.error().what;
  EXPECT_EQ(*read_file(folder + "/local/a"), "content");
}

TEST_F(Transfer, StoppedScanSaysSoOfEveryNodeThatHasNoAnswer) {
  const Listener silent;
  inventory.ssh.port = silent.port;
  inventory.ssh.window = 1;
  inventory.nodes.resize(2, inventory.nodes[0]);
  int looks = 0;
  const auto keys = scan_host_keys(inventory, Deadline::in_seconds(600), [&] { return ++looks > 2; });
  ASSERT_EQ(keys.size(), 2u);
  for (const auto& key : keys) {
    ASSERT_FALSE(key.status);
    EXPECT_THAT(key.status.error().what, HasSubstr("interrupted"));
    EXPECT_FALSE(key.finding);
  }
  EXPECT_EQ(keys[1].node, 1u);
}

TEST_F(Transfer, ScanShowsTheKeyAndAddsNothing) {
  ASSERT_TRUE(write_file_atomic(inventory.ssh.known_hosts, ""));
  const auto keys = scan_host_keys(inventory, Deadline::in_seconds(20));
  ASSERT_EQ(keys.size(), 1u);
  ASSERT_TRUE(keys[0].status) << keys[0].status.error().what;
  EXPECT_EQ(keys[0].type, "ssh-ed25519");
  EXPECT_THAT(keys[0].fingerprint, testing::StartsWith("SHA256:"));
  EXPECT_EQ(*read_file(inventory.ssh.known_hosts), "");
  EXPECT_EQ(*add_known_hosts(inventory.ssh.known_hosts, {keys[0].known_hosts_line}), 1);
  EXPECT_EQ(*add_known_hosts(inventory.ssh.known_hosts, {keys[0].known_hosts_line}), 0);
  EXPECT_TRUE((*run_on_nodes(inventory, {{0, {"true"}}}, Deadline::in_seconds(20)))[0].result);
}

TEST_F(Transfer, AScannedKeyIsComparedAsOpenSshReadsKnownHosts) {
  const std::string name = "[127.0.0.1]:" + std::to_string(inventory.ssh.port);
  const auto state = [&] { return scan_host_keys(inventory, Deadline::in_seconds(20))[0].known; };
  const std::string line = scan_host_keys(inventory, Deadline::in_seconds(20))[0].known_hosts_line;
  const std::string own = line.substr(line.find(' '));
  ASSERT_TRUE(write_file_atomic(inventory.ssh.known_hosts, ""));
  EXPECT_EQ(state(), KnownKey::unknown);
  const std::string other = " " + *read_file(folder + "/other.pub");
  for (const auto& [key, expected] : {std::pair{own + "\n", KnownKey::known}, {other, KnownKey::changed}}) {
    for (const std::string& names : {name, "node7," + name, "[127.0.0.*]:" + std::to_string(inventory.ssh.port)}) {
      ASSERT_TRUE(write_file_atomic(inventory.ssh.known_hosts, names + key));
      EXPECT_EQ(state(), expected) << names;
    }
    ASSERT_TRUE(write_file_atomic(inventory.ssh.known_hosts, name + key));
    shell("ssh-keygen -q -H -f " + inventory.ssh.known_hosts + " >/dev/null 2>&1");
    EXPECT_EQ(state(), expected) << "hashed";
  }
}

TEST_F(Transfer, AScannedKeyIsWrittenForTheNameThatMpirunGoesByToo) {
  inventory.nodes[0].name = "gpu001";
  const std::string at = ":" + std::to_string(inventory.ssh.port), address = "[127.0.0.1]" + at;
  const auto scan = [&] { return scan_host_keys(inventory, Deadline::in_seconds(20))[0]; };
  const std::string line = scan().known_hosts_line, own = line.substr(line.find(' '));
  EXPECT_EQ(line, "[gpu001]" + at + "," + address + own);
  ASSERT_TRUE(write_file_atomic(inventory.ssh.known_hosts, address + own + "\n"));
  EXPECT_EQ(scan().known, KnownKey::known);
  EXPECT_EQ(scan().known_by_name, KnownKey::unknown);
  EXPECT_EQ(*add_known_hosts(inventory.ssh.known_hosts, {line}), 1);
  EXPECT_EQ(scan().known_by_name, KnownKey::known);
  shell("ssh-keygen -F '[gpu001]" + at + "' -f " + inventory.ssh.known_hosts + " > " + folder + "/found");
  EXPECT_THAT(*read_file(folder + "/found"), HasSubstr(own));
  const std::string other = *read_file(folder + "/other.pub");
  ASSERT_TRUE(write_file_atomic(inventory.ssh.known_hosts, "[gpu001]" + at + " " + other));
  EXPECT_EQ(scan().known, KnownKey::unknown);
  EXPECT_EQ(scan().known_by_name, KnownKey::changed);
}

TEST_F(Transfer, ScanOfASilentNodeIsAFinding) {
  inventory.ssh.port = Listener(0).port;
  const auto keys = scan_host_keys(inventory, Deadline::in_seconds(20));
  ASSERT_TRUE(keys[0].finding);
  EXPECT_EQ(keys[0].finding->cause, "ssh.unreachable");
}

TEST_F(Transfer, AddingNeverReplacesARecordedKey) {
  const std::string file = folder + "/hosts";
  ASSERT_TRUE(write_file_atomic(file, "10.0.0.1 ssh-ed25519 AAAA"));
  const auto added = add_known_hosts(file, {"10.0.0.1 ssh-ed25519 BBBB"});
  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().what, HasSubstr("10.0.0.1 ssh-ed25519"));
  EXPECT_EQ(*read_file(file), "10.0.0.1 ssh-ed25519 AAAA");
}

TEST_F(Transfer, AddingLooksAtEveryHostOfALine) {
  const std::string file = folder + "/hosts";
  ASSERT_TRUE(write_file_atomic(file, "gpu001,10.0.0.9 ssh-ed25519 AAAA\n"));
  const auto added = add_known_hosts(file, {"gpu001,10.0.0.1 ssh-ed25519 BBBB"});
  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().what, HasSubstr("gpu001 ssh-ed25519"));
  EXPECT_EQ(*add_known_hosts(file, {"gpu001,10.0.0.1 ssh-ed25519 AAAA"}), 1) << "the same key under one name more";
}

TEST_F(Transfer, AddingMakesTheFolderForItsOwnerAlone) {
  ASSERT_EQ(*add_known_hosts(folder + "/.ssh/known_hosts", {"10.0.0.1 ssh-ed25519 AAAA"}), 1);
  EXPECT_EQ(fs::status(folder + "/.ssh").permissions(), fs::perms::owner_all);
}

class Reader : public testing::Test {
 protected:
  ~Reader() override { fs::remove_all(folder); }
  std::string folder = testing::TempDir() + "fetch-reader-" + std::to_string(::getpid());
};

TEST_F(Reader, ReadsTheSameFromSingleBytes) {
  FetchReader reader("k", folder, 100);
  for (char c : std::string("noise\nk begin\nk file 3 ./a\nx\ny\nk file 0 ./b/c\n\nk end\n"))
    ASSERT_TRUE(reader.feed({&c, 1}));
  EXPECT_TRUE(reader.complete());
  EXPECT_EQ(*read_file(folder + "/a"), "x\ny");
  EXPECT_EQ(*read_file(folder + "/b/c"), "");
}

TEST_F(Reader, RefusesNamesThatLeadOutOfTheFolder) {
  for (const char* name : {"../x", "/etc/passwd", "./a/../../x"}) {
    FetchReader reader("k", folder, 100);
    EXPECT_FALSE(reader.feed(std::string("k begin\nk file 1 ") + name + "\n")) << name;
  }
}

TEST_F(Reader, StreamThatEndsEarlyIsNotComplete) {
  FetchReader reader("k", folder, 100);
  ASSERT_TRUE(reader.feed("k begin\nk file 3 ./a\nxy"));
  EXPECT_FALSE(reader.complete());
}

TEST_F(Reader, FileThatShrankIsAnError) {
  FetchReader reader("k", folder, 100);
  EXPECT_FALSE(reader.feed("k begin\nk file 3 ./a\nx\nk end\n"));
}

}  // namespace
}  // namespace fabricgate::bootstrap
