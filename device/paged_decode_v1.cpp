// The module key of paged_decode_v1 and its launch.
#include "device/paged_decode_v1.hpp"

#include "device/paged_decode_one_pass.hpp"

namespace parity {

VariantSpec paged_decode_v1_variant(const PagedDecodeChoice& choice) {
  return paged_decode_variant("paged_decode_v1", choice);
}

std::string paged_decode_v1(Runtime& runtime, const PagedDecodeArgs& args) {
  check_paged_decode_args(args);
  if (args.checked) check_page_table(read_page_table(runtime.backend(), args.table), args);
  return "v1 " + launch_one_pass(runtime, "paged_decode_v1", args);
}

}  // namespace parity
