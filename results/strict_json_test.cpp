#include "results/strict_json.hpp"

#include <gtest/gtest.h>

namespace fabricgate {
namespace {

using nlohmann::json;

TEST(StrictJson, MakesTheValueThatTheLibraryMakes) {
  for (const char* text :
       {"null", "true", "-1", "1.5", "18446744073709551615", "1e30", "\"a\\u00e4\\n\"", "[]", "{}",
        "[[],{},[1,[2,{}],\"x\"],null]", R"({"b":1,"a":{"z":[{"y":[]},{"y":{}}],"":null},"c":[1,2,3]})",
        " { \"k\" : [ 1 , { \"k\" : false } ] } "}) {
    const auto value = parse_strict(text, 32);
    ASSERT_TRUE(value) << text << ": " << value.error().what;
    EXPECT_EQ(*value, json::parse(text)) << text;
    EXPECT_EQ(value->dump(), json::parse(text).dump());
  }
}

TEST(StrictJson, RefusesWhatTheLibraryRefusesInTheSameWords) {
  for (const char* text : {"", "{", "[1,", "[1}", "{\"a\"}", "{\"a\":}", "{a:1}", "nul", "01", "1e999", "\"\\x\"",
                           "\"\xff\"", "[1] 2", "{}{}"}) {
    const auto value = parse_strict(text, 32);
    ASSERT_FALSE(value) << text;
    EXPECT_EQ(value.error().kind, ErrorKind::parse);
    try {
      const json kept = json::parse(text);
      ADD_FAILURE() << kept;
    } catch (const json::exception& problem) {
      EXPECT_NE(std::string(problem.what()).find(value.error().what), std::string::npos) << problem.what() << "\n"
                                                                                         << value.error().what;
      EXPECT_EQ(value.error().native, problem.id);
    }
  }
}

TEST(StrictJson, AKeyTwiceInOneObjectIsNamedWhateverTheOrderOfKeys) {
  for (const char* text : {R"({"e":1,"e":2})", R"({"e":1,"a":0,"z":0,"e":2})", R"([{"x":[{"e":{},"\u0065":[]}]}])"}) {
    const auto value = parse_strict(text, 32);
    ASSERT_FALSE(value) << text;
    EXPECT_NE(value.error().what.find("'e' is twice"), std::string::npos) << value.error().what;
  }
  EXPECT_TRUE(parse_strict(R"([{"e":1},{"e":2,"f":{"e":3}}])", 32));
}

TEST(StrictJson, NestsAsDeepAsAllowedAndNoDeeper) {
  EXPECT_TRUE(parse_strict("[[{\"a\":1},[2]],[[3]]]", 3));
  for (const char* text : {"[[[[]]]]", "[[{\"a\":[]}]]", "{\"a\":{\"b\":{\"c\":{}}}}"}) {
    const auto value = parse_strict(text, 3);
    ASSERT_FALSE(value) << text;
    EXPECT_NE(value.error().what.find("nested deeper than 3"), std::string::npos) << value.error().what;
  }
}

TEST(StrictJson, ANulByteIsRefusedWhereverItStands) {
  for (const std::string& text : {std::string("\0", 1), std::string("1\0", 2), std::string("[\"\0\"]", 5)})
    EXPECT_FALSE(parse_strict(text, 32));
}

}  // namespace
}  // namespace fabricgate
