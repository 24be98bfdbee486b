# Writes OUTPUT: kernel_texts() over the files in TEXTS. Each line becomes a string literal, so no raw-string
# delimiter can clash. Never a CMake list: list operations swallow the semicolons of C++.
set(out "#include \"device/kernel_text.hpp\"\n\nnamespace parity {\n\n")
string(APPEND out
  "const std::vector<std::pair<std::string_view, std::string_view>>& kernel_texts() {\n"
  "  static const std::vector<std::pair<std::string_view, std::string_view>> texts = {\n")
foreach(path IN LISTS TEXTS)
  get_filename_component(name "${path}" NAME)
  file(READ "${path}" text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\"\n    \"" text "${text}")
  string(APPEND out "    {\"${name}\",\n    \"${text}\"},\n")
endforeach()
string(APPEND out "  };\n  return texts;\n}\n\n}  // namespace parity\n")
file(WRITE "${OUTPUT}" "${out}")
