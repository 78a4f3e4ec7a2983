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
