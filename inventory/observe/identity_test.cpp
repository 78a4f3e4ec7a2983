#include "inventory/observe/identity.hpp"

#include <gmock/gmock.h>

namespace fabricgate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> told(const std::vector<Answerer>& answerers) {
  std::vector<std::string> out;
  for (const Finding& finding : judge_names(answerers)) out.push_back(finding.cause + " " + to_string(finding.subject));
  return out;
}

TEST(Identity, MachinesWithTheirOwnNamesAreFineWithAndWithoutADomain) {
  EXPECT_THAT(told({{"n1", "n1.site", "a"}, {"n2.site", "n2", "b"}, {"n3", "", ""}}), IsEmpty());
}

TEST(Identity, AnotherNameIsAMismatch) {
  EXPECT_THAT(told({{"n1", "n1", "a"}, {"n2", "old7", "b"}}), ElementsAre("host.identity_mismatch n2"));
}

TEST(Identity, TwoAddressesOfOneMachineBlameTheEntryThatDoesNotHaveItsNameAndNameBoth) {
  const std::vector<Answerer> answerers{{"n1", "n1", "a"}, {"n2", "n1", "a"}};
  EXPECT_THAT(told(answerers), ElementsAre("host.identity_mismatch n2 <-> n1"));
  EXPECT_THAT(judge_names(answerers)[0].found, HasSubstr("addresses of n2 and n1 lead to this one machine"));
}

TEST(Identity, TwoAddressesOfAThirdMachineBlameBothEntries) {
  EXPECT_THAT(told({{"n1", "old7", "a"}, {"n2", "old7", "a"}}),
              ElementsAre("host.identity_mismatch n1 <-> n2", "host.identity_mismatch n2 <-> n1"));
}

TEST(Identity, TwoMachinesWithOneNameAreACollisionOfTheOneThatTookIt) {
  EXPECT_THAT(told({{"n1", "n1", "a"}, {"n2", "n1.site", "b"}}), ElementsAre("launch.hostname_collision n2 <-> n1"));
  EXPECT_THAT(told({{"n1", "n1", ""}, {"n2", "n1", ""}}), ElementsAre("launch.hostname_collision n2 <-> n1"))
      << "what is not known is not the same";
}

TEST(Identity, ExchangedAddressesBlameBoth) {
  EXPECT_THAT(told({{"n1", "n2", "b"}, {"n2", "n1", "a"}}),
              ElementsAre("host.identity_mismatch n1 <-> n2", "host.identity_mismatch n2 <-> n1"));
}

TEST(Identity, TheNameOfANodeThatDoesNotAnswerIsAMismatchThatNamesIt) {
  EXPECT_THAT(told({{"n1", "", ""}, {"n2", "n1", "b"}}), ElementsAre("host.identity_mismatch n2 <-> n1"));
}

}  // namespace
}  // namespace fabricgate
