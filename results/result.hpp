#pragma once
/// Value or error, without exceptions across a module border (design: one rank that throws leaves the others waiting).
#include <string>
#include <utility>
#include <variant>

namespace fabricgate {

/// What kind of thing went wrong; decides what a caller may do about it.
enum class ErrorKind {
  unavailable,  ///< the thing is not there (file, device, library); `native` may hold errno
  denied,       ///< permission; `native` may hold errno
  timeout,      ///< a deadline passed
  io,           ///< reading or writing failed; `native` holds errno
  parse,        ///< text is not in the expected form; `what` has the place
  native,       ///< a library or tool reported `native`
  bug           ///< the program contradicts itself
};

const char* to_string(ErrorKind kind);

/// `what` names the call, the object, the native code and its text: "open /sys/x: permission denied (13)".
struct Error {
  ErrorKind kind = ErrorKind::bug;
  std::string what;
  int native = 0;

  /// The same error with "context: " before its text; context is added on the way up.
  Error with(const std::string& context) const { return {kind, context + ": " + what, native}; }
};

/// Error from errno, kind chosen by its value: ENOENT → unavailable, EACCES/EPERM → denied, ETIMEDOUT → timeout, else io.
Error error_from_errno(const std::string& what, int code);

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

/// Success, or an error.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)), ok_(false) {}

  explicit operator bool() const { return ok_; }
  const Error& error() const { return error_; }

 private:
  Error error_;
  bool ok_ = true;
};

}  // namespace fabricgate
