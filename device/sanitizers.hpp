// Which sanitizers this build runs under (PARITY_ASAN, PARITY_TSAN: 0 or 1): GCC and Clang say it
// differently.
#pragma once

#if defined(__has_feature)
#define PARITY_ASAN __has_feature(address_sanitizer)
#define PARITY_TSAN __has_feature(thread_sanitizer)
#else
#if defined(__SANITIZE_ADDRESS__)
#define PARITY_ASAN 1
#else
#define PARITY_ASAN 0
#endif
#if defined(__SANITIZE_THREAD__)
#define PARITY_TSAN 1
#else
#define PARITY_TSAN 0
#endif
#endif

#if PARITY_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if PARITY_TSAN
#include <sanitizer/tsan_interface.h>
#endif
