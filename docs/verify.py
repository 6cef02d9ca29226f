# Copyright 2026 The fastmac Authors. All rights reserved.
# Use of this source code is governed by a BSD-style
# license that can be found in the LICENSE file.

"""Verifies a list of fastmac tag whose key is one of HMAC: python3 verify.py [-z] KEYFILE SUMS

It follows list-format.md, and needs nothing but Python 3. It prints a line for each file. The exit status is 0
if the list and all files are right, 1 if anything is not, and 2 after wrong usage.
"""

import datetime
import hashlib
import hmac
import os
import re
import stat
import sys

# The sizes of a nonce and of a tag.
ALGORITHMS = {
    b"umac32": (16, 4), b"umac64": (16, 8), b"umac96": (16, 12), b"umac128": (16, 16),
    b"gmac": (12, 16), b"hmac-sha256": (0, 32), b"hmac-sha512": (0, 64),
}
HASHES = {b"hmac-sha256": hashlib.sha256, b"hmac-sha512": hashlib.sha512}
MAX_LINE = 524288  # bytes, with the newline
MAX_NOTES = 1 << 20


class Malformed(Exception):
    """A line, or a key, has none of the forms in list-format.md."""


def hkdf(key, info, size):
    """RFC 5869 with SHA-512, for up to 64 bytes."""
    secret = hmac.new(b"fastmac list 1", key, hashlib.sha512).digest()
    return hmac.new(secret, info + b"\x01", hashlib.sha512).digest()[:size]


def decode(digits, size):
    if not re.fullmatch(rb"(?:[0-9a-fA-F]{2})*", digits) or len(digits) != 2 * size:
        raise Malformed("hex digits")
    return bytes.fromhex(digits.decode())


