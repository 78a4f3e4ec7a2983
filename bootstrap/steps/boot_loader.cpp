#include "bootstrap/steps/boot_loader.hpp"

#include <algorithm>

#include "bootstrap/steps/all.hpp"
#include "inventory/observe/parse.hpp"

namespace fabricgate::bootstrap {
namespace {

using Words = std::vector<std::string>;

constexpr const char* grub = "update-grub";
constexpr const char* grub_config = "/boot/grub/grub.cfg";
constexpr double limit_s = 300;  // it may look at every disk for other systems

std::string file_of(const std::string& tool) {
  return tool == grub ? "/etc/default/grub.d/90-fabricgate.cfg" : "/etc/fabricgate/kernel-arguments";
}

/// GRUB reads its drop-ins as shell; for grubby the file is only our memory.
std::string text_of(const std::string& tool, const Words& own) {
  if (own.empty()) return file_header;
  if (tool != grub) return file_header + joined(own) + "\n";
  return std::string(file_header) + "GRUB_CMDLINE_LINUX=\"${GRUB_CMDLINE_LINUX} " + joined(own) + "\"\n";
}

/// Without the words before them: "linux /boot/vmlinuz-6.1 root=… ro quiet"
Words first_entry(const std::string& config) {
  for (const std::string& line : readers::lines_of(config)) {
    const Words words = readers::words_of(line);
    if (words.size() > 2 && (words[0] == "linux" || words[0] == "linuxefi" || words[0] == "linux16"))
      return {words.begin() + 2, words.end()};
  }
  return {};
}

/// args="ro quiet $tuned_params"
Result<Words> default_entry(StepContext& context) {
  const Words command{"grubby", "--info=DEFAULT"};
  auto shown = context.host.run(command, context.deadline.at_most(60));
  if (!shown) return shown.error();
  for (const std::string& line : readers::lines_of(shown->out)) {
    if (line.rfind("args=", 0) != 0) continue;
    std::string text = line.substr(5);
    text.erase(std::remove(text.begin(), text.end(), '"'), text.end());
    return readers::words_of(text);
  }
  return Error{ErrorKind::parse, "grubby --info=DEFAULT: no args in what it says: " + shown->out + shown->err,
               shown->exit_code};
}

Deed call(const Words& command) {
  return {{shell_line(command)}, [command](StepContext& context) { return run_checked(context, command, limit_s); }};
}

Deed write(const std::string& tool, const Words& own) {
  const std::string path = file_of(tool), text = text_of(tool, own);
  return {write_action(path, text), [path, text](StepContext& context) { return write_checked(context, path, text); }};
}

}  // namespace

std::string joined(const Words& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

bool has_own_file(Host& host, const std::string& tool) {
  const auto text = host.read(file_of(tool));
  return text && text->rfind(file_header, 0) == 0;
}

Words own_arguments(Host& host, const std::string& tool) {
  Words out;
  if (!has_own_file(host, tool)) return out;
  std::string text = *host.read(file_of(tool));
  text.erase(0, std::string(file_header).size());
  text.erase(std::remove(text.begin(), text.end(), '"'), text.end());
  for (const std::string& word : readers::words_of(text))
    if (word.find('$') == std::string::npos) out.push_back(word);
  return out;
}

Result<BootLoader> see_boot_loader(StepContext& context) {
  Host& host = context.host;
  BootLoader out;
  if (host.exists("/usr/sbin/update-grub")) {
    const auto config = host.read(grub_config);
    if (!config) return out;  // the package without its boot loader, as in an image for containers
    out.entry = first_entry(*config);
    if (out.entry.empty()) return out;
    out.tool = grub;
  } else if (host.exists("/usr/sbin/grubby")) {
    auto entry = default_entry(context);
    if (!entry) return entry.error();
    out.tool = "grubby";
    out.entry = std::move(*entry);
  }
  out.own = own_arguments(host, out.tool);
  return out;
}

std::vector<Deed> give_arguments(const std::string& tool, Words own, const Words& arguments) {
  for (const std::string& argument : arguments)
    if (std::find(own.begin(), own.end(), argument) == own.end()) own.push_back(argument);
  if (tool == grub) return {write(tool, own), call({grub})};
  return {write(tool, own), call({"grubby", "--update-kernel=ALL", "--args=" + joined(arguments)})};
}

std::vector<Deed> take_arguments(const std::string& tool, const Words& own) {
  std::vector<Deed> out;
  if (tool == grub) {
    out = {write(tool, {}), call({grub})};
  } else if (!own.empty()) {
    out = {call({"grubby", "--update-kernel=ALL", "--remove-args=" + joined(own)})};
  }
  const std::string path = file_of(tool);
  out.push_back({{shell_line({"rm", path})}, [path](StepContext& context) { return context.host.remove(path); }});
  return out;
}

}  // namespace fabricgate::bootstrap
