"""Debian's packages and their sources, which apt downloads into the scratch folder. Neither needs root."""

import functools
import subprocess

from lib import build

KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
# As root, apt would drop its privileges and could then not access a folder that belongs to root.
AS_WE_ARE = ["-o", "APT::Sandbox::User=root"]


@functools.cache
def package(name):
    """A package, unpacked, and its version."""
    folder = build.scratch("debian", name)
    if not list(folder.glob("*.deb")):
        download = ["apt-get", "download", "--quiet", name, *AS_WE_ARE]
        if subprocess.run(download, cwd=folder, capture_output=True).returncode != 0:
            subprocess.run(["apt-get", "update", "--quiet"], check=True, stdout=subprocess.DEVNULL)
            subprocess.run(download, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    (archive,) = folder.glob("*.deb")
    subprocess.run(["dpkg-deb", "-x", archive, folder / "root"], check=True)
    field = ["dpkg-deb", "-f", archive, "Version"]
    version = subprocess.run(field, check=True, capture_output=True, text=True).stdout.strip()
    return folder / "root", version


@functools.cache
def source(name, suite):
    """The upstream source of a package as in `suite`, unpacked. apt's lists of sources are stored next to it, because
    few machines have them."""
    folder = build.scratch("debian", f"{name}-{suite}")
    unpacked = folder / "source"
    if unpacked.exists():
        return unpacked
    apt = folder / "apt"
    (apt / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    (apt / "archives" / "partial").mkdir(parents=True, exist_ok=True)
    sources = apt / "sources.list"
    mirror = "http://deb.debian.org/debian"
    sources.write_text(f"deb-src [signed-by={KEYS}] {mirror} {suite} main\n")
    options = [*AS_WE_ARE, "-o", f"Dir::Etc::SourceList={sources}", "-o", "Dir::Etc::SourceParts=-"]
    options += ["-o", f"Dir::State::Lists={apt / 'lists'}", "-o", f"Dir::Cache={apt}"]
    for command in (["update"], ["source", "--download-only", name]):
        command = ["apt-get", "--quiet", *options, *command]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    (archive,) = folder.glob("*.orig.tar.*[!c]")
    partial = folder / "partial"
    partial.mkdir(exist_ok=True)
    unpack = ["tar", "-x", "--strip-components=1", "-f", archive, "-C", partial]
    subprocess.run(unpack, check=True)
    partial.rename(unpacked)
    return unpacked
