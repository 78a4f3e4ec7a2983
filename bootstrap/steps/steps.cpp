#include "bootstrap/steps/all.hpp"

namespace fabricgate::bootstrap {

const std::vector<Step>& steps() {
  static const std::vector<Step> all{sysctl_step};
  return all;
}

}  // namespace fabricgate::bootstrap
