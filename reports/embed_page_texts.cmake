# Writes OUTPUT: page_style() and page_script() from STYLE and SCRIPT, with their digests. Each line becomes a
# string literal. Never a CMake list: list operations swallow semicolons.

# Base64 of a digest of 32 bytes in hexadecimal: 21 groups of 12 bits, two digits each, and a rest.
function(parity_base64 hex result)
  set(letters "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  set(out "")
  string(APPEND hex "00")  # 66 digits are 22 groups of three
  foreach(group RANGE 21)
    math(EXPR at "${group} * 3")
    string(SUBSTRING "${hex}" ${at} 3 digits)
    math(EXPR high "0x${digits} >> 6")
    math(EXPR low "0x${digits} & 63")
    string(SUBSTRING "${letters}" ${high} 1 first)
    string(SUBSTRING "${letters}" ${low} 1 second)
    string(APPEND out "${first}${second}")
  endforeach()
  string(SUBSTRING "${out}" 0 43 out)
  set(${result} "${out}=" PARENT_SCOPE)
endfunction()

set(out "#include \"reports/page_texts.hpp\"\n\nnamespace parity {\n")
foreach(part style script)
  string(TOUPPER ${part} variable)
  file(READ "${${variable}}" text)
  file(SHA256 "${${variable}}" hex)
  parity_base64("${hex}" digest)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\"\n          \"" text "${text}")
  string(APPEND out "\nPageText page_${part}() {\n  return {\"${text}\",\n          \"${digest}\"};\n}\n")
endforeach()
string(APPEND out "\n}  // namespace parity\n")
file(WRITE "${OUTPUT}" "${out}")
