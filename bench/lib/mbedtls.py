"""Mbed TLS's own benchmark, linked with the same object code that cpb measures.

The package from which cpb builds Mbed TLS does not contain the program, so it is taken from Debian's source of the
same branch. Names are changed in the same way as in cpb's build (crates/providers/build/mbedtls.rs).
"""

import os
import pathlib
import platform
import re
import subprocess

from lib import build, debian

# The Debian release with the same branch, 3.6.
SUITE = "trixie"
BRANCH = "3.6."
ROW = re.compile(r"^\s*(\S.*?)\s*:\s*(\d+) KiB/s")


def benchmark(variant, options):
    """The program for the library `c` or `accel`, newly built. `options` are the build options that cpb reports."""
    library, headers = built(variant, options), package_source()
    program = build.scratch("mbedtls") / f"benchmark-{variant}"
    names = program.with_suffix(".h")
    names.write_text(renames(defined(library), f"cpb_mbedtls_{variant}_"))
    own = debian.source("mbedtls", SUITE)
    flags = ["-O2", "-include", names, "-DMBEDTLS_HAVE_TIME", '-DMBEDTLS_CONFIG_FILE="config.h"']
    flags += ["-DCPB_MBEDTLS_ACCEL"] if variant == "accel" else []
    folders = [build.ROOT / "crates/providers/build/mbedtls", headers / "include", headers / "library"]
    flags += [f"-I{folder}" for folder in folders]
    text = own / "programs" / "test" / "benchmark.c"
    compiler = os.environ.get("CC", "cc")
    subprocess.run([compiler, *flags, text, library, "-o", program], check=True)
    return program


def version(folder):
    """The version of a source."""
    text = (folder / "include" / "mbedtls" / "build_info.h").read_text()
    found = re.search(r'MBEDTLS_VERSION_STRING\s+"([^"]+)"', text).group(1)
    if not found.startswith(BRANCH):
        raise RuntimeError(f"{folder} has Mbed TLS {found}, not {BRANCH}x: its program may not fit")
    return found


def package_source():
    """The source that cpb's build uses."""
    text = (build.ROOT / "crates/providers/build/mbedtls_source.rs").read_text()
    name, number = (re.search(rf'{what}: &str = "([^"]+)"', text) for what in ("PACKAGE", "PACKAGE_VERSION"))
    home = os.environ.get("CARGO_HOME") or os.path.expanduser("~/.cargo")
    folders = pathlib.Path(home).glob(f"registry/src/*/{name.group(1)}-{number.group(1)}/mbedtls")
    folder = os.environ.get("CPB_MBEDTLS_SOURCE") or next(folders, None)
    if folder is None:
        raise RuntimeError("cargo has not unpacked the source of Mbed TLS; name it by CPB_MBEDTLS_SOURCE")
    return pathlib.Path(folder)


def built(variant, options):
    """The library that cpb links: the newest that was built with its flags."""
    folder = os.environ.get("CPB_VENDORED_DIR") or build.target_directory() / "vendored"
    folders = pathlib.Path(folder).glob(f"mbedtls-*-{platform.machine()}-unknown-linux-gnu-*")

    def same(folder):
        return options.endswith("; ".join((folder / "flags").read_text().splitlines()))

    fitting = [folder for folder in folders if (folder / "flags").exists() and same(folder)]
    newest = max(fitting, key=lambda folder: folder.stat().st_mtime)
    return newest / f"libcpb_mbedtls_{variant}.a"


def defined(library):
    """The names that a library defines."""
    done = subprocess.run(
        ["nm", "--extern-only", "--defined-only", library], check=True, capture_output=True, text=True
    )
    return {line.split()[2] for line in done.stdout.splitlines() if len(line.split()) == 3}


def renames(names, prefix):
    """A header with which a program finds names that have been given a prefix."""
    lines = []
    for name in sorted(name for name in names if name.startswith(prefix)):
        rest = name.removeprefix(prefix)
        plain = rest if rest.startswith("psa_") else f"mbedtls_{rest}"
        lines.append(f"#define {plain} {name}\n")
    return "".join(lines)


def rates(text):
    """Nanoseconds per byte in the program's output: {name: ns}."""
    rows = (ROW.match(line) for line in text.splitlines())
    return {row.group(1): 1e9 / (int(row.group(2)) * 1024) for row in rows if row and int(row.group(2))}
