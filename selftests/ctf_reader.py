# SPDX-License-Identifier: GPL-2.0-only
"""ctf_reader.py TRACE: the records of a copy of ctf/, as `bpfrelay cat --mono` shows them.

Written from Documentation/format.rst alone, and independent of the library: that page must
be enough to write a reader.
"""

import ipaddress
import os
import re
import struct
import sys

TOKEN = re.compile(r'\s*(?:/\*(.*?)\*/|"([^"]*)"|(-?\d+)|(\w+)|(:=|[{}()\[\];:,=.]))', re.S)
HEADER = struct.Struct("<I16sIQQQQQQQQ")
RECORD = struct.Struct("<QHHI")


class Tokens:
    """(kind, text): word, number, string or sign. .comment is what stood before the current."""

    def __init__(self, text):
        self.text, self.at = text, 0
        self.next()

    def next(self):
        last, self.comment = getattr(self, "now", None), []
        while True:
            m = TOKEN.match(self.text, self.at)
            if not m:
                assert not self.text[self.at:].strip(), self.text[self.at:self.at + 40]
                self.now = ("end", "")
                return last
            self.at = m.end()
            if m[1] is None:
                break
            words = m[1].split()
            if words[:1] == ["bpf_relay:"]:
                self.comment = words[1:]
        self.now = next((kind, m[i]) for i, kind in
                        ((2, "string"), (3, "number"), (4, "word"), (5, "sign"))
                        if m[i] is not None)
        return last

    def skip(self, *texts):
        for text in texts:
            assert self.now[1] == text, f"'{self.now[1]}' where '{text}' should be"
            self.next()

    def take(self, text):
        if self.now[1] != text or self.now[0] == "string":
            return False
        self.next()
        return True


class Field:
    """One declaration: what it is made of, its dimensions, its comment."""

    def __init__(self, t):
        self.fields = self.labels = None
        self.real = self.is_text = False
        self.size, self.align, self.base, self.signed, self.order = 8, 8, 10, False, "little"
        enum = t.take("enum")
        if enum:
            t.skip(":")
        if t.take("uint8_t"):
            self.base = 16
        elif t.take("uint32_t"):
            self.size = self.align = 32
        elif t.take("struct"):
            self.fields = struct_of(t)
            t.skip("align", "(", "8", ")")
        elif t.take("floating_point"):
            self.attributes(t)
        else:
            t.skip("integer")
            self.attributes(t)
        if enum:
            self.labels = labels_of(t)
        self.name = t.next()[1]
        self.dims = []
        while t.take("["):
            self.dims.append(t.next()[1])
            t.skip("]")
        t.skip(";")
        self.words = t.comment
        hints = "hex ipv4 ipv6 mac string ns stack ksym ifindex packet".split()
        self.hint = next((w for w in self.words if w in hints), "")

    def attributes(self, t):
        t.skip("{")
        while not t.take("}"):
            key = t.next()[1]
            t.skip("=")
            value = t.next()[1]
            t.skip(";")
            if key == "exp_dig":
                self.real, self.size = True, 32 if value == "8" else 64
            elif key == "signed":
                self.signed = value == "true"
            elif key == "byte_order":
                self.order = "big"
            elif key == "encoding":
                self.is_text = True
            elif key in ("size", "align", "base"):
                setattr(self, key, int(value))

    def is_padding(self, bit):
        where = f"_pad_{bit // 8}_{bit % 8}" if bit % 8 else f"_pad_{bit // 8}"
        return self.base == 16 and not self.hint and self.labels is None and \
            self.fields is None and self.name.rstrip("_") == where

    def is_run(self):
        """Bytes or text: the innermost dimension is one value."""
        return self.is_text or (self.dims and self.size == 8 and not self.signed and
                                self.labels is None and not self.real and
                                self.hint != "hex" and (self.base == 16 or self.hint == "ipv4"))


def struct_of(t):
    t.skip("{")
    fields = []
    while not t.take("}"):
        fields.append(Field(t))
    return fields


def labels_of(t):
    t.skip("{")
    labels = {}
    while True:
        name = t.next()[1]
        t.skip("=")
        labels.setdefault(int(t.next()[1]), name)
        if not t.take(","):
            break
    t.skip("}")
    return labels


