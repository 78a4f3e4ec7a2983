#include "inventory/yaml_tree.hpp"

#include <gtest/gtest.h>

#include "inventory/yaml_text.hpp"

namespace fabricgate {
namespace {

TEST(YamlText, knows_the_length_of_utf8_sequences) {
  EXPECT_EQ(utf8_length("a"), 1u);
  EXPECT_EQ(utf8_length("\xc3\xa4"), 2u);
  EXPECT_EQ(utf8_length("\xe2\x82\xac"), 3u);
  EXPECT_EQ(utf8_length("\xf0\x9f\x98\x80"), 4u);
  EXPECT_EQ(utf8_length("\xf4\x8f\xbf\xbf"), 4u);
}

TEST(YamlText, takes_no_overlong_surrogate_cut_or_stray_bytes_for_utf8) {
  for (const char* bad : {"", "\x80", "\xc0\x80", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
                          "\xf4\x90\x80\x80", "\xff"}) {
    EXPECT_EQ(utf8_length(bad), 0u) << bad;
  }
}

TEST(YamlText, allows_tabs_after_text_and_names_the_place_of_a_fault) {
  EXPECT_FALSE(find_text_fault("a:\tb\n  c: d\t# e\r\n"));
  const auto fault = find_text_fault("a: b\n  \tc: d\n");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->line, 2);
  EXPECT_EQ(fault->column, 3);
}

TEST(YamlTree, keeps_order_places_and_quotes) {
  const YamlDocument document = read_yaml("b: 1\na:\n  - x\n  - '2'\nc:\n", "f");
  ASSERT_TRUE(document.problems.empty());
  const YamlNode& root = document.root;
  ASSERT_EQ(root.keys.size(), 3u);
  EXPECT_EQ(root.keys[0].text, "b");
  ASSERT_NE(root.find("a"), nullptr);
  const YamlNode& item = root.find("a")->items.at(1);
  EXPECT_EQ(item.text, "2");
  EXPECT_TRUE(item.quoted);
  EXPECT_FALSE(root.find("a")->items[0].quoted);
  EXPECT_EQ(item.mark, (Mark{4, 5}));
  EXPECT_EQ(root.find("c")->kind, YamlNode::Kind::null);
  EXPECT_EQ(root.find("d"), nullptr);
}

TEST(YamlTree, finds_the_quote_that_was_forgotten_behind_other_alphabets) {
  const YamlDocument document = read_yaml("a: \xc3\xa4\xc3\xa4 # \xe2\x82\xac\nb: \"open\nc: 1\n", "f");
  ASSERT_EQ(document.problems.size(), 1u);
  EXPECT_EQ(to_string(document.problems[0]), "f:2:4: not YAML: the quote is not closed on its line");
  EXPECT_TRUE(read_yaml("a: 'it''s'\nb: \"x\\\"y\"\n", "f").problems.empty());
}

TEST(YamlTree, writes_long_and_multi_line_texts_short_in_messages) {
  std::string euros;
  for (int i = 0; i < 100; ++i) euros += "\xe2\x82\xac";
  EXPECT_EQ(excerpt(euros), euros.substr(0, 60) + "...");
  EXPECT_EQ(excerpt("a\nb"), "a b");
}

}  // namespace
}  // namespace fabricgate
