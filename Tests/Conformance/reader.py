#!/usr/bin/env python3
"""Prints a page's records, or the verdict on it."""

import argparse
import base64
import json
import re
import struct
import sys
import zlib

import logstore

ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def json_string(text):
    return '"' + re.sub(r'["\\\x00-\x1f]', lambda m: ESCAPES.get(m[0]) or f"\\u{ord(m[0]):04x}", text) + '"'


def json_member(name, data):
    """`"name":"text"`, or `"name64":"base64"` where the bytes are not UTF-8."""
    try:
        return f'"{name}":{json_string(data.decode())}'
    except UnicodeDecodeError:
        return f'"{name}64":"{base64.b64encode(data).decode()}"'


def json_lines(records):
    return "".join(f"{{{json_member('key', key)},{json_member('value', value)}}}\n" for key, value in records).encode()


def verdict(page, policy):
    """The verdict on a page, a path or a mapping in memory, as an object for JSON."""
    try:
        files = logstore.load(page) if isinstance(page, str) else page
        opened, error = logstore.open_page(files, policy), None
    except logstore.PageError as page_error:
        opened, error = logstore.Opened(), page_error.code
    records = opened.table.records()
    return {
        "verdict": "error" if error else opened.verdict,
        "error": error,
        "lsn": opened.lsn,
        "records": len(records),
        "digest": f"{zlib.crc32(json_lines(records)):08x}",
        "incomplete": opened.incomplete,
        "findings": [vars(finding) for finding in opened.findings],
    }


def serve(requests, answers):
    """Answers for the fuzzer, which holds the pages in memory: the verdict under each policy, a line each.

    A page is a count of files, then for each its name and its bytes, with a length of four bytes in front; 2³²−1 for a
    directory.
    """

    def number():
        return struct.unpack("<I", requests.read(4))[0]

    while count := requests.read(4):
        files = {}
        for _ in range(struct.unpack("<I", count)[0]):
            name = requests.read(number()).decode()
            length = number()
            files[name] = None if length == 2**32 - 1 else requests.read(length)
        for policy in logstore.POLICIES:
            answers.write(verdict_line(files, policy).encode() + b"\n")
        answers.flush()


def verdict_line(files, policy):
    """Tab between the members of a verdict, spaces between those of a finding; `-` for what is not there."""
    try:
        opened = logstore.open_page(files, policy)
    except logstore.PageError as error:
        return f"error\t{error.code}"
    except Exception as fault:  # A fault of this reader, which the fuzzer is to report.
        return f"fault\t{fault!r}"
    records = opened.table.records()
    packed = b"".join(struct.pack("<II", len(key), len(value)) + key + value for key, value in records)
    findings = sorted(" ".join("-" if v is None else str(v) for v in vars(f).values()) for f in opened.findings)
    members = [opened.verdict, opened.lsn, len(records), zlib.crc32(packed), int(opened.incomplete), *findings]
    return "\t".join(map(str, members))


def main():
    if sys.argv[1:] == ["serve"]:
        return serve(sys.stdin.buffer, sys.stdout.buffer)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["replay", "verdict"])
    parser.add_argument("page")
    parser.add_argument("--policy", choices=logstore.POLICIES, default=logstore.SALVAGE)
    parser.add_argument("--values", action="store_true", help="replay: the values alone, as they are")
    arguments = parser.parse_args()
    if arguments.command == "verdict":
        print(json.dumps(verdict(arguments.page, arguments.policy), separators=(",", ":")))
        return 0
    try:
        records = logstore.open_page(logstore.load(arguments.page), arguments.policy).table.records()
    except logstore.PageError as error:
        print(error, file=sys.stderr)
        return 1
    output = b"".join(value for _, value in records) if arguments.values else json_lines(records)
    sys.stdout.buffer.write(output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
