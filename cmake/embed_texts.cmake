# Writes OUTPUT: kernel_texts() over the files in TEXTS. Lines become string literals, so no raw-string
# delimiter can clash and no compiler limit on one literal is met.
set(out "#include \"device/kernel_text.hpp\"\n\nnamespace parity {\n\n"
        "const std::vector<std::pair<std::string_view, std::string_view>>& kernel_texts() {\n"
        "  static const std::vector<std::pair<std::string_view, std::string_view>> texts = {\n")
foreach(path IN LISTS TEXTS)
  get_filename_component(name ${path} NAME)
  file(READ ${path} text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\"\n    \"" text "${text}")
  list(APPEND out "    {\"${name}\",\n    \"${text}\"},\n")
endforeach()
list(APPEND out "  };\n  return texts;\n}\n\n}  // namespace parity\n")
string(JOIN "" out ${out})
file(WRITE ${OUTPUT} "${out}")
