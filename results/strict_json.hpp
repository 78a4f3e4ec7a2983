#pragma once
/// JSON of others as a value, refused where the library keeps a part of it in silence: a key twice in one object (it
/// takes the last), a NUL byte (it takes it for the end), nesting so deep that whoever walks the value must not
/// recurse.
#include <nlohmann/json.hpp>
#include <string_view>

#include "results/result.hpp"

namespace fabricgate {

/// All of `text`, which nests at most `deepest` lists and objects.
Result<nlohmann::json> parse_strict(std::string_view text, std::size_t deepest);

}  // namespace fabricgate
