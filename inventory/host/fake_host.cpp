#include "inventory/host/fake_host.hpp"

#include <cerrno>
#include <set>

namespace fabricgate {

std::string join(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

Status FakeHost::note(const std::string& access) {
  accesses.push_back(access);
  const auto found = errors.find(access);
  return found == errors.end() ? Status() : Status(found->second);
}

Status FakeHost::change(const std::string& access) {
  if (auto status = note(access); !status) return status;
  if (changes_left == 0) return Error{ErrorKind::io, access + ": killed", 0};
  if (changes_left > 0) --changes_left;
  return {};
}

Result<std::string> FakeHost::read(const std::string& path) {
  if (auto status = note("read " + path); !status) return status.error();
  const auto file = files.find(path);
  if (file == files.end()) return error_from_errno("open " + path, ENOENT);
  return file->second;
}

Result<std::vector<std::string>> FakeHost::list(const std::string& path) {
  if (auto status = note("list " + path); !status) return status.error();
  const std::string prefix = path == "/" ? path : path + "/";
  std::set<std::string> names;
  auto add = [&](const std::string& name) {
    if (name.rfind(prefix, 0) == 0)
      names.insert(name.substr(prefix.size(), name.find('/', prefix.size()) - prefix.size()));
  };
  for (const auto& [name, content] : files) add(name);
  for (const auto& [name, target] : links) add(name);
  if (names.empty()) return error_from_errno("open folder " + path, ENOENT);
  names.erase("");  // of an empty folder
  return std::vector<std::string>(names.begin(), names.end());
}

Result<std::string> FakeHost::read_link(const std::string& path) {
  if (auto status = note("link " + path); !status) return status.error();
  const auto link = links.find(path);
  if (link == links.end()) return error_from_errno("read link " + path, ENOENT);
  return link->second;
}

bool FakeHost::exists(const std::string& path) {
  accesses.push_back("exists " + path);
  if (files.count(path) || links.count(path)) return true;
  const auto below = files.lower_bound(path + "/");
  if (below != files.end() && below->first.rfind(path + "/", 0) == 0) return true;
  const auto link = links.lower_bound(path + "/");
  return link != links.end() && link->first.rfind(path + "/", 0) == 0;
}

Status FakeHost::write(const std::string& path, const std::string& content, unsigned mode) {
  if (auto status = change("write " + path); !status) return status;
  files[path] = content;
  modes[path] = mode;
  if (on_write) on_write(path, content);
  return {};
}

Status FakeHost::write_in_place(const std::string& path, const std::string& content) {
  if (auto status = change("set " + path); !status) return status;
  if (!files.count(path)) return error_from_errno("open " + path, ENOENT);
  if (on_set)
    if (auto status = on_set(path, content); !status) return status;
  files[path] = content;
  if (on_write) on_write(path, content);
  return {};
}

Status FakeHost::remove(const std::string& path) {
  if (auto status = change("remove " + path); !status) return status;
  files.erase(path);
  links.erase(path);
  return {};
}

Result<CommandResult> FakeHost::run(const std::vector<std::string>& arguments, Deadline, const std::string&) {
  const std::string line = join(arguments);
  if (auto status = changing(arguments) ? change("run " + line) : note("run " + line); !status) return status.error();
  if (on_run)
    if (auto answer = on_run(arguments)) return *answer;
  const auto command = commands.find(line);
  if (command == commands.end()) return error_from_errno("run " + arguments.front(), ENOENT);
  return command->second;
}

Result<std::vector<InterfaceAddress>> FakeHost::addresses() {
  if (auto status = note("addresses"); !status) return status.error();
  return interface_addresses;
}

Result<std::int64_t> FakeHost::free_bytes(const std::string& path) {
  if (auto status = note("space " + path); !status) return status.error();
  const auto found = space.find(path);
  return found == space.end() ? std::int64_t{1} << 40 : found->second;
}

Status FakeHost::set_memlock(int pid, std::uint64_t bytes) {
  if (auto status = change("memlock " + std::to_string(pid) + " " + std::to_string(bytes)); !status) return status;
  if (on_memlock) on_memlock(pid, bytes);
  return {};
}

Result<std::vector<KernelMessage>> FakeHost::kernel_log(std::uint64_t from) {
  if (auto status = note("kernel log " + std::to_string(from)); !status) return status.error();
  std::vector<KernelMessage> out;
  for (const KernelMessage& message : kernel_messages)
    if (message.sequence >= from) out.push_back(message);
  return out;
}

std::vector<std::string> FakeHost::accesses_of(const std::string& prefix) const {
  std::vector<std::string> out;
  for (const std::string& access : accesses)
    if (access.rfind(prefix, 0) == 0) out.push_back(access);
  return out;
}

}  // namespace fabricgate
