#include "results/cause.hpp"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "results/file.hpp"

namespace fabricgate {
namespace {

TEST(Causes, EveryRowOfTheTableIsLoadedWhole) {
  std::istringstream file(*read_file(std::string(TESTDATA).substr(0, std::string(TESTDATA).rfind('/')) + "/causes.tsv"));
  std::string line;
  std::size_t rows = 0;
  std::getline(file, line);
  while (std::getline(file, line)) {
    const std::string id = line.substr(0, line.find('\t'));
    const Cause* cause = find_cause(id);
    ASSERT_NE(cause, nullptr) << id;
    EXPECT_EQ(line.substr(line.rfind('\t') + 1), cause->remedy) << id;
    ++rows;
  }
  EXPECT_EQ(rows, causes().size());
}

TEST(Causes, IdsAreUniqueAndActionsAreKnown) {
  const std::set<std::string> actions{"none", "monitor", "reconfigure", "reseat", "reboot", "drain", "rma", "retry", "triage"};
  std::set<std::string> ids;
  for (const Cause& cause : causes()) {
    EXPECT_TRUE(ids.insert(cause.id).second) << cause.id;
    EXPECT_TRUE(actions.count(cause.action)) << cause.id << ' ' << cause.action;
    EXPECT_FALSE(cause.title.empty() || cause.meaning.empty()) << cause.id;
  }
}

TEST(Causes, AnUnknownIdIsNull) { EXPECT_EQ(find_cause("no.such_cause"), nullptr); }

}  // namespace
}  // namespace fabricgate
