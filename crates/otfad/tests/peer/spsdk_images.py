#!/usr/bin/env python3
"""Encrypts images with NXP's SPSDK, and reads bootable images with it; a test compares the results with cpb's.

spsdk_images.py cases SEED COUNT  random images; one JSON object a line
spsdk_images.py parse FILE        what SPSDK finds in a bootable image for the i.MX RT1170, as JSON
"""

import json
import random
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

from spsdk.image.bootable_image.bimg import BootableImage
from spsdk.image.bootable_image.segments import BootableImageSegment
from spsdk.image.mem_type import MemoryType
from spsdk.image.otfad.otfad import Otfad
from spsdk.utils.config import Config
from spsdk.utils.family import FamilyRevision

KIB = 1024
# The part as cpb names it, SPSDK's name of it, the address of its flash.
PARTS = [
    ("imxrt1170", "mimxrt1176", 0x3000_0000),
    ("imxrt1010", "mimxrt1010", 0x6000_0000),
    ("imxrt1180", "mimxrt1189", 0x2800_0000),
]


def regions(rng: random.Random, flash: int) -> list[tuple[int, int]]:
    """One to four ranges that do not overlap; some touch, and they are in any order."""
    count = rng.randint(1, 4)
    cuts = sorted(rng.sample(range(4, 20), 2 * count))
    found = [[cuts[2 * i], cuts[2 * i + 1]] for i in range(count)]
    for before, after in pairwise(found):
        if rng.random() < 0.3:
            before[1] = after[0]
    rng.shuffle(found)
    return [(flash + start * KIB, flash + end * KIB) for start, end in found]


def case(rng: random.Random, folder: Path) -> dict:
    part, family, flash = rng.choice(PARTS)
    contexts = [
        {
            "start_address": start,
            "end_address": end,
            "aes_key": rng.randbytes(16).hex(),
            "aes_ctr": rng.randbytes(8).hex(),
            "valid": rng.random() < 0.9,
            "aes_decryption_enable": rng.random() < 0.9,
            "read_only": rng.random() < 0.5,
        }
        for start, end in regions(rng, flash)
    ]
    scramble = None
    if rng.random() < 0.7:
        scramble = {
            "key_scramble_mask": rng.getrandbits(32),
            "key_scramble_align": rng.getrandbits(8),
        }
    at = flash + 4 * KIB
    image = rng.randbytes(rng.randint(1, 16 * KIB))
    (folder / "image.bin").write_bytes(image)
    kek = rng.randbytes(16).hex()
    config = {
        "family": family,
        "output_folder": str(folder),
        "kek": kek,
        "otfad_table_address": flash,
        "data_blobs": [{"data": str(folder / "image.bin"), "address": at}],
        # SPSDK reads numbers with a prefix.
        "key_blobs": [{**one, "aes_key": "0x" + one["aes_key"], "aes_ctr": "0x" + one["aes_ctr"]} for one in contexts],
    }
    if scramble:
        config["key_scramble"] = scramble
    otfad = Otfad.load_from_config(Config(config))
    whole = otfad.binary_image(data_alignment=otfad.data_alignment).export()
    return {
        "part": part,
        "flash": flash,
        "at": at,
        "kek": kek,
        "scramble": scramble,
        "contexts": contexts,
        "image": image.hex(),
        "encrypted": whole.hex(),
    }


def cases(seed: str, count: str) -> None:
    rng = random.Random(int(seed))
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(int(count)):
            print(json.dumps(case(rng, Path(folder))))


def parse(name: str) -> None:
    family = FamilyRevision("mimxrt1176")
    binary = Path(name).read_bytes()
    image = BootableImage.parse(binary, family=family, mem_type=MemoryType.FLEXSPI_NOR)
    verified = image.verify()
    found = {
        "segments": [segment.NAME.label for segment in image.segments if segment.is_present],
        "errors": verified.draw(colorize=False) if verified.has_errors else None,
        "blobs": image.get_segment(BootableImageSegment.KEYBLOB).export().hex(),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    {"cases": cases, "parse": parse}[sys.argv[1]](*sys.argv[2:])
