# SPDX-License-Identifier: GPL-2.0-only
"""text_values.py TRACE TEXT...: the same records in the same order, value for value.

A TEXT is parsed by its syntax alone, TRACE is read by babeltrace2. Prints for each TEXT
"same: RECORDS TYPES VALUES" or "differs: " and what.
"""

import calendar
import collections
import functools
import ipaddress
import re
import struct
import sys
import time

import bt2

# pylint: disable=protected-access

LINE = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{9})Z cpu(\d+) (\w+) ")
ESCAPE = re.compile(r"\\(?:x([0-9a-f]{2})|(.))")
CUT = re.compile(r"(?:^| )\.\.\.\+(\d+) bytes$")
SYMBOL = re.compile(r"(.+)\+0x([0-9a-f]+)/0x[0-9a-f]+(?:\[\w+\])?$")


class Text:
    """The fields of one record: numbers and names stay words, as str; strings are bytes."""

    def __init__(self, text):
        self.text, self.at = text, 0
        self.fields = self.members("")

    def peek(self):
        return self.text[self.at:self.at + 1]

    def members(self, end):
        fields = {}
        while self.peek() != end:
            if fields:
                self.expect(" ")
            name = re.compile(r"\w+=").match(self.text, self.at)
            assert name, f"no name at '{self.text[self.at:]}'"
            self.at = name.end()
            assert name[0][:-1] not in fields, f"{name[0]} twice"
            fields[name[0][:-1]] = self.value()
        return fields

    def expect(self, what):
        assert self.text.startswith(what, self.at), f"no '{what}' at '{self.text[self.at:]}'"
        self.at += len(what)

    def value(self):
        first = self.peek()
        if first == '"':
            return self.string()
        if first == "{":
            self.at += 1
            fields = self.members("}")
            self.at += 1
            return fields
        if first == "[":
            self.at += 1
            values = []
            while self.peek() != "]":
                if values:
                    self.expect(",")
                values.append(self.value())
            self.at += 1
            return values
        # A symbol may end with its module's name in brackets.
        word = re.compile(r"[^ ,\[\]{}\"]*(\[\w+\])?").match(self.text, self.at)
        self.at = word.end()
        return word[0]

    def string(self):
        end = re.compile(r'"(?:[^"\\]|\\.)*"').match(self.text, self.at)
        assert end, f"no end of '{self.text[self.at:]}'"
        self.at = end.end()
        return ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else
                          {"n": "\n"}.get(m[2], m[2]), end[0][1:-1]).encode("latin-1")


@functools.cache
def symbols():
    addresses = collections.defaultdict(set)
    for line in open("/proc/kallsyms"):
        address, _, name = line.split()[:3]
        addresses[name].add(int(address, 16))
    return addresses


def same_symbol(word, address):
    m = SYMBOL.match(word)
    return (address - int(m[2], 16) in symbols()[m[1]]) if m else word == hex(address)


def texts(path):
    """Time, CPU, type, fields, and bytes that are not shown, of each record."""
    for line in open(path, encoding="ascii"):
        if line.startswith("#"):
            continue
        line = line.rstrip("\n")
        head = LINE.match(line)
        assert head, f"'{line}' does not begin like a record"
        rest = line[head.end():]
        cut = CUT.search(rest)
        yield (calendar.timegm(time.strptime(head[1], "%Y-%m-%dT%H:%M:%S")) * 10**9 +
               int(head[2]), int(head[3]), head[4],
               Text(CUT.sub("", rest)).fields, int(cut[1]) if cut else 0)


def events(path):
    for message in bt2.TraceCollectionMessageIterator(path):
        if isinstance(message, bt2._EventMessageConst):
            event = message.event
            yield (message.default_clock_snapshot.ns_from_origin,
                   int(event.packet.context_field["cpu_id"]), event.name,
                   event.payload_field)


values = 0


def is_hex(field):
    return isinstance(field, bt2._IntegerFieldConst) and \
        field.cls.preferred_display_base == bt2.IntegerDisplayBase.HEXADECIMAL


def same(text, field, where):
    """Whether a value of text is that of a field of CTF."""
    global values

    if isinstance(text, dict):
        return same_fields(text, field, where)
    if isinstance(text, list):
        numbers = [field[i] for i in range(len(field))]
        # A stack ends at a 0; CTF shows all of it, in hexadecimal.
        rest = numbers[len(text):]
        if rest and is_hex(rest[0]) and not any(rest) and 0 not in numbers[:len(text)]:
            numbers = numbers[:len(text)]
        return len(text) == len(numbers) and \
            all(same(t, n, where) for t, n in zip(text, numbers))
    values += 1
    if isinstance(text, bytes):
        return text == str(field).encode()
    if hasattr(field, "labels"):
        if text in field.labels:
            return True
        assert not field.labels, f"{where}: '{text}' is not one of {field.labels}"
    if hasattr(field, "__len__"):
        data = bytes(int(field[i]) for i in range(len(field)))
        return text == data.hex() or same_address(text, data)
    if isinstance(field, bt2._RealFieldConst):
        size = 4 if isinstance(field, bt2._SinglePrecisionRealFieldConst) else 8
        return text == hex(int.from_bytes(struct.pack("<f" if size == 4 else "<d", field),
                                          "little"))
    number = int(field)
    if text in ("true", "false"):
        return number == (text == "true")
    if text.startswith("0x"):
        return int(text, 16) == number % 2**64
    if re.fullmatch(r"-?\d+(ns)?", text):
        return int(text.removesuffix("ns")) == number
    return same_symbol(text, number)


def same_address(text, data):
    try:
        return ipaddress.ip_address(text).packed == data
    except ValueError:
        return text == ":".join(f"{b:02x}" for b in data)


def same_fields(fields, payload, where):
    for name, text in fields.items():
        assert name in payload, f"{where}: no field {name}"
        assert same(text, payload[name], f"{where}.{name}"), \
            f"{where}.{name}: '{text}' in text, {payload[name]} in CTF"
    for name in payload:
        # CTF needs padding and lengths spelt out.
        assert name in fields or name.startswith("pad_") or \
            name.strip("_").endswith("length") or name == "len", f"{where}: {name} is not in text"
    return True


def compare(path, held):
    """What they have in common: RECORDS TYPES VALUES."""
    global values

    values = 0
    shown = list(texts(path))
    assert shown == sorted(shown, key=lambda t: t[:2]), "text is not in order"
    assert len(shown) == len(held), f"{len(shown)} records in text, {len(held)} in CTF"
    offset = shown[0][0] - held[0][0]
    for n, (t, e) in enumerate(zip(shown, held)):
        where = f"record {n}, {t[2]}"
        assert t[0] - e[0] == offset and t[1:3] == e[1:3], \
            f"{where}: {t[:3]} in text, {e[:3]} in CTF"
        assert not t[4], f"{where}: {t[4]} bytes are not shown"
        same_fields(t[3], e[3], where)
    return f"{len(shown)} {len({t[2] for t in shown})} {values}"


# Of equal times both have the order of one CPU; between CPUs only text has one.
records = sorted(events(sys.argv[1]), key=lambda e: e[:2])
for path in sys.argv[2:]:
    try:
        print("same:", compare(path, records))
    except AssertionError as error:
        print("differs:", str(error).replace("\n", " "))
