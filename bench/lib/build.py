"""Programs of this repository, built as a user would build them."""

import functools
import json
import os
import pathlib
import platform
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


@functools.cache
def metadata():
    """cargo's metadata about the workspace and its dependencies."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    output = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
    return json.loads(output)


def target_directory():
    """cargo's build directory."""
    return pathlib.Path(metadata()["target_directory"])


def scratch(*parts):
    """A folder for files that the scripts keep between runs, outside the repository's files."""
    folder = target_directory().joinpath("bench", *parts)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _cargo(*arguments):
    environment = {**os.environ, "CARGO_TERM_QUIET": "true"}
    command = ["cargo", "build", "--release", "--locked", *arguments]
    subprocess.run(command, cwd=ROOT, check=True, env=environment)


@functools.cache
def cpb():
    """The `cpb` command, up to date."""
    _cargo("--package", "cpb", "--bin", "cpb")
    return target_directory() / "release" / "cpb"


@functools.cache
def example(name, package="cpb-runner", features=()):
    """An example of a package, up to date."""
    _cargo("--package", package, "--example", name, *features)
    return target_directory() / "release" / "examples" / name


# Without the C libraries, rustc needs only this target to link a static program.
_MUSL = f"{platform.machine()}-unknown-linux-musl"


def _static(*arguments):
    if subprocess.run(["rustup", "--quiet", "target", "add", _MUSL]).returncode != 0:
        raise RuntimeError(f"rustc cannot build for {_MUSL}: it takes rustup")
    _cargo("--no-default-features", "--target", _MUSL, *arguments)
    return target_directory() / _MUSL / "release"


@functools.cache
def static(name):
    """A program in the package of the same name, linked statically, with only the kernel's providers."""
    return _static("--package", name, "--bin", name) / name


@functools.cache
def static_example(name):
    """The same for an example in the runner's package."""
    return _static("--package", "cpb-runner", "--example", name) / "examples" / name
