#include "results/file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace fabricgate {
namespace {

TEST(File, Sha256MatchesThePublishedVectors) {
  // FIPS 180-4 examples
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(File, AnythingButARegularFileIsRefusedByItsKindAndHoldsNobodyUp) {
  const std::string folder = testing::TempDir() + "/file_kinds" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  ASSERT_EQ(::mkfifo((folder + "/fifo").c_str(), 0600), 0);
  const std::pair<std::string, std::string> kinds[] = {
      {folder, "a folder"}, {folder + "/fifo", "a FIFO"}, {"/dev/zero", "a device"}};
  for (const auto& [path, kind] : kinds) {
    const auto text = read_file(path);
    ASSERT_FALSE(text) << path;
    EXPECT_NE(text.error().what.find("read " + path + ": it is " + kind), std::string::npos) << text.error().what;
    EXPECT_EQ(check_readable(path).error().what, text.error().what);
  }
  std::filesystem::remove_all(folder);
}

TEST(File, AFileLargerThanWhatIsExpectedIsRefusedUnread) {
  const std::string path = testing::TempDir() + "/file_large" + std::to_string(::getpid());
  ASSERT_TRUE(write_file_atomic(path, "12345"));
  EXPECT_EQ(*read_file(path, 5), "12345");
  EXPECT_NE(read_file(path, 4).error().what.find("it has 5 bytes, at most 4 are expected"), std::string::npos);
  ASSERT_EQ(::truncate(path.c_str(), off_t{10} << 30), 0);  // sparse: nothing is written
  EXPECT_NE(read_file(path).error().what.find("10737418240 bytes"), std::string::npos);
  std::filesystem::remove(path);
}

TEST(File, FilesOfTheKernelWhoseSizeReadsZeroAreReadWhole) {
  const auto text = read_file("/proc/self/status");
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("Pid:"), std::string::npos);
}

TEST(File, AnAtomicWriteThatFailsNamesThePathGivenAndNoOther) {
  const auto written = write_file_atomic("/nonexist/x", "text");
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().what.find("/nonexist/x: "), std::string::npos) << written.error().what;
}

TEST(File, AnAtomicWriteReplacesTheWholeFileAndLeavesNothingBeside) {
  const std::string folder = testing::TempDir() + "/file_test" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  ASSERT_TRUE(write_file_atomic(folder + "/x", "one", 0600));
  ASSERT_TRUE(write_file_atomic(folder + "/x", "two", 0640));
  EXPECT_EQ(*read_file(folder + "/x"), "two");
  struct stat info {};
  ASSERT_EQ(::stat((folder + "/x").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0640u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  EXPECT_FALSE(write_file_atomic(folder + "/missing/x", "y"));
  EXPECT_EQ(read_file(folder + "/none").error().kind, ErrorKind::unavailable);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace fabricgate
