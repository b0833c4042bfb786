"""The peer: the `openssl` command, built from the same source and with the same options as cpb's libcrypto."""

import hashlib
import os
import pathlib
import platform
import re
import shutil
import subprocess

from lib import build, cpb

# As crates/providers/build/openssl.rs has it, but with the applications, and with what cpb leaves out because it does
# not measure it: `openssl` does not build without.
CONFIGURATION = """no-shared no-module no-tests no-comp no-zlib no-zlib-dynamic --libdir=lib
    no-legacy no-ssl3 no-md2 no-rc5 no-weak-ssl-ciphers no-camellia no-idea no-seed""".split()

TARGETS = {
    "x86_64": "linux-x86_64",
    "aarch64": "linux-aarch64",
    "armv7l": "linux-armv4",
    "riscv64": "linux64-riscv64",
}


def source():
    """The source that cpb's build uses, and its version."""
    for package in build.metadata()["packages"]:
        if package["name"] == "openssl-src":
            folder = pathlib.Path(package["manifest_path"]).parent / "openssl"
            return folder, package["version"].split("+")[1]
    raise RuntimeError("the workspace does not depend on openssl-src")


def flags(options):
    """The flags that openssl-src added after OpenSSL's own in a library's compiler line."""
    return re.search(r"compiler: .*? -O3 (.*?) -D", options).group(1).split()


def compiler_line(text):
    """The compiler line of a library: the part of a text from "compiler:" on, in one line."""
    return re.search(r"compiler: .*", text).group(0).strip()


def app():
    """The `openssl` command. The first call builds it, which takes a minute or two; then it is kept."""
    origin, version = source()
    extra = flags(cpb.options("openssl"))
    compiler = os.environ.get("CC", "cc")
    recipe = "\n".join([version, compiler, *CONFIGURATION, *extra, platform.machine()])
    name = f"openssl-{version}-{hashlib.sha256(recipe.encode()).hexdigest()[:12]}"
    folder = build.scratch() / name
    if not (folder / "openssl").exists():
        print(f"building the openssl command in {folder}", flush=True)
        _build(origin, folder, compiler, extra)
    return folder / "openssl"


def _build(origin, folder, compiler, extra):
    work = folder / "work"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(origin, work)
    environment = {k: v for k, v in os.environ.items() if k not in ("CFLAGS", "MAKEFLAGS")}
    environment |= {"SOURCE_DATE_EPOCH": "0", "CC": compiler, "AR": "ar", "RANLIB": "ranlib"}
    prefix = ["--prefix=/nonexistent", "--openssldir=/nonexistent/cpb-openssl"]
    target = TARGETS[platform.machine()]
    jobs = f"-j{len(os.sched_getaffinity(0))}"
    with open(folder / "log", "wb") as log:
        for command in (
            ["perl", "./Configure", *prefix, *CONFIGURATION, target, *extra],
            ["make", "depend"],
            ["make", jobs, "build_generated"],
            ["make", jobs, "apps/openssl"],
        ):
            subprocess.run(command, cwd=work, env=environment, stdout=log, stderr=log, check=True)
    shutil.move(work / "apps" / "openssl", folder / "openssl")
    shutil.rmtree(work)


def version(command):
    """The version's first line and its compiler line."""
    text = subprocess.run([command, "version", "-v", "-f"], check=True, capture_output=True, text=True)
    return text.stdout.splitlines()[0], compiler_line(text.stdout)


# The name of a workload in `openssl speed`, and whether its loop is the same as that of the named phase.
SPEED = {
    "aes-256-cbc/encrypt": ["-evp", "aes-256-cbc"],
    "aes-256-cbc/decrypt": ["-evp", "aes-256-cbc", "-decrypt"],
    "aes-256-ctr/encrypt": ["-evp", "aes-256-ctr"],
    "aes-256-gcm/encrypt": ["-evp", "aes-256-gcm"],
    "chacha20-poly1305/encrypt": ["-evp", "chacha20-poly1305"],
    "sha-256/hash": ["-evp", "sha256"],
    "hmac-sha-256/mac": ["-hmac", "sha256"],
}


def speed(command, what, size, elapsed=True, cpu=None, seconds=1):
    """Runs `openssl speed` for a workload. Returns nanoseconds per byte according to its output, in wall-clock time
    if `elapsed`, else in user time."""
    return 1e9 / bytes_per_second(_speed(command, ["-bytes", str(size), *SPEED[what]], elapsed, cpu, seconds))


def operations(command, what, elapsed=True, cpu=None, seconds=1):
    """Runs `openssl speed` for an algorithm with key pairs. Returns operations per second, in the order of its
    output."""
    return operations_per_second(_speed(command, [what], elapsed, cpu, seconds))


def _speed(command, what, elapsed, cpu, seconds):
    arguments = [command, "speed", "-mr", "-seconds", str(seconds)]
    arguments += ["-elapsed"] if elapsed else []
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENSSL_")}
    pin = None if cpu is None else (lambda: os.sched_setaffinity(0, {cpu}))
    done = subprocess.run(
        arguments + what,
        capture_output=True,
        text=True,
        check=True,
        env=environment,
        preexec_fn=pin,
    )
    return done.stdout


def bytes_per_second(text):
    """The rate in the output of `openssl speed -mr`: +F:number:name:rate."""
    rates = [line.split(":")[-1] for line in text.splitlines() if line.startswith("+F:")]
    if len(rates) != 1 or float(rates[0]) <= 0:
        raise ValueError(f"openssl speed printed no rate: {text!r}")
    return float(rates[0])


# The prefixes of results in `openssl speed -mr` (apps/speed.c), and the number of fields before the rates.
KEY_PAIRS = {"+F2": 2, "+F4": 2, "+F5": 2, "+F6": 3, "+F9": 1, "+F10": 1}


def operations_per_second(text):
    """The rates in the output of `openssl speed -mr`: +F4:number:bits:sign:verify."""
    for line in text.splitlines():
        kind, *fields = line.split(":")
        if kind in KEY_PAIRS:
            return [float(rate) for rate in fields[KEY_PAIRS[kind] :]]
    raise ValueError(f"openssl speed printed no rates: {text!r}")