def types_of(text):
    """Name and fields of each type; what else is there is the same in every log."""
    assert text.startswith("/* CTF 1.8 */")
    types = {}
    for at in [m.start() for m in re.finditer(r"^event\b", text, re.M)]:
        t = Tokens(text[at:])
        t.skip("event", "{", "name", "=")
        name = t.next()[1]
        t.skip(";", "id", "=")
        number = int(t.next()[1])
        t.skip(";", "stream_id", "=", "0", ";", "fields", ":=", "struct")
        types[number] = name, struct_of(t)
    return types


class Payload:
    def __init__(self, data):
        self.number, self.bit, self.lengths = int.from_bytes(data, "little"), 0, {}

    def take(self, bits, order="little"):
        value = self.number >> self.bit & (1 << bits) - 1
        self.bit += bits
        return value if order == "little" else int.from_bytes(value.to_bytes(bits // 8, "little"),
                                                              "big")

    def fields(self, fields):
        start, shown = self.bit, []
        for f in fields:
            if f.is_padding(self.bit - start):
                self.take(f.size * (int(f.dims[0]) if f.dims else 1))
            else:
                shown.append(f"{f.name.removeprefix('_')}={self.dimensions(f, f.dims)}")
        return " ".join(shown)

    def dimensions(self, f, dims):
        n = self.lengths[dims[0]] if dims and dims[0] in self.lengths else \
            int(dims[0]) if dims else 1
        if f.is_run() and len(dims) == 1:
            return run(f, bytes(self.take(8) for _ in range(n)))
        if dims and not (f.hint == "stack" and len(dims) == 1):
            return f"[{','.join(self.dimensions(f, dims[1:]) for _ in range(n))}]"
        if f.hint == "stack":
            values = [self.take(f.size) for _ in range(n)]
            end = values.index(0) if 0 in values else n
            return f"[{','.join(hex(v) for v in values[:end])}]"
        return f"{{{self.fields(f.fields)}}}" if f.fields is not None else \
            number(f, self.take(f.size, f.order))


def run(f, data):
    if f.is_text:
        def escape(b):
            c = chr(b)
            return "\\" + c if c in '"\\' else "\\n" if c == "\n" else \
                c if " " <= c <= "~" else f"\\x{b:02x}"
        return '"' + "".join(escape(b) for b in data.split(b"\0")[0]) + '"'
    if f.hint == "mac":
        return ":".join(f"{b:02x}" for b in data)
    return str(ipaddress.ip_address(data)) if f.hint in ("ipv4", "ipv6") else data.hex()


def number(f, value):
    signed = value - (1 << f.size) if f.signed and value >> (f.size - 1) else value
    if f.labels is not None and signed in f.labels:
        return f.labels[signed]
    if f.real or f.base == 16:
        return hex(value)
    if "bool" in f.words and value < 2:
        return ("false", "true")[value]
    return f"{signed}ns" if f.hint == "ns" else str(signed)


def records(path, types):
    """(time, CPU, line) of each record of one cpuN, and how many were lost."""
    with open(path, "rb") as f:
        data = f.read()
    at = 0
    while at < len(data):
        head = HEADER.unpack_from(data, at)
        assert head[0] == 0xC1FC1FC1 and head[7] > 0
        pos, end = at + HEADER.size, at + head[6] // 8
        while pos < end:
            ts, kind, _, length = RECORD.unpack_from(data, pos)
            name, fields = types[kind]
            # Of any length: begins with the word before the payload.
            p = Payload(data[pos + 16:end])
            if fields and fields[0].align == 32:
                p.lengths[fields[0].name] = length
                fields = fields[1:]
            text = p.fields(fields)
            yield ts, head[10], f"{ts // 10**9}.{ts % 10**9:09} cpu{head[10]} {name} {text}"
            pos = pos + 16 + (p.bit // 8 + 7) // 8 * 8
        at += head[7] // 8


def main(trace):
    with open(os.path.join(trace, "metadata"), encoding="ascii") as f:
        types = types_of(f.read())
    lines = []
    for name in sorted(os.listdir(trace)):
        if name.startswith("cpu"):
            lines += records(os.path.join(trace, name), types)
    # Of one CPU they are in order; of equal times the lower CPU is first.
    for line in sorted(lines, key=lambda r: r[:2]):
        print(line[2])


if __name__ == "__main__":
    main(sys.argv[1])
