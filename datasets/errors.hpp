// The exceptions of the project. What a kernel did is a value (a verdict), never one of these.
#pragma once

#include <stdexcept>

namespace parity {

/// Base of all errors of a broken environment or a wrong call. The message says what was asked, what
/// was found and what to do, in one line.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The person asked for something that does not exist or is malformed: exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// A file could not be read or written, or is not what it claims to be: exit code 5.
class DatasetError : public Error {
 public:
  using Error::Error;
};

/// A device, compiler or worker could not be had: exit code 5.
class DeviceError : public Error {
 public:
  using Error::Error;
};

}  // namespace parity
