#include "fabric/collective/elements.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fabricgate::fabric {
namespace {

using testing::HasSubstr;

std::vector<float> summed(int ranks, std::size_t count, std::size_t first, int iteration) {
  std::vector<float> sum(count), one(count);
  for (int rank = 0; rank < ranks; ++rank) {
    fill_elements(one.data(), count, first, rank, iteration);
    for (std::size_t index = 0; index < count; ++index) sum[index] += one[index];
  }
  return sum;
}

TEST(Elements, TheSumOverAllRanksIsWhatIsExpected) {
  for (const int ranks : {1, 2, 5, 300}) {
    const auto sum = summed(ranks, 3000, 777, 4);
    EXPECT_EQ(ElementSums(ranks).check(sum.data(), sum.size(), 777, 4).wrong, 0u) << ranks;
  }
}

TEST(Elements, AWrongElementIsCountedAndLocated) {
  auto sum = summed(3, 100, 0, 0);
  sum[17] += 1;
  sum[40] = 0;
  const auto check = ElementSums(3).check(sum.data(), sum.size(), 0, 0);
  EXPECT_EQ(check.wrong, 2u);
  EXPECT_THAT(check.first_wrong, HasSubstr("element 17: expected"));
}

TEST(Elements, DataOfAnotherIterationAMissingRankShiftedAndPoisonedDataAreWrong) {
  const ElementSums sums(4);
  const auto sum = summed(4, 2000, 0, 0);
  EXPECT_GT(sums.check(sum.data(), 2000, 0, 1).wrong, 0u);
  EXPECT_GT(sums.check(sum.data(), 1000, 1, 0).wrong, 0u);
  EXPECT_GT(sums.check(sum.data(), 1000, 1021, 0).wrong, 0u);
  const auto three = summed(3, 2000, 0, 0);
  EXPECT_GT(sums.check(three.data(), 2000, 0, 0).wrong, 0u);
  std::vector<float> poisoned(100);
  poison_elements(poisoned.data(), 100);
  EXPECT_EQ(sums.check(poisoned.data(), 100, 0, 0).wrong, 100u);
}

TEST(Elements, SumsOfTheLargestClusterAreStillWholeNumbersOfAFloat) {
  const ElementSums sums(16000);
  for (std::size_t element = 0; element < 1021; ++element) EXPECT_LT(sums.expected(element, 0), 16777216.0f);
}

}  // namespace
}  // namespace fabricgate::fabric
