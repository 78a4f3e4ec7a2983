/// The head reads what a node sends, the agent what the head sends: neither may crash or hang on any bytes.
#include <cstdint>

#include "bootstrap/agent/protocol.hpp"

using namespace fabricgate;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (auto value = bootstrap::extract_answer(text, "00ff")) (void)bootstrap::answer_from_json(*value);
  const auto value = nlohmann::json::parse(text, nullptr, false);
  if (!value.is_discarded()) {
    (void)bootstrap::answer_from_json(value);
    (void)bootstrap::request_from_json(value);
  }
  if (auto body = bootstrap::request_body(text, true); body && *body) (void)bootstrap::parse_request(**body);
  (void)bootstrap::request_body(text, false);
  return 0;
}
