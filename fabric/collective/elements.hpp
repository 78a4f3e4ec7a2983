#pragma once
/// Values whose float sum is exact in any order of adding, and where the right sum is known for each element: whole
/// numbers below 1021 that depend on element, rank and iteration. 16,000 ranks × 1020 < 2^24, the last whole number a
/// float counts.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fabricgate::fabric {

void fill_elements(float* data, std::size_t count, std::size_t first, int rank, int iteration);

/// Not a number in every element: what nobody wrote is never right.
void poison_elements(float* data, std::size_t count);

struct ElementCheck {
  std::uint64_t wrong = 0;
  std::string first_wrong;  ///< "element 17: expected 6, found 5"
};

/// Checks a slice against the sum over ranks 0 … ranks−1.
class ElementSums {
 public:
  explicit ElementSums(int ranks);
  float expected(std::size_t element, int iteration) const;
  ElementCheck check(const float* data, std::size_t count, std::size_t first, int iteration) const;

 private:
  std::vector<float> sums_;
};

}  // namespace fabricgate::fabric
