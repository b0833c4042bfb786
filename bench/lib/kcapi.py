"""The peer of the AF_ALG provider: a plain C loop over Debian's libkcapi, linked statically so that it runs in a
guest of the lab."""

import functools
import os
import subprocess

from lib import build, debian

PACKAGE = "libkcapi-dev"
SOURCE = build.ROOT / "bench" / "peers" / "libkcapi_loop.c"


def package():
    """The package, unpacked, and its version."""
    return debian.package(PACKAGE)


@functools.cache
def loop():
    """Builds the loop."""
    root, _ = package()
    (library,) = root.glob("usr/lib/*/libkcapi.a")
    program = build.scratch("libkcapi") / "libkcapi_loop"
    compiler = os.environ.get("CC", "cc")
    flags = ["-O2", "-Wall", "-Wextra", "-Werror", "-static", f"-I{root / 'usr/include'}"]
    subprocess.run([compiler, *flags, SOURCE, library, "-o", program], check=True)
    return program