class Key:
    def __init__(self, text):
        fields = text.split()
        if not 2 <= len(fields) <= 3 or fields[0] not in HASHES:
            raise Malformed("want a key of hmac-sha256 or hmac-sha512")
        self.algorithm = fields[0]
        self.key = decode(fields[1], max(32, len(fields[1]) // 2))
        self.id = hkdf(self.key, b"key identifier " + self.algorithm, 8).hex().encode()
        if len(fields) == 3 and fields[2].lower() != self.id:
            raise Malformed("the identifier belongs to another key")
        self.list_key = hkdf(self.key, b"list tag " + self.algorithm, 64)

    def mac(self):
        return hmac.new(self.key, digestmod=HASHES[self.algorithm])


def unescape(text):
    def byte(found):
        escape = found[1]
        if len(escape) == 3:
            return bytes([int(escape[1:], 16)])
        if escape not in (b"\\", b"n", b"r"):
            raise Malformed("an escape")
        return {b"\\": b"\\", b"n": b"\n", b"r": b"\r"}[escape]

    return re.sub(rb"\\(x[0-9a-fA-F]{2}|.?)", byte, text, flags=re.DOTALL)


def number(digits, least, most, signed):
    """An integer, as both formats have it: in format 1 with any sign and with leading zeros."""
    form = rb"([+-]?)0*([0-9]{1,20})" if signed else rb"(-?)([1-9][0-9]{,19})|0"
    found = re.fullmatch(form, digits)
    value = int((found[1] or b"") + (found[2] or b"0")) if found else most + 1
    if not least <= value <= most:
        raise Malformed("a number")
    return value


def check_state(fields):
    """SIZE, MTIME, CTIME and, in format 2, INODE."""
    if len(fields) == 0 or fields == [b""] * 4:
        return
    if len(fields) not in (3, 4):
        raise Malformed("fields")
    old, least, most = len(fields) == 3, -1 << 63, (1 << 63) - 1
    number(fields[0], least if old else 0, most, old)
    number(fields[1], least, most, old)
    if fields[2] and number(fields[2], least, most, old) == 0 and not old:
        raise Malformed("CTIME")
    if not old and fields[3]:
        number(fields[3], 1, (1 << 64) - 1, False)


def check_time(text):
    if not re.fullmatch(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", text):
        raise Malformed("a time")
    try:
        at = datetime.datetime(*map(int, re.findall(rb"\d+", text)))
    except ValueError:
        raise Malformed("a time")
    if at.year < 1970:
        raise Malformed("a time")


class List:
    """A list: its error, or None, how many lines are malformed, and what it says."""

    def __init__(self, data, key, zero=False):
        self.key, self.zero = key, zero
        self.files = []  # path and tag
        self.notes = {word: [] for word in ("folder", "exclude", "option", "unread", "label", "serial", "time")}
        self.format, self.malformed, self.error = 1, 0, None
        if data[:2] in (b"\xfe\xff", b"\xff\xfe") or data[:3] == b"\xef\xbb\xbf" or len(data) >= 4 and 0 in data[:2]:
            self.error = "an encoding that is not UTF-8"
            return
        end = b"\0" if zero else b"\n"
        mac = hmac.new(key.list_key, digestmod=hashlib.sha512)
        lines = data.split(end)
        terminated = lines[-1] == b""
        if terminated:
            lines.pop()
        returns, ending, too_long = 0, None, False
        for i, line in enumerate(lines):
            if len(line) + 1 > MAX_LINE:
                too_long = True
                self.malformed += 1
                continue
            if not zero and line.endswith(b"\r"):
                line, returns = line[:-1], returns + 1
            try:
                if re.match(rb"end2?:", line):
                    found = self.end_line(line)
                    ending = ending or found + (i, mac.copy())
                else:
                    self.line(line, first=i == 0, after=ending is not None)
            except Malformed:
                self.malformed += 1
            mac.update(line + end)
        if self.error:
            return
        if not ending:
            self.error = "no end line"
            return
        form, algorithm, identifier, before, covered, tag, at, mac = ending
        mac.update(covered)
        if algorithm != key.algorithm or identifier != key.id:
            self.error = "another key"
        elif form != self.format:
            self.error = "the first line and the end line are of two formats"
        elif at + 1 != len(lines):
            self.error = "lines follow the end line"
        elif before != at:
            self.error = "lines are missing or added"
        elif too_long:
            self.error = "a line is too long"
        elif not hmac.compare_digest(mac.digest(), tag):
            self.error = "its tag is wrong"
        elif not terminated:
            self.error = "its last line is incomplete"
        elif returns not in (0, len(lines)):
            self.error = "some lines end with a carriage return"
        if self.error or self.format == 1:
            self.notes.update(label=[], serial=[], time=[])
        if self.error:
            self.notes.update(folder=[], exclude=[], option=[], unread=[])

    def end_line(self, text):
        if b"\0" in text and not self.zero:
            raise Malformed("a NUL")
        fields = text.split(b":")
        if len(fields) != 5 or fields[1] not in ALGORITHMS or text != text.lower():
            raise Malformed("an end line")
        form = 2 if fields[0] == b"end2" else 1
        decode(fields[2], 8)
        tag = decode(fields[4], 64)
        if form == 1 and re.fullmatch(rb"[0-9]+", fields[3]):
            fields[3] = fields[3].lstrip(b"0") or b"0"
        before = number(fields[3], 0, (1 << 63) - 1, False)
        return form, fields[1], fields[2], before, text[:-128], tag

    def line(self, text, first, after):
        if b"\0" in text and not self.zero:
            raise Malformed("a NUL")
        if text.startswith(b"fastmac list "):
            return self.first_line(text, first, after)
        escaped = not self.zero and text.startswith(b"\\")
        if escaped:
            text = text[1:]
        word, _, rest = text.partition(b":  ")
        if word.decode("latin-1") in self.notes:
            rest = unescape(rest) if escaped else rest
            return self.note(word.decode(), rest, after)
        sums, _, path = text.partition(b"  ")
        fields = sums.split(b":")
        if len(fields) < 3 or not path:
            raise Malformed("a line")
        check_state(fields[3:])
        self.check_algorithm(fields[0])
        nonce, tag = ALGORITHMS[fields[0]]
        decode(fields[1], nonce)
        self.files.append((unescape(path) if escaped else path, decode(fields[2], tag)))

    def first_line(self, text, first, after):
        if after:  # lists were joined
            return
        if not first:
            raise Malformed("a first line in another place")
        if not text.startswith(b"fastmac list 2::  "):
            self.error = "a format that is not known"
            return
        self.format = 2
        self.check_algorithm(text[18:])

    def check_algorithm(self, name):
        if name != self.key.algorithm:
            raise Malformed("another algorithm")

    def note(self, word, text, after):
        notes = self.notes[word]
        if not text:
            raise Malformed("a line without a text")
        if word == "option" and text not in (b"one-file-system", b"exclude-caches"):
            raise Malformed("an option that is not known")
        if word == "serial":
            number(text, 1, (1 << 64) - 1, False)
        if word == "time":
            check_time(text)
        if word in ("label", "serial", "time"):
            if notes and not after:
                raise Malformed("a second " + word)
        elif sum(len(self.notes[w]) for w in ("folder", "exclude", "option", "unread")) >= MAX_NOTES:
            raise Malformed("too many lines")
        if not after:
            notes.append(text)


def verify(path, tag, key):
    """The result for a file."""
    if path == b"-" or b"\0" in path:  # standard input, and no path
        return "FAILED open or read"
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return "FAILED open or read"
        mac = key.mac()
        with open(path, "rb") as f:
            while part := f.read(1 << 20):
                mac.update(part)
    except OSError:
        return "FAILED open or read"
    return "OK" if hmac.compare_digest(mac.digest(), tag) else "FAILED"


def main(args):
    zero = args[:1] == ["-z"]
    if len(args) != 2 + zero or args[-2].startswith("-"):
        print(__doc__.split("\n\n")[0], file=sys.stderr)
        return 2
    try:
        with open(args[-2], "rb") as f:
            key = Key(f.read())
        with open(args[-1], "rb") as f:
            found = List(f.read(), key, zero)
    except (Malformed, OSError) as e:
        print("verify.py:", e, file=sys.stderr)
        return 1
    bad = 0
    for path, tag in found.files:
        result = verify(path, tag, key)
        bad += result != "OK"
        print("%s: %s" % (ascii(path.decode("utf-8", "surrogateescape"))[1:-1], result))
    for path in found.notes["unread"]:
        bad += 1
        print("%s: NOT TAGGED" % ascii(path.decode("utf-8", "surrogateescape"))[1:-1])
    for word in ("label", "serial", "time"):
        for text in found.notes[word]:
            print("%s:  %s" % (word, ascii(text.decode("utf-8", "surrogateescape"))[1:-1]), file=sys.stderr)
    if found.error:
        print("verify.py: the list FAILED:", found.error, file=sys.stderr)
    if found.malformed:
        print("verify.py: malformed lines:", found.malformed, file=sys.stderr)
    if bad:
        print("verify.py: files that FAILED:", bad, file=sys.stderr)
    return 1 if bad or found.error or found.malformed or not found.files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
