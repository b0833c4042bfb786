#!/usr/bin/env bash
# Installs what cpb needs and this machine lacks; silent when nothing is missing.
#
#   scripts/setup.sh run    a Rust toolchain, a C compiler, perl and make (OpenSSL's Configure is perl)
#   scripts/setup.sh static the same, zig (a C compiler and linker for static binaries, installed by pip), and gcc
#                           for 32-bit Arm and RISC-V
#   scripts/setup.sh firmware  the same as run, a C compiler and C library for Cortex-M, and Rust's target for it
#   scripts/setup.sh test   all of these, the checkers, the cross targets, and QEMU for the lab
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly CARGO_DENY=0.20.2
readonly TYPOS=1.52.0
readonly RUFF=0.17.6
readonly ZIG=0.17.1
readonly ZIGBUILD=0.24.0
# Debian 12 no longer has this version, but a Python wheel contains it. Its libcrypto is extracted for a test; the
# rest of the wheel is not used.
readonly OPENSSL_1_1_1=1.1.1t
readonly OPENSSL_1_1_1_WHEEL="psycopg2-binary==2.9.6
  --hash=sha256:0645376d399bfd64da57148694d78e1f431b1e1ee1054872a5713125681cf1be
  --hash=sha256:15e2ee79e7cf29582ef770de7dab3d286431b01c3bb598f8e05e09601b890081"
readonly FIRMWARE_TARGET=thumbv7em-none-eabihf
readonly TARGETS=(
  "$FIRMWARE_TARGET"            # cpb-core too
  aarch64-unknown-linux-gnu     # the runner's clocks
  armv7-unknown-linux-gnueabihf
  i686-unknown-linux-gnu
  riscv64gc-unknown-linux-gnu
)
readonly STATIC_TARGETS=(
  x86_64-unknown-linux-musl
  aarch64-unknown-linux-musl
  # For the runners that static binaries include.
  aarch64-unknown-linux-gnu
  armv7-unknown-linux-gnueabihf
  riscv64gc-unknown-linux-gnu
)

main() {
  export PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
  local purpose=${1:-}
  [[ $purpose == run || $purpose == static || $purpose == firmware || $purpose == test ]] ||
    die "usage: scripts/setup.sh run|static|firmware|test"
  packages "$purpose"
  rust
  if [[ $purpose == static || $purpose == test ]]; then static; fi
  if [[ $purpose == firmware ]]; then rust_parts "$FIRMWARE_TARGET" ""; fi
  if [[ $purpose == test ]]; then
    rust_for_tests
    checkers
    openssl_1_1_1
    spsdk
    browser
  fi
}

