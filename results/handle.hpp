#pragma once
/// The one RAII wrapper of the project for handles of C libraries: Handle<T*, closer>.
#include <memory>

namespace fabricgate {

template <auto closer>
struct Closer {
  template <class T>
  void operator()(T* handle) const { (void)closer(handle); }
};

/// Owns a pointer-like handle; `closer` is the library's free function. Order members so that children come after parents.
template <class T, auto closer>
using Handle = std::unique_ptr<T, Closer<closer>>;

}  // namespace fabricgate
