# SPDX-License-Identifier: GPL-2.0-only
"""What bpf/types.bpf.c writes.

written.py TEXT: compares babeltrace2's text with it; says what is wrong, a line each.

Values are named as in C. Paddings and lengths of arrays are no part of them.
"""

import ipaddress
import re
import sys

from records import Enum, events


class Address(str):
    """IPv4, IPv6 or MAC address."""

    def bytes(self):
        if self.count(":") == 5 and "::" not in self:
            return bytes.fromhex(self.replace(":", ""))
        return ipaddress.ip_address(str(self)).packed


class Symbol(str):
    """An address in a kernel function: "schedule+0x4"."""

    def address(self):
        name, _, offset = self.partition("+")
        for line in open("/proc/kallsyms"):
            address, _, symbol = line.split()[:3]
            if symbol == name:
                return int(address, 16) + int(offset or "0", 16)
        sys.exit(f"no kernel function {name}")


class Stack(list):
    """Symbols; in memory there are so many words, the others are 0."""

    def __init__(self, words, *symbols):
        super().__init__(symbols)
        self.words = words


def count(start, n):
    return bytes(range(start, start + n))


RECORDS = [
    ("types_numbers", {
        "a": 255, "b": -128, "c": 65535, "d": -32768, "e": 2**32 - 1, "f": -2**31,
        "g": 2**64 - 1, "h": -2**63, "letter": 65, "yes": True, "no": [False, True],
        "number": 4000000000, "more": 17, "pointer": 0xffff888012345678,
        "pointers": [0, 1], "single": 1.5,
        "real": [-0.25, 1e300],
    }),
    ("types_bits", {
        "a": 5, "b": -64, "c": True, "d": Enum(-7, "SIGNED_LOW"), "e": 2**40 - 1, "f": 0x8001,
        "g": 2, "h": -2, "i": Enum(1, "PLAIN_ONE"),
    }),
    ("types_packed", {
        "a": 1, "b": 0x0102030405060708, "c": 17, "d": 0x500000000000001,
        "e": Enum(200, "TINY_B"), "f": -3,
    }),
    ("types_enums", {
        "a": Enum(0xfffffffe, "PLAIN_LARGE"), "unknown": Enum(77),
        "b": [Enum(-7, "SIGNED_LOW"), Enum(7, "SIGNED_HIGH")],
        "c": Enum(2**64 - 1, "WIDE_MAX"), "d": Enum(-2**63, "WIDE_MIN"),
        "e": Enum(1, "TINY_A"),
    }),
    ("types_structs", {
        "first": 1, "in": {"a": 2, "b": 3},
        "list": [{"a": 0, "b": 0}, {"a": 0, "b": 4}],
        "table": [[{"a": 0, "b": 0}, {"a": 5, "b": 0}], [{"a": 0, "b": 6}, {"a": 0, "b": 0}]],
        "anonymous": 7, "anon_64": count(8, 6) + b"\xff\xff",
        "both": [count(0xa0, 8), count(0xa8, 8)], "wide": count(0xf0, 16),
    }),
    ("types_arrays", {
        "a": [1, 0, 3], "b": [[0, 0, -1], [1000, 0, 0]], "c": [[0, 2], [3, 0]],
        "text": 'a"b\\c', "name": "12345678", "names": ["ab", "wxyz"], "letter": "Z",
    }),
    ("types_be", {
        "a": 443, "b": 0x01020304, "c": [1, 2**64 - 1], "ports": [0, 80], "d": 5, "e": -6,
    }),
    ("types_hints", {
        "addr": Address("10.0.0.1"), "addr_bytes": Address("192.193.194.195"),
        "addrs": [Address("0.0.0.0"), Address("127.0.0.1")],
        "addr6": Address("1011:1213:1415:1617:1819:1a1b:1c1d:1e1f"),
        "addrs6": [Address("::"), Address("::1")], "mac": Address("fa:fb:fc:fd:fe:ff"),
        "name": "bytes", "flags": 0x1f, "minus": 0xffffffff,
        "kind": Enum(1, "PLAIN_ONE"), "took": 1500, "late": -20,
        "stack": Stack(4, Symbol("schedule+0x4"), Symbol("schedule")),
        "where": Symbol("schedule+0x1"), "ifindex": 1, "len": 1500, "packet": count(0, 20),
    }),
]

_WORDS = {"a": 0x0807060504030201, "b": 0x0a09}
RECORDS += [
    ("types_words", _WORDS | {"words": [0x0c0b, 0x0e0d, 0x100f]}),
    ("types_words", _WORDS | {"words": [0x0c0b, 0x0e0d, 0x100f, 0x1211, 0x1413]}),
    # A byte more is no element.
    ("types_words", _WORDS | {"words": [0x0c0b, 0x0e0d, 0x100f, 0x1211, 0x1413]}),
    ("types_rows", {"n": 0x04030201, "rows": []}),
    ("types_rows", {"n": 0x04030201, "rows": []}),
    ("types_rows", {"n": 0x04030201, "rows": [
        {"a": 5, "b": Enum(1, "TINY_A"), "c": "abc"},
        {"a": 10, "b": Enum(200, "TINY_B"), "c": "de"}]}),
    ("types_text", {"a": 1, "text": "some text"}),
    ("types_text", {"a": 1, "text": "some"}),
    ("types_text", {"a": 1, "text": ""}),
    ("types_hops", {"a": 1, "hops": [Address("203:405:607:809:a0b:c0d:e0f:1011"),
                                     Address("1213:1415:1617:1819:1a1b:1c1d:1e1f:2021")]}),
    ("types_hops", {"a": 1, "hops": []}),
    ("types_tail", {"a": 0x0201, "data": count(3, 3)}),
    ("types_tail", {"a": 0x0201, "data": b""}),
]


def shown(value):
    """As babeltrace2 shows it, read by records.py."""
    if isinstance(value, dict):
        return {name: shown(v) for name, v in value.items()}
    if isinstance(value, Stack):
        return [shown(v) for v in value] + [0] * (value.words - len(value))
    if isinstance(value, list):
        return [shown(v) for v in value]
    if isinstance(value, bytes):
        return list(value)
    if isinstance(value, Address):
        return list(value.bytes())
    if isinstance(value, Symbol):
        return value.address()
    if isinstance(value, bool):
        return int(value)
    return value


def strip(value):
    """Without paddings, which must be 0, and lengths, which must be right."""
    if isinstance(value, list):
        return [strip(v) for v in value]
    if not isinstance(value, dict):
        return value
    fields = {}
    for name, v in value.items():
        if name.startswith("pad_"):
            if v != (0 if isinstance(v, int) else [0] * len(v)):
                fields[name] = v
        elif not re.fullmatch("_[a-z]+_length", name):
            fields[name] = strip(v)
    return fields


def differences(path, want, got):
    if type(want) is dict and type(got) is dict:
        for name in want.keys() | got.keys():
            yield from differences(f"{path}.{name}", want.get(name), got.get(name))
    elif want != got or getattr(want, "names", ()) != getattr(got, "names", ()):
        yield f"{path}: {got!r} is shown, {want!r} was written"


def compare(text):
    got = list(events(text))
    if len(got) != len(RECORDS):
        print(f"{len(got)} records are shown, {len(RECORDS)} were written")
    for n, ((name, _, fields), (want_name, want)) in enumerate(zip(got, RECORDS)):
        if name != want_name:
            print(f"record {n}: {name} is shown, {want_name} was written")
            continue
        for line in differences(name, shown(want), strip(fields)):
            print(f"record {n}: {line}")


if __name__ == "__main__":
    compare(sys.argv[1])
