// Open file description locks: flock(2) has the same life, but cannot be asked about untaken.
#include "harness/file_lock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace parity {
namespace {

struct flock whole_file(Lock lock) {
  struct flock whole = {};
  whole.l_type = static_cast<short>(lock == Lock::shared ? F_RDLCK : F_WRLCK);
  whole.l_whence = SEEK_SET;
  return whole;
}

}  // namespace

Locked try_lock(const Descriptor& file, Lock lock) {
  struct flock whole = whole_file(lock);
  if (fcntl(file.number(), F_OFD_SETLK, &whole) == 0) return Locked::by_us;
  return errno == EAGAIN || errno == EACCES ? Locked::by_another : Locked::failed;
}

bool wait_for_lock(const Descriptor& file, Lock lock) {
  struct flock whole = whole_file(lock);
  int result = 0;
  do {
    result = fcntl(file.number(), F_OFD_SETLKW, &whole);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

Descriptor hold_shared(const std::filesystem::path& path) {
  Descriptor file(open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0644));
  return file.number() >= 0 && wait_for_lock(file, Lock::shared) ? std::move(file) : Descriptor();
}

bool locked_by_another(const Descriptor& file) {
  struct flock whole = whole_file(Lock::exclusive);
  return fcntl(file.number(), F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}

}  // namespace parity
