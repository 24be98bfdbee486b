# Sources of a target compiled several at a time: a compiler that optimises nothing spends most of
# its time on templates that they share. Two share a compilation only where neither mentions a name
# that the other declares in an unnamed namespace, so that none can clash with or hide another's.
set(PARITY_UNITY OFF CACHE STRING "Sources compiled several at a time: OFF, those of TESTS, or ALL")
set_property(CACHE PARITY_UNITY PROPERTY STRINGS OFF TESTS ALL)

# The names that a text declares in unnamed namespaces: on each line there that is not indented, the
# first word before a bracket, a colon, = or the end. A name too many only keeps sources apart.
function(parity_own_names text result)
  set(names "")
  string(FIND "${text}" "\nnamespace {\n" from)
  while(from GREATER -1)
    string(SUBSTRING "${text}" ${from} -1 text)
    string(FIND "${text}" "\n}  // namespace\n" length)
    string(SUBSTRING "${text}" 0 ${length} inside)
    string(SUBSTRING "${text}" 1 -1 text)
    string(REGEX MATCHALL "\n[A-Za-z][^\n]*" lines "${inside}")
    foreach(line IN LISTS lines)
      if(NOT line MATCHES "^\n(TEST|template|namespace|static_assert)" AND
         line MATCHES "([A-Za-z_0-9]+)( final)?( : | ?[({]| = | *$)")
        list(APPEND names ${CMAKE_MATCH_1})
      endif()
    endforeach()
    string(FIND "${text}" "\nnamespace {\n" from)
  endwhile()
  list(REMOVE_DUPLICATES names)
  set(${result} "${names}" PARENT_SCOPE)
endfunction()

function(parity_mentions text names result)
  set(${result} FALSE PARENT_SCOPE)
  foreach(name IN LISTS names)
    string(FIND "${text}" "${name}" at)  # quick, and mostly all that is needed
    # Neither a member's name nor one of another namespace is meant.
    if(at GREATER -1 AND text MATCHES "[^A-Za-z_0-9.:>]${name}[^A-Za-z_0-9]")
      set(${result} TRUE PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# parity_unity(<target>): each source joins the first group with room for it that it agrees with.
function(parity_unity target)
  set(room 8)  # more in one would leave cores idle at the end
  set(groups 0)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_filename_component(path ${source} ABSOLUTE)
    if(NOT EXISTS ${path})  # the build makes it
      continue()
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    file(READ ${path} text)
    # What follows would see these; the kernels' texts declare types outside of any namespace.
    if(text MATCHES "\n(using namespace |#define |#include \"[^\n\"]*[.]cuh\")")
      continue()
    endif()
    string(REGEX REPLACE "\\[\\[[a-z_]+\\]\\] " "" text "${text}")
    string(REGEX REPLACE "[][;\\]" " " text "${text}")  # they end or join items of CMake's lists
    string(REGEX REPLACE " //[^\n]*|\"[^\"\n]*\"" "" code "${text}")
    parity_own_names("${text}" names)
    set(group 0)
    while(group LESS groups)
      parity_mentions("${code}" "${names_${group}}" theirs)
      parity_mentions("${code_${group}}" "${names}" ours)
      if(size_${group} LESS room AND NOT theirs AND NOT ours)
        break()
      endif()
      math(EXPR group "${group} + 1")
    endwhile()
    if(group EQUAL groups)
      math(EXPR groups "${groups} + 1")
      set(size_${group} 0)
      set(names_${group} "")
      set(code_${group} "")
    endif()
    math(EXPR size_${group} "${size_${group}} + 1")
    list(APPEND names_${group} ${names})
    string(APPEND code_${group} "${code}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${target}_${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # GCC takes an unnamed namespace of a source that is included for one of a header.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()
