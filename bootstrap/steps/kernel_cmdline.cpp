/// What SR-IOV needs of the kernel's command line: given to the boot loader (GRUB by a drop-in, or grubby), and in
/// effect once the kernel was booted with it. An entry that has all of it, whoever wrote it, is left alone.
#include <algorithm>
#include <iterator>

#include "bootstrap/steps/all.hpp"
#include "bootstrap/steps/boot_loader.hpp"
#include "inventory/observe/parse.hpp"
#include "inventory/observe/readers.hpp"

namespace fabricgate::bootstrap {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

std::string key_of(const std::string& argument) {
  return argument.substr(0, argument.find('='));
}

/// Options of one argument are separated by commas, as in pci=noaer,realloc.
bool gives(const std::string& argument, const std::string& wanted) {
  if (key_of(argument) != key_of(wanted) || argument == key_of(argument)) return false;
  const std::string values = "," + argument.substr(argument.find('=') + 1) + ",";
  return values.find("," + wanted.substr(wanted.find('=') + 1) + ",") != std::string::npos;
}

Words same_key(const Words& line, const std::string& wanted) {
  Words out;
  std::copy_if(line.begin(), line.end(), std::back_inserter(out),
               [&](const std::string& argument) { return key_of(argument) == key_of(wanted); });
  return out;
}

/// Of intel_iommu and amd_iommu the last counts; what pci and iommu are given adds up.
bool has(const Words& line, const std::string& wanted) {
  const Words same = same_key(line, wanted);
  if (key_of(wanted) != "pci" && key_of(wanted) != "iommu") return !same.empty() && gives(same.back(), wanted);
  return std::any_of(same.begin(), same.end(), [&](const std::string& argument) { return gives(argument, wanted); });
}

Words lacking(const Words& wanted, const Words& line) {
  Words out;
  std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(out),
               [&](const std::string& argument) { return !has(line, argument); });
  return out;
}

/// By the maker of the processor: iommu=pt spares the host's own DMA the translation, pci=realloc finds room for VFs
/// that the system firmware gave none.
Words arguments_for(Host& host) {
  std::string maker;
  for (const std::string& line : readers::lines_of(readers::read_attribute(host, "/proc/cpuinfo")))
    if (line.rfind("vendor_id", 0) == 0 && maker.empty()) maker = readers::trim(line.substr(line.find(':') + 1));
  if (maker == "GenuineIntel") return {"intel_iommu=on", "iommu=pt", "pci=realloc"};
  if (maker == "AuthenticAMD") return {"amd_iommu=on", "iommu=pt", "pci=realloc"};
  return {"pci=realloc"};
}

Result<json> observe_kernel_cmdline(StepContext& context) {
  if (!context.desired.kernel_cmdline) return json{{"wanted", json::array()}};
  auto booted = context.host.read("/proc/cmdline");
  if (!booted) return booted.error();
  auto loader = see_boot_loader(context);
  if (!loader) return loader.error();
  return json{{"wanted", arguments_for(context.host)},
              {"booted", readers::words_of(*booted)},
              {"loader", loader->tool},
              {"entry", loader->entry},
              {"own", loader->own}};
}

Finding finding_of(const Desired& desired, const char* cause, const Words& wanted, const std::string& found) {
  return make_finding(cause, {.host = desired.node, .file = "/proc/cmdline"}, joined(wanted), found);
}

/// The entry's argument that says something else than what is wanted; empty: none.
std::string opposite(const Words& wanted, const Words& entry) {
  for (const std::string& argument : lacking(wanted, entry))
    if (const Words same = same_key(entry, argument); !same.empty()) return same.back();
  return "";
}

StepPlan plan_kernel_cmdline(const Desired& desired, const json& observed) {
  StepPlan plan;
  const Words wanted = observed.at("wanted").get<Words>();
  if (wanted.empty()) return plan;
  const Words missing = lacking(wanted, observed.at("booted").get<Words>());
  const std::string loader = text_under(observed, "loader");
  if (loader.empty()) {
    if (!missing.empty())
      plan.findings.push_back(finding_of(desired, "kernel.loader_unknown", wanted,
                                         "booted without " + joined(missing) + "; neither update-grub nor grubby"));
    return plan;
  }
  const Words entry = observed.at("entry").get<Words>();
  const Words unwritten = lacking(wanted, entry);
  if (const std::string other = opposite(wanted, entry); !other.empty()) {
    plan.findings.push_back(finding_of(desired, "kernel.cmdline_conflict", wanted, other));
    return plan;
  }
  if (!unwritten.empty())
    for (const Deed& deed : give_arguments(loader, observed.at("own").get<Words>(), unwritten))
      plan.actions.push_back(deed.action);
  else if (!missing.empty())
    plan.findings.push_back(
        finding_of(desired, "kernel.cmdline_pending", wanted, "written, but booted without " + joined(missing)));
  return plan;
}

Status apply_kernel_cmdline(StepContext& context, const json& observed) {
  if (plan_kernel_cmdline(context.desired, observed).actions.empty()) return {};
  const Words unwritten = lacking(observed.at("wanted").get<Words>(), observed.at("entry").get<Words>());
  return do_all(context, give_arguments(text_under(observed, "loader"), observed.at("own").get<Words>(), unwritten));
}

Result<json> observe_left_arguments(StepContext& context) {
  for (const char* tool : {"update-grub", "grubby"})
    if (const Words own = own_arguments(context.host, tool); !own.empty() || has_own_file(context.host, tool))
      return json{{"loader", tool}, {"own", own}};
  return json{{"loader", ""}, {"own", json::array()}};
}

std::vector<Deed> removal_of(const json& observed) {
  const std::string loader = text_under(observed, "loader");
  return loader.empty() ? std::vector<Deed>() : take_arguments(loader, observed.at("own").get<Words>());
}

StepPlan plan_left_arguments(const Desired&, const json& observed) {
  StepPlan plan;
  for (const Deed& deed : removal_of(observed)) plan.actions.push_back(deed.action);
  if (!plan.actions.empty())
    plan.actions.push_back({"# the running kernel keeps its command line until the next reboot"});
  return plan;
}

Status apply_left_arguments(StepContext& context, const json& observed) {
  return do_all(context, removal_of(observed));
}

const Step kernel_cmdline_undo{"kernel_cmdline", observe_left_arguments, plan_left_arguments, apply_left_arguments};

}  // namespace

const Step kernel_cmdline_step{"kernel_cmdline", observe_kernel_cmdline, plan_kernel_cmdline, apply_kernel_cmdline,
                               &kernel_cmdline_undo};

}  // namespace fabricgate::bootstrap
