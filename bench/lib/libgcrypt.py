"""libgcrypt's bench-slope, linked with the system's library, which cpb's provider also loads."""

import os
import re
import subprocess

from lib import build, debian

# The part of the library's configuration that the program needs; the configure script is not run.
CONFIGURATION = """#include <stdint.h>
#define _GCRYPT_CONFIG_H_INCLUDED 1
#define HAVE_CLOCK_GETTIME 1
#define VERSION "{version}"
typedef uint64_t u64;
"""


def bench_slope():
    """The program, newly built for the system's library, and the version of the library's package."""
    query = ["dpkg-query", "-W", "-f", "${Version}", "libgcrypt20"]
    system = subprocess.run(query, check=True, capture_output=True, text=True).stdout
    (root, number), (errors, _) = debian.package("libgcrypt20-dev"), debian.package("libgpg-error-dev")
    version = number.split("-")[0]
    source = debian.source("libgcrypt20", codename())
    own = re.search(r"^Noteworthy changes in version (\S+)", (source / "NEWS").read_text(), re.M).group(1)
    if system != number or own != version:
        raise RuntimeError(f"libgcrypt is {system} here, its headers {number}, the program's source {own}")
    folder = build.scratch("libgcrypt")
    (folder / "config.h").write_text(CONFIGURATION.format(version=version))
    (source / "src" / "gcrypt.h").write_text("#include <gcrypt.h>\n")
    headers = {path.parent for tree in (root, errors) for path in tree.rglob("*.h")}
    flags = ["-O2", "-DHAVE_CONFIG_H", *(f"-I{folder}" for folder in (folder, *sorted(headers)))]
    libraries = ["-l:libgcrypt.so.20", "-l:libgpg-error.so.0"]
    program, text = folder / "bench-slope", source / "tests" / "bench-slope.c"
    compiler = os.environ.get("CC", "cc")
    subprocess.run([compiler, *flags, text, *libraries, "-o", program], check=True)
    return program, number


def codename():
    """The codename of this machine's Debian release."""
    with open("/etc/os-release") as lines:
        return re.search(r"^VERSION_CODENAME=(\S+)", lines.read(), re.M).group(1)


def slopes(text):
    """Nanoseconds per byte in the output of `bench-slope --csv`: {"AES256 CBC enc": ns}."""
    found = {}
    for line in text.splitlines():
        fields = line.split(",")
        if "ns/B" in fields:
            names = [field for field in fields[1:3] if field]
            found[" ".join(names)] = float(fields[fields.index("ns/B") - 1])
    return found
