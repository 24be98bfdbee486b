# What every target shares: warnings, sanitizers, include root.
add_library(parity_options INTERFACE)
target_include_directories(parity_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(parity_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                                -Wno-sign-conversion)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(parity_options INTERFACE -Wno-restrict)  # false alarms on std::string + (GCC 105329)
endif()
if(PARITY_WERROR)
  target_compile_options(parity_options INTERFACE -Werror)
endif()
if(PARITY_SANITIZE)
  target_compile_options(parity_options INTERFACE -fsanitize=${PARITY_SANITIZE}
                                                  -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(parity_options INTERFACE -fsanitize=${PARITY_SANITIZE})
endif()
# The reference must give the same doubles on every machine: no contraction into FMA by chance.
target_compile_options(parity_options INTERFACE -ffp-contract=off)

# One layer: parity_layer(<name> SOURCES ... USES <layers and libraries others see> PRIVATE <libraries>)
function(parity_layer name)
  cmake_parse_arguments(LAYER "" "" "SOURCES;USES;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${LAYER_SOURCES})
  target_link_libraries(${name} PUBLIC parity_options ${LAYER_USES} PRIVATE ${LAYER_PRIVATE})
  list(LENGTH LAYER_SOURCES sources)
  if(PARITY_UNITY STREQUAL ALL)
    parity_unity(${name})
  elseif(sources GREATER 12)  # else it costs more than it saves
    # The same in every build, so that who forgets one of these breaks nobody's.
    target_precompile_headers(${name} PRIVATE <fmt/format.h> <algorithm> <charconv> <chrono>
                              <filesystem> <functional> <map> <memory> <optional> <set> <span>
                              <string> <vector>)
  endif()
endfunction()
