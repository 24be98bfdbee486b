// Style and script of the HTML page (page.css, page.js), which the build makes part of the program.
#pragma once

#include <string_view>

namespace parity {

struct PageText {
  std::string_view text;
  std::string_view sha256;  ///< of `text`, in base64, as a Content-Security-Policy names it
};

PageText page_style();
PageText page_script();

}  // namespace parity
