#include "launch/accept/order.hpp"

namespace fabricgate::launch {
namespace {

using nlohmann::json;

std::string dump(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

}  // namespace

std::string to_text(const Order& order) {
  return dump({{"kind", order.kind}, {"body", order.body}, {"seconds", order.seconds}});
}

Result<Order> order_from_text(const std::string& text) {
  try {
    const json in = json::parse(text);
    return Order{.kind = in.at("kind").get<std::string>(), .body = in.at("body"), .seconds = in.at("seconds").get<double>()};
  } catch (const json::exception& e) {
    return Error{ErrorKind::parse, std::string("order: ") + e.what(), e.id};
  }
}

std::string to_text(const Reply& reply) {
  return dump({{"lines", reply.lines}, {"data", reply.data}, {"error", reply.error}});
}

Result<Reply> reply_from_text(const std::string& text) {
  try {
    const json in = json::parse(text);
    return Reply{.lines = in.at("lines").get<std::vector<std::string>>(), .data = in.at("data"), .error = in.at("error").get<std::string>()};
  } catch (const json::exception& e) {
    return Error{ErrorKind::parse, std::string("reply: ") + e.what(), e.id};
  }
}

}  // namespace fabricgate::launch
