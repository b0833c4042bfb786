"""Images of the firmware for the simulated i.MX RT1170 in plain and encrypted flash, and runs of them."""

import csv
import itertools
import re
import subprocess
import tomllib
from pathlib import Path

from lib.build import ROOT

CHIP = "imxrt1170"
CHIP_FILE = ROOT / "crates" / "sim" / "chips" / f"{CHIP}.toml"
# All of the image but what the boot ROM reads before it decrypts. The keys are not secret.
FIRST, LAST = 0x30001000, 0x30100000
KEY, KEK, COUNTER = "aabbccddeeff00112233445566778899", "000102030405060708090a0b0c0d0e0f", "0123456789abcdef"


def encrypt(program, image, encrypted, splits=()):
    """Encrypts an image, with a context for each part between the addresses in `splits`."""
    folder = encrypted.parent
    for file, digits in (("key", KEY), ("kek", KEK)):
        (folder / file).write_text(digits)
    encrypted.unlink(missing_ok=True)
    command = [program, "otfad", "encrypt", image, "-o", encrypted, "--kek", folder / "kek"]
    edges = [FIRST, *splits, LAST]
    for number, (start, end) in enumerate(itertools.pairwise(edges)):
        # Each context needs its own counter.
        counter = f"{int(COUNTER, 16) + number:016x}"
        command += ["--region", f"{start:#x}..{end:#x}", "--key", folder / "key", "--counter", counter]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    Path(f"{encrypted}.fuses.toml").write_text(f'part = "{CHIP}"\nkek = "{KEK}"\n')
    return encrypted


def timing():
    """The timing constants of the chip's file by name."""
    return {name: each["value"] for name, each in tomllib.loads(CHIP_FILE.read_text())["timing"].items()}


def chip(path, changes):
    """Writes the chip's file with other timing constants, and returns its path."""
    text = CHIP_FILE.read_text()
    for name, value in changes.items():
        text, count = re.subn(rf"(?m)^({name} = {{ value = )[^,]*", rf"\g<1>{value:g}", text)
        if count != 1:
            raise RuntimeError(f"{CHIP_FILE.name} has no {name}")
    path.write_text(text)
    return path


def cycles(program, image, record, plan, providers, budget, chip_file=CHIP):
    """Core cycles of an operation by (provider, workload), from a run of a plan."""
    record.unlink(missing_ok=True)
    command = [program, "run", "--plan", plan, "-p", providers, "--budget", budget, "-q", "-o", record]
    subprocess.run([*command, "--target", f"{chip_file}-sim:{image}"], check=True, stdout=subprocess.DEVNULL)
    shown = subprocess.run([program, "show", record, "--csv"], check=True, capture_output=True, text=True).stdout
    rows = csv.DictReader(shown.splitlines())
    return {(row["provider"], row["workload"]): float(row["cycles"]) for row in rows if row["cycles"]}


def floor(run):
    """The harness's own cycles, which a run measures once."""
    return next(each for (provider, _), each in run.items() if provider == "null")
