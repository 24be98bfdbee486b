// A run as a suite of JUnit's XML. Part of the JUnit writer's sources; nobody else includes it.
#pragma once

#include <string>

#include "harness/finding.hpp"
#include "reports/xml_element.hpp"

namespace parity {

/// `word` is failure, error or skipped: the one element that a test case which did not pass holds.
XmlElement junit_case(std::string classname, std::string name);
XmlElement junit_word(std::string word, std::string type, std::string message, std::string body);

/// A test case for each case and one called "run" for what is of no case; properties; no counts.
XmlElement junit_run(const RunReport& report, const std::string& name, const std::string& commit);

/// Adds properties; those without a value are left out.
void add_junit_properties(XmlElement& suite,
                          const std::vector<std::pair<std::string, std::string>>& properties);

}  // namespace parity
