"""The peer of the AF_ALG provider: a plain C loop over Debian's libkcapi, linked statically so that it
runs in a guest of the lab."""

import functools
import os
import subprocess

from lib import build

PACKAGE = "libkcapi-dev"
SOURCE = build.ROOT / "bench" / "peers" / "libkcapi_loop.c"


@functools.cache
def package():
    """The package, fetched by apt and unpacked, and its version. Neither needs root, if apt's lists of
    packages are there."""
    folder = build.scratch("libkcapi")
    if not list(folder.glob("*.deb")):
        download = ["apt-get", "download", "--quiet", PACKAGE]
        # As root apt would drop its privileges and then not reach a folder of root's.
        download += ["-o", "APT::Sandbox::User=root"]
        if subprocess.run(download, cwd=folder, capture_output=True).returncode != 0:
            subprocess.run(["apt-get", "update", "--quiet"], check=True, stdout=subprocess.DEVNULL)
            subprocess.run(download, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    (archive,) = folder.glob("*.deb")
    subprocess.run(["dpkg-deb", "-x", archive, folder / "root"], check=True)
    field = ["dpkg-deb", "-f", archive, "Version"]
    version = subprocess.run(field, check=True, capture_output=True, text=True).stdout.strip()
    return folder / "root", version


@functools.cache
def loop():
    """The loop, built."""
    root, _ = package()
    (library,) = root.glob("usr/lib/*/libkcapi.a")
    program = build.scratch("libkcapi") / "libkcapi_loop"
    compiler = os.environ.get("CC", "cc")
    flags = ["-O2", "-Wall", "-Wextra", "-Werror", "-static", f"-I{root / 'usr/include'}"]
    subprocess.run([compiler, *flags, SOURCE, library, "-o", program], check=True)
    return program
