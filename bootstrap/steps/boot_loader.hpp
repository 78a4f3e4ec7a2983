#pragma once
/// Two ways to give the next kernel arguments: GRUB's drop-ins with update-grub (Debian, Ubuntu), and grubby (RHEL and
/// its kin). What is ours stands in a file of our own, so that no more than that is taken away again.
#include <string>
#include <vector>

#include "bootstrap/steps/step.hpp"

namespace fabricgate::bootstrap {

struct BootLoader {
  std::string tool;                ///< update-grub | grubby; empty: neither
  std::vector<std::string> entry;  ///< arguments of the first kernel entry (update-grub), of the default one (grubby)
  std::vector<std::string> own;    ///< those of our file
};

/// Error: grubby says nothing of the default entry.
Result<BootLoader> see_boot_loader(StepContext& context);

/// With blanks between, as on a command line.
std::string joined(const std::vector<std::string>& words);

std::vector<std::string> own_arguments(Host& host, const std::string& tool);
bool has_own_file(Host& host, const std::string& tool);

/// For `tool`: `arguments` beside those that are ours already.
std::vector<Deed> give_arguments(const std::string& tool, std::vector<std::string> own,
                                 const std::vector<std::string>& arguments);
/// Takes ours away. The file goes last, so that a removal that was killed is seen and done again.
std::vector<Deed> take_arguments(const std::string& tool, const std::vector<std::string>& own);

}  // namespace fabricgate::bootstrap
