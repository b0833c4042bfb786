#!/usr/bin/env bash
# The Debian package installs, runs and goes without a trace, in a file system of its own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

built=${CARGO_TARGET_DIR:-target}/debug/cpb
if ! command -v dpkg-deb >/dev/null; then
  printf 'scripts/tests/deb.sh\tthere is no dpkg-deb here\n' >>"${CPB_SKIP_LOG:-/dev/stderr}"
  exit 0
fi
# As the tests before have built it; by itself, this script builds it first.
[[ -x $built ]] || cargo build --locked --package cpb

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
package=$(scripts/deb.sh "$built" "$folder")
root=$folder/root
mkdir -p "$root/var/lib/dpkg/"{info,updates,triggers}
touch "$root/var/lib/dpkg/status"
# What it depends on is outside: it is this machine's.
dpkg="dpkg --root=$root --force-not-root --force-depends --log=/dev/null"
find "$root" -not -path '*/var/lib/dpkg/*' | sort >"$folder/before"

$dpkg --install "$package" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
"$root/usr/bin/cpb" --version | grep -q '^cpb '
cd "$folder"
"$root/usr/bin/cpb" run -a sha-256 -s 16 -p mbedtls:c --budget 0.3s -q -o record.jsonl >table
grep -q '^sha-256 hash' table
gzip -dc "$root/usr/share/man/man1/cpb-run.1.gz" | grep -q 'cpb-run'
grep -q 'complete -F _cpb' "$root/usr/share/bash-completion/completions/cpb"
# Every library that it loads is of a package that it depends on.
depends=$(dpkg-deb --field "$package" Depends)
while read -r library; do
  [[ $depends == *libc6* && $library =~ ^(libc|libm|libdl|libpthread|librt|ld-linux[^.]*)\.so ||
    $depends == *libgcc-s1* && $library == libgcc_s.so* ]] || {
    echo "no package for $library in: $depends"
    exit 1
  }
done < <(objdump -p "$root/usr/bin/cpb" | awk '$1 == "NEEDED" { print $2 }')

$dpkg --remove cpb >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
find "$root" -not -path '*/var/lib/dpkg/*' | sort >"$folder/after"
diff "$folder/before" "$folder/after"
