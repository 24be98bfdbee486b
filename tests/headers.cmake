# Every header compiles alone, and twice in one file. Where a header's own source file includes it
# first, building that file has shown the first, and house_tests the second; the others get a test
# each.
set(HEADER_CHECK ${CMAKE_CXX_COMPILER} -std=c++20 -Wall -Wextra -Werror -fsyntax-only
                 -I${PROJECT_SOURCE_DIR})
foreach(folder IN LISTS HDF5_INCLUDE_DIRS)
  list(APPEND HEADER_CHECK -isystem ${folder})
endforeach()

file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
     ${PROJECT_SOURCE_DIR}/datasets/*.hpp ${PROJECT_SOURCE_DIR}/device/*.hpp
     ${PROJECT_SOURCE_DIR}/harness/*.hpp ${PROJECT_SOURCE_DIR}/reference/*.hpp
     ${PROJECT_SOURCE_DIR}/reports/*.hpp)
foreach(header IN LISTS headers)
  string(REGEX REPLACE "hpp$" "cpp" own_source ${header})
  if(EXISTS ${PROJECT_SOURCE_DIR}/${own_source})
    file(STRINGS ${PROJECT_SOURCE_DIR}/${own_source} first_include REGEX "^ *# *include" LIMIT_COUNT 1)
    if(first_include STREQUAL "#include \"${header}\"")
      continue()
    endif()
  endif()
  string(MAKE_C_IDENTIFIER ${header} name)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/headers/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${header}\"\n#include \"${header}\"\n")
  add_test(NAME HeadersTest.${header} COMMAND ${HEADER_CHECK} ${source})
  set_tests_properties(HeadersTest.${header} PROPERTIES LABELS headers TIMEOUT 120)
endforeach()

# The check itself can fail: a header that leans on another's includes, and one without a guard.
set(planted ${CMAKE_CURRENT_BINARY_DIR}/headers/planted)
file(CONFIGURE OUTPUT ${planted}/leans.hpp CONTENT "#pragma once\ninline std::string leans();\n")
file(CONFIGURE OUTPUT ${planted}/leans.cpp CONTENT "#include \"leans.hpp\"\n")
file(CONFIGURE OUTPUT ${planted}/bare.hpp CONTENT "struct Bare {};\n")
file(CONFIGURE OUTPUT ${planted}/bare.cpp CONTENT "#include \"bare.hpp\"\n#include \"bare.hpp\"\n")
add_test(NAME HeadersTest.HeaderThatLeansOnAnotherIsRefused
         COMMAND ${HEADER_CHECK} ${planted}/leans.cpp)
add_test(NAME HeadersTest.HeaderWithoutGuardIsRefused COMMAND ${HEADER_CHECK} ${planted}/bare.cpp)
set_tests_properties(HeadersTest.HeaderThatLeansOnAnotherIsRefused
                     PROPERTIES LABELS headers
                     PASS_REGULAR_EXPRESSION "leans.hpp:2:.* error: .*std")
set_tests_properties(HeadersTest.HeaderWithoutGuardIsRefused
                     PROPERTIES LABELS headers
                     PASS_REGULAR_EXPRESSION "error: redefinition of .*Bare")