packages() {
  local missing=()
  echo '#include <stdio.h>' | cc -E - >/dev/null 2>&1 || missing+=(gcc libc6-dev)
  # Perl modules that OpenSSL's Configure needs and Debian's perl-base lacks.
  perl -MFindBin -MIPC::Cmd -MFile::Compare -MPod::Usage -MTime::Piece -e 1 2>/dev/null || missing+=(perl)
  have make || missing+=(make)
  have cargo || have curl || missing+=(curl ca-certificates)
  if [[ $1 == firmware || $1 == test ]]; then
    have arm-none-eabi-gcc || missing+=(gcc-arm-none-eabi)
    [[ -n $(newlib) ]] || missing+=(libnewlib-arm-none-eabi)
  fi
  if [[ $1 == static || $1 == test ]]; then
    have arm-linux-gnueabihf-gcc || missing+=(gcc-arm-linux-gnueabihf libc6-dev-armhf-cross)
    have riscv64-linux-gnu-gcc || missing+=(gcc-riscv64-linux-gnu libc6-dev-riscv64-cross)
  fi
  if [[ $1 != run && $1 != firmware && ! -x .venv/bin/pip ]]; then
    python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3 python3-venv)
  fi
  if [[ $1 == test ]]; then
    have git || missing+=(git)
    # For the lab; `cpb lab` itself reports what is missing.
    have qemu-system-x86_64 || missing+=(qemu-system-x86)
    have qemu-system-aarch64 || missing+=(qemu-system-arm)
    # depmod is in a folder that is only in root's PATH.
    PATH="$PATH:/usr/sbin:/sbin" have depmod || missing+=(kmod)
    have xz || missing+=(xz-utils)
    # The installed libraries that the tests measure.
    for library in libcrypto.so.3:libssl3 libgcrypt.so.20:libgcrypt20 libnettle.so.8:libnettle8 \
      libhogweed.so.6:libhogweed6 libwolfssl.so.35:libwolfssl35 libmbedcrypto.so.7:libmbedcrypto7; do
      installed "${library%:*}" || missing+=("${library#*:}")
    done
    # For static binaries for boards, and for ssh to boards.
    have qemu-riscv64-static || missing+=(qemu-user-static)
    [[ -x /usr/sbin/sshd ]] || missing+=(openssh-server)
    have ssh || missing+=(openssh-client)
    # Tests open reports in a browser.
    have chromium || missing+=(chromium)
    have node || missing+=(nodejs)
    have npm || missing+=(npm)
  fi
  [[ ${#missing[@]} -eq 0 ]] && return

  local install="apt-get install -y --no-install-recommends ${missing[*]}"
  have apt-get || die "this machine lacks (Debian's names): ${missing[*]}; install them, then run make again"
  [[ $(id -u) -eq 0 ]] || die "this machine lacks: ${missing[*]}; run this, then make again:
  sudo $install"
  say "$install"
  export DEBIAN_FRONTEND=noninteractive
  # The package lists of a fresh machine are absent or old.
  $install </dev/null >/dev/null 2>&1 || { apt-get update -qq && $install </dev/null >/dev/null; } ||
    die "apt-get failed; run this, then make again:
  apt-get update && $install"
}

# Installs the version that the workspace requires, not the newest, because lints differ from version to version and
# the tests deny every warning.
rust() {
  local wanted
  wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
  if ! have cargo; then install_rust "$wanted"; fi
  rust_is "$wanted" && return
  have rustup || die "Rust $(rust_version) is older than $wanted, and rustup is not there to renew it;
install rustup (https://rustup.rs), then run make again"
  say "rustup toolchain install $wanted, for this folder (Rust $(rust_version) is too old)"
  rustup --quiet toolchain install "$wanted" --profile minimal --no-self-update >/dev/null
  rustup --quiet override set "$wanted"
  rust_is "$wanted" || die "Rust $(rust_version) is older than $wanted, though $wanted is installed;
\`rustup show\` says what selects the old one"
}

install_rust() {
  local url home=${CARGO_HOME:-$HOME/.cargo}
  # The second URL serves the same script, for networks that allow only the download server.
  for url in https://sh.rustup.rs https://static.rust-lang.org/rustup/rustup-init.sh; do
    say "installing Rust $1 from $url into $home"
    if curl --proto '=https' --tlsv1.2 -sSf "$url" |
      sh -s -- -y --quiet --no-modify-path --profile minimal --default-toolchain "$1" >/dev/null; then
      say "to call cargo yourself: . \"$home/env\""
      return
    fi
  done
  die "Rust could not be downloaded. On a machine with a network, run this, then make again:
  curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh"
}

static() {
  rust_parts "${STATIC_TARGETS[*]}" ""
  [[ $(package_version ziglang) == "$ZIG" && $(package_version cargo-zigbuild) == "$ZIGBUILD" ]] && return
  say "pip install ziglang $ZIG and cargo-zigbuild $ZIGBUILD into .venv"
  pip_install "ziglang==$ZIG" "cargo-zigbuild==$ZIGBUILD"
}

rust_for_tests() {
  rust_parts "${TARGETS[*]}" "rustfmt cargo-clippy"
}

# Installs the targets ($1) and programs ($2) that this toolchain lacks.
rust_parts() {
  local sysroot target program missing=() components=()
  sysroot=$(rustc --print sysroot)
  for target in $1; do
    [[ -d $sysroot/lib/rustlib/$target/lib ]] || missing+=("$target")
  done
  for program in $2; do
    [[ -x $sysroot/bin/$program ]] || components+=("${program#cargo-}")
  done
  [[ ${#missing[@]} -eq 0 && ${#components[@]} -eq 0 ]] && return
  have rustup || die "the tests need these targets and components, and rustup to install them:
  ${missing[*]} ${components[*]}
install rustup (https://rustup.rs), then run make again"
  if [[ ${#missing[@]} -gt 0 ]]; then
    say "rustup target add ${missing[*]}"
    rustup --quiet target add "${missing[@]}"
  fi
  if [[ ${#components[@]} -gt 0 ]]; then
    say "rustup component add ${components[*]}"
    rustup --quiet component add "${components[@]}"
  fi
}

checkers() {
  if ! at_least "$CARGO_DENY" "$(version_of cargo-deny)"; then
    say "cargo install cargo-deny $CARGO_DENY (under a minute)"
    # Unoptimised, it builds in a fraction of the time and still checks in half a second.
    CARGO_PROFILE_DEV_DEBUG=0 cargo install --quiet --locked --debug --version "$CARGO_DENY" cargo-deny
  fi
  if [[ $(version_of .venv/bin/typos) != "$TYPOS" ]]; then
    say "pip install typos $TYPOS into .venv"
    pip_install "typos==$TYPOS"
  fi
  if [[ $(version_of .venv/bin/ruff) != "$RUFF" ]]; then
    say "pip install ruff $RUFF into .venv"
    pip_install "ruff==$RUFF"
  fi
}

# For x86_64 and aarch64 only, as are the wheel's hashes; on other machines the test is skipped.
openssl_1_1_1() {
  local folder=.venv/openssl-1.1.1 machine temporary
  grep -qsF "OpenSSL $OPENSSL_1_1_1 " $folder/libcrypto.so.1.1 && return
  machine=$(uname -m)
  [[ $machine == x86_64 || $machine == aarch64 ]] || return 0
  say "OpenSSL $OPENSSL_1_1_1 into $folder"
  pip_there
  temporary=$(mktemp -d)
  echo "${OPENSSL_1_1_1_WHEEL//$'\n'/ }" >"$temporary/wanted"
  .venv/bin/pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --python-version 3.11 \
    --platform "manylinux2014_$machine" --require-hashes --dest "$temporary" --requirement "$temporary/wanted"
  .venv/bin/python -m zipfile --extract "$temporary"/*.whl "$temporary"
  mkdir -p $folder
  mv "$temporary"/psycopg2_binary.libs/libcrypto-*.so.1.1 $folder/libcrypto.so.1.1
  rm -r "$temporary"
}

# NXP's own image tool, as a peer of `cpb otfad`. Its packages stay apart from those of the checkers.
spsdk() {
  local folder=.venv/spsdk wanted=crates/otfad/tests/peer/requirements.txt
  cmp -s $wanted $folder/installed.txt && return
  say "SPSDK into $folder (half a minute)"
  rm -rf $folder
  python3 -m venv $folder
  $folder/bin/pip install --quiet --disable-pip-version-check --no-deps --requirement $wanted
  cp $wanted $folder/installed.txt
}

# Prints the C library for Cortex-M7, if the compiler has one.
newlib() {
  local library
  library=$(arm-none-eabi-gcc -mcpu=cortex-m7 -mfloat-abi=hard -print-file-name=libc.a 2>/dev/null) || true
  [[ $library != /* ]] || echo "$library"
}

# Installs the packages that drive the browser, in the versions of the lock file.
browser() {
  local folder=crates/cpb/tests/browser
  cmp -s $folder/package-lock.json $folder/node_modules/.package-lock.installed && return
  say "npm ci in $folder"
  npm ci --prefix $folder --no-audit --no-fund --loglevel=error >/dev/null
  cp $folder/package-lock.json $folder/node_modules/.package-lock.installed
}

pip_there() { [[ -x .venv/bin/pip ]] || python3 -m venv .venv; }
pip_install() {
  pip_there
  .venv/bin/pip install --quiet --disable-pip-version-check "$@"
}
package_version() {
  .venv/bin/python -c 'import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))' \
    "$1" 2>/dev/null || true
}
rust_version() { rustc --version 2>/dev/null | cut -d ' ' -f 2; }
rust_is() { at_least "$1" "$(rust_version)"; }
version_of() { "$1" --version 2>/dev/null | cut -d ' ' -f 2 || true; }
at_least() { [[ -n $2 && $(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1) == "$1" ]]; }
# grep reads to the end: if it stopped early, ldconfig and with it the pipeline would fail.
installed() { PATH="$PATH:/usr/sbin:/sbin" ldconfig -p | grep -F "$1" >/dev/null; }
have() { command -v "$1" >/dev/null 2>&1; }
say() { echo "setup: $*"; }
die() {
  echo "setup: $*" >&2
  exit 1
}

main "$@"
