#include "bootstrap/steps/all.hpp"

namespace fabricgate::bootstrap {

const std::vector<Step>& steps() {
  static const std::vector<Step> all{packages_step,       driver_step,   modules_step, kernel_cmdline_step,
                                     rdma_namespace_step, firmware_step, sysctl_step,  memlock_step,
                                     sriov_step,          network_step,  roce_step,    persist_step};
  return all;
}

}  // namespace fabricgate::bootstrap
