# SPDX-License-Identifier: GPL-2.0-only
"""Records from babeltrace2's text, for the tests of programs."""

import re

_LINE = re.compile(r" (\w+): \{ cpu_id = (\d+) \}, (\{.*\})$")
_TOKEN = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|([][{}(),=]|:|[^][{}(),=:\s]+))')
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t"}


class Enum(int):
    """A number, with the names that its type has for it."""

    def __new__(cls, value, *names):
        self = super().__new__(cls, value)
        self.names = names
        return self

    def __repr__(self):
        return f"Enum({int(self)}, {self.names})"


class _Text:
    def __init__(self, text):
        self.text = text
        self.pos = 0

    def next(self, *wanted):
        match = _TOKEN.match(self.text, self.pos)
        string, token = match.groups()
        if wanted and token not in wanted:
            raise ValueError(f"{wanted} wanted: {self.text[self.pos:self.pos + 40]}")
        self.pos = match.end()
        self.string = string
        return token

    def is_next(self, token):
        match = _TOKEN.match(self.text, self.pos)
        if match.group(2) != token:
            return False
        self.pos = match.end()
        return True

    def value(self):
        token = self.next()
        if token is None:
            return _ESCAPE.sub(lambda m: _ESCAPES.get(m[1], m[1]), self.string)
        if token == "{":
            return self.members()
        if token == "[":
            return self.elements()
        if token == "(":
            return self.enum()
        try:
            return int(token, 0)
        except ValueError:
            return float(token)

    def members(self):
        fields = {}
        while not self.is_next("}"):
            name = self.next()
            self.next("=")
            fields[name] = self.value()
            self.is_next(",")
        return fields

    def elements(self):
        values = []
        while not self.is_next("]"):
            self.next("[")
            self.next(str(len(values)))
            self.next("]")
            self.next("=")
            values.append(self.value())
            self.is_next(",")
        return values

    def enum(self):
        names = []
        while not self.is_next(":"):
            if self.next() is None:
                names.append(self.string)
        self.next("container")
        self.next("=")
        value = self.value()
        self.next(")")
        return Enum(value, *names)


def events(path):
    """The type, the CPU and the fields of each record."""
    for line in open(path, encoding="ascii", errors="replace"):
        name, cpu, payload = _LINE.search(line).groups()
        yield name, int(cpu), _Text(payload).value()


def records(path):
    """The CPU and the fields of each: numbers, text, lists, structs as dictionaries."""
    for _, cpu, fields in events(path):
        yield cpu, fields
