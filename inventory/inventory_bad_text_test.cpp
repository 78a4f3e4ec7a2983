#include "inventory/inventory_testing.hpp"

namespace fabricgate {
namespace {

// clang-format off
const BadInventory bad_texts[] = {
    {"anchor", "user: root", "user: &u root",
     {"6:9: anchors (&name) are not supported: write the values out"}},
    {"alias", "user: root", "user: &u root\n  key: *u",
     {"6:9: anchors (&name) are not supported: write the values out",
      "7:8: aliases (*name) are not supported: write the values out",
      "7:8: key: expected a path, found nothing",
      "9:3: duplicate key 'key', first on line 7"}},
    {"merge key", "ssh:\n", "ssh:\n  <<: { port: 1 }\n",
     {"6:3: merge keys (<<) are not supported: write the values out"}},
    {"tag", "user: root", "user: !!str root",
     {"6:9: tags (tag:yaml.org,2002:str) are not supported"}},
    {"list as a key", "suite: default", "? [a, b]\n: c",
     {"41:3: a key must be plain text, found a list"}},
    {"tab before text", "  user: root", "\tuser: root",
     {"6:1: tab in front of text: indent with spaces"}},
    {"control character", "user: root", "user: ro\001ot",
     {"6:11: control character"}},
    {"not UTF-8", "user: root", "user: ro\377ot",
     {"6:11: not UTF-8 text"}},
    {"broken escape", "user: root", "user: \"\\ud800\"",
     {"6:16: not YAML: invalid unicode: 55296"}},
    {"second document", "suite: default", "suite: default\n---\na: 1",
     {"43:1: a second document: one file holds one"}},
    {"unclosed quote", "user: root", "user: \"root",
     {"6:9: not YAML: the quote is not closed on its line"}},
    {"bad indentation", "  user: root", "   user: root",
     {"7:3: not YAML: end of map not found; check indentation and brackets above"}},
    {"empty file", "", "",
     {"1:1: inventory: expected a map, found nothing"}},
    {"a list instead of a map", "", "- a\n",
     {"1:1: inventory: expected a map, found a list"}},
};
// clang-format on

TEST(BadInventories, that_are_no_plain_text_give_exactly_the_problems_expected_with_their_places) {
  for (const BadInventory& bad : bad_texts) expect_problems(bad);
}

}  // namespace
}  // namespace fabricgate
