#include "fabric/collective/elements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace fabricgate::fabric {
namespace {

constexpr std::size_t values = 1021;  // prime, so that a power of two never maps an element onto its like

/// Repeats only after 1021² elements.
std::size_t value_of(std::size_t element, int iteration) {
  return (element + element / values * 17 + static_cast<std::size_t>(iteration) * 29) % values;
}

std::size_t shift_of(int rank) {
  return static_cast<std::size_t>(rank) * 13 % values;
}

}  // namespace

void fill_elements(float* data, std::size_t count, std::size_t first, int rank, int iteration) {
  const std::size_t shift = shift_of(rank);
  for (std::size_t index = 0; index < count; ++index) {
    data[index] = static_cast<float>((value_of(first + index, iteration) + shift) % values);
  }
}

void poison_elements(float* data, std::size_t count) {
  std::fill(data, data + count, std::numeric_limits<float>::quiet_NaN());
}

ElementSums::ElementSums(int ranks) : sums_(values) {
  for (std::size_t value = 0; value < values; ++value) {
    std::size_t sum = 0;
    for (int rank = 0; rank < ranks; ++rank) sum += (value + shift_of(rank)) % values;
    sums_[value] = static_cast<float>(sum);
  }
}

float ElementSums::expected(std::size_t element, int iteration) const {
  return sums_[value_of(element, iteration)];
}

ElementCheck ElementSums::check(const float* data, std::size_t count, std::size_t first, int iteration) const {
  ElementCheck result;
  for (std::size_t index = 0; index < count; ++index) {
    const float right = expected(first + index, iteration);
    if (data[index] == right) continue;
    if (result.wrong++ == 0) {
      result.first_wrong = fmt::format("element {}: expected {}, found {}", first + index, right, data[index]);
    }
  }
  return result;
}

}  // namespace fabricgate::fabric
