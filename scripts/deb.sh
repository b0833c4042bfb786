#!/usr/bin/env bash
# Makes a Debian package of a cpb binary: scripts/deb.sh CPB FOLDER writes FOLDER/cpb_VERSION_ARCHITECTURE.deb.
#
# The package contains the stripped binary, its manual pages, a completion script and the licences. It depends on
# the version of the C library that the binary needs.
set -euo pipefail

main() {
  [[ $# -eq 2 && -x $1 ]] || die "usage: scripts/deb.sh CPB FOLDER, and CPB is a program"
  local cpb root version architecture package
  cpb=$(realpath "$1")
  mkdir -p "$2"
  package=$(realpath "$2")
  cd "$(dirname "${BASH_SOURCE[0]}")/.."
  root=$(mktemp -d)
  # shellcheck disable=SC2064  # now: the variable no longer exists when the trap runs
  trap "rm -rf '$root'" EXIT
  version=$("$cpb" --version | cut -d ' ' -f 2)
  architecture=$(dpkg --print-architecture)
  files "$cpb" "$root"
  control "$cpb" "$version" "$architecture" "$root"
  package+=/cpb_${version}_$architecture.deb
  dpkg-deb --root-owner-group --build "$root" "$package" >/dev/null
  echo "$package"
}

files() {
  local doc=$2/usr/share/doc/cpb man=$2/usr/share/man/man1
  local completions=$2/usr/share/bash-completion/completions
  chmod 755 "$2"
  umask 022
  mkdir -p "$2/usr/bin" "$doc" "$man" "$completions"
  strip -o "$2/usr/bin/cpb" "$1"
  chmod 755 "$2/usr/bin/cpb"
  "$1" man "$man"
  gzip -9n "$man"/*
  "$1" completions bash >"$completions/cpb"
  cat LICENSE-MIT LICENSE-APACHE >"$doc/copyright"
  gzip -9nc CHANGELOG.md >"$doc/changelog.gz"
}

control() {
  local glibc
  # The newest symbol version that the binary needs is the oldest glibc that provides all of them.
  glibc=$(objdump -T "$1" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
  [[ -n $glibc ]] || die "$1 asks nothing of a glibc; a static cpb needs no package"
  mkdir "$4/DEBIAN"
  cat >"$4/DEBIAN/control" <<END
Package: cpb
Version: $2
Architecture: $3
Maintainer: cpb's developers <cpb@localhost>
Installed-Size: $(du -sk "$4/usr" | cut -f 1)
Depends: libc6 (>= ${glibc#GLIBC_}), libgcc-s1
Recommends: openssh-client
Section: utils
Priority: optional
Description: laboratory for the performance of cryptography on embedded systems
 cpb measures every path that can run an operation (software, instructions of
 the CPU, the kernel's drivers, accelerators) with one method, checks each for
 right answers first, and says how sure it is.
END
  (cd "$4" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
}

die() {
  echo "deb: $*" >&2
  exit 1
}

main "$@"
