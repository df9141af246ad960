"""The reader against the golden pages, against every bit, and against every cut."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import cases  # noqa: E402
import frames  # noqa: E402
import logstore  # noqa: E402
import make_golden  # noqa: E402
import reader  # noqa: E402
import snapshot  # noqa: E402
import vectors  # noqa: E402
import writer  # noqa: E402

HARMLESS = {"not-closed"}


def run_reader(*arguments):
    return subprocess.run([sys.executable, HERE / "reader.py", *arguments], capture_output=True)


class GoldenPages(unittest.TestCase):
    def test_the_reader_gives_the_golden_verdicts(self):
        for path in sorted(make_golden.GOLDEN.glob("*.json")):
            page = path.with_suffix("")
            page.mkdir(exist_ok=True)  # the empty page: git keeps no empty directory
            expected = json.loads(path.read_text())
            for policy in logstore.POLICIES:
                with self.subTest(case=page.name, policy=policy):
                    self.assertEqual(reader.verdict(str(page), policy), expected[policy])

    def test_the_writer_makes_the_golden_files(self):
        written = {}
        for name, (files, verdicts) in cases.CASES.items():
            written[f"{name}.json"] = make_golden.verdicts_json(verdicts).encode()
            for path, data in make_golden.golden_files(files).items():
                written[f"{name}/{path}"] = data
        golden = make_golden.GOLDEN
        kept = {str(p.relative_to(golden)): p.read_bytes() for p in golden.rglob("*") if p.is_file()}
        self.assertEqual(sorted(kept), sorted(written))
        for path, data in kept.items():
            self.assertEqual(data, written[path], path)


class Commands(unittest.TestCase):
    def test_replay(self):
        page = make_golden.GOLDEN / "texts"
        lines = run_reader("replay", page).stdout
        verdicts = json.loads((page.parent / "texts.json").read_text())
        self.assertEqual(f"{zlib.crc32(lines):08x}", verdicts["salvage"]["digest"])
        first, second, third, *_ = lines.decode().split("\n")
        self.assertEqual(first, r'{"key":"\"quoted\" \\ and /","value":"\b\f\n\r\t\u0000\u0001\u001f' + '\x7f"}')
        self.assertEqual(second, '{"key":"grüße, 世界 🌍\u2028","value":""}')
        self.assertEqual(third, '{"key64":"//4=","value":"a value in text"}')

    def test_values(self):
        self.assertEqual(run_reader("replay", make_golden.GOLDEN / "journal", "--values").stdout, b"23456")

    def test_errors(self):
        refused = run_reader("replay", make_golden.GOLDEN / "damage-crc", "--policy", "strict")
        self.assertEqual((refused.returncode, refused.stdout), (1, b""))
        self.assertTrue(refused.stderr.startswith(b"damaged"))
        with tempfile.TemporaryDirectory() as directory:
            absent = run_reader("verdict", os.path.join(directory, "absent"))
        self.assertEqual(json.loads(absent.stdout)["error"], "unavailable")


class Specification(unittest.TestCase):
    def test_the_specification_shows_what_the_writer_makes(self):
        text = make_golden.SPEC.read_text()
        self.assertEqual(make_golden.spec_with_vectors(text), text)
        shown = re.findall(r"```\n(.*?)```", text[text.index("## 9. Test vectors") :], re.DOTALL)
        for lines, file in zip(shown, (vectors.journal(), vectors.snapshot()), strict=True):
            self.assertEqual(bytes_shown(lines), file.bytes())

    def test_the_reader_reads_the_vectors(self):
        opened = logstore.open_page({"0000000000.journal": vectors.journal().bytes()})
        self.assertEqual((opened.table.records(), opened.lsn, opened.verdict), ([(b"two", b"dos")], 3, "clean"))
        read = snapshot.Snapshot.open(vectors.snapshot().bytes(), 1)
        self.assertEqual(read.records(), [(b"two", b"dos"), (b"empty", b"")])


def bytes_shown(lines):
    data = bytearray()
    for line in lines.splitlines():
        text = line[6:53].strip()
        byte, _, count = text.partition(" × ")
        data += bytes.fromhex(byte) * int(count or 1)
    return bytes(data)


class Checksums(unittest.TestCase):
    SIPHASH = {0: 0xABAC0158050FC4DC, 1: 0xC9F49BF37D57CA93, 2: 0x82CB9B024DC7D44D, 3: 0x8BF80AB8E7DDF7FB}

    def test_siphash(self):
        k0, k1 = 0x0706050403020100, 0x0F0E0D0C0B0A0908
        for length, hashed in self.SIPHASH.items():
            self.assertEqual(snapshot.siphash13(bytes(range(length)), k0, k1), hashed)
        for length in range(70):
            data = bytes(range(length))
            self.assertEqual(snapshot.siphash13(data, k0, k1), writer.siphash13(data, k0, k1))

    @unittest.skipUnless(sys.hash_info.algorithm == "siphash13", "Python's own hash is another function")
    def test_siphash_is_the_one_of_python(self):
        program = "print([hash(bytes(range(n))) % 2**64 for n in range(1, 40)])"
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        printed = subprocess.check_output([sys.executable, "-c", program], env=environment)
        self.assertEqual(json.loads(printed), [snapshot.siphash13(bytes(range(n)), 0, 0) for n in range(1, 40)])

    def test_crc(self):
        self.assertEqual(zlib.crc32(b"123456789"), 0xCBF43926)
        put = bytes.fromhex("08000000") + bytes(4) + bytes.fromhex("c1 0300") + b"oneuno"
        covered = (0x1122334455667788).to_bytes(8, "little") + (128).to_bytes(8, "little") + put[:4] + put[8:]
        self.assertEqual(frames.frame_crc(0x1122334455667788, 128, 0xC1, put[9:]), zlib.crc32(covered))

    def test_deflate(self):
        for raw in (b"", b"a", b"abc" * 40, bytes(range(256)), bytes(500), b"\xff\x90 mixed mixed mixed"):
            self.assertEqual(zlib.decompress(writer.deflate(raw), -15), raw)


class Sweeps(unittest.TestCase):
    """A page of two generations: journal 0, and journal 1 whose last frame has no mark behind it."""

    def setUp(self):
        first = writer.Journal(0, cases.SALT0)
        first.mark()
        first.batch(cases.letter("a"))
        first.batch(cases.letter("b"), cases.letter("c"))
        first.mark(closed=True)
        second = first.successor(cases.SALT1, carried=[[cases.letter("d")]])
        second.mark()
        second.batch(writer.remove(b"a"))
        second.mark()
        self.durable = second.frames[-1].start  # what the last mark says
        second.batch(cases.letter("e"))
        self.initial = second.frames[0].end
        self.journals = {"0000000000.journal": first.bytes(), "0000000001.journal": second.bytes()}
        self.snapshot = writer.Snapshot(second, cases.SNAPSHOT_SALT, list(cases.numbered("abc").items())).bytes()
        self.right = list(cases.numbered("bcde").items())

    def check(self, files, where, *, harmless=HARMLESS):
        """The right records; or some of them, none wrong, with a finding that is not harmless; or an error (None)."""
        try:
            opened = logstore.open_page(files)
        except frames.PageError:
            return None
        records = opened.table.records()
        kinds = {finding.kind for finding in opened.findings}
        if records != self.right:
            self.assertTrue(kinds - harmless, where)
        for key, value in records:
            self.assertEqual(cases.numbered([key.decode()])[key], value, where)
        keys = [key for key, _ in records]
        self.assertEqual(keys, sorted(keys), where)  # in these pages the order is that of the alphabet
        return opened, kinds

    def flips(self, files, name):
        for offset in range(len(files[name])):
            for bit in range(8):
                opened = self.check({**files, name: cases.flip(files[name], offset, bit)}, (name, offset, bit))
                if opened:
                    yield offset, *opened

    def test_the_page_is_whole(self):
        for files in (self.journals, {**self.journals, "0000000001.snapshot": self.snapshot}):
            opened, kinds = self.check(files, "whole")
            self.assertEqual((opened.table.records(), kinds), (self.right, HARMLESS))

    def test_every_bit_of_the_predecessor(self):
        for offset, opened, kinds in self.flips(self.journals, "0000000000.journal"):
            self.assertEqual(kinds & {"damaged-frame", "damaged-header"}, kinds - HARMLESS, offset)
            self.assertTrue(kinds - HARMLESS, offset)
            self.assertEqual(opened.lsn, 6, offset)

    def test_every_bit_of_the_newest(self):
        last_group = self.journals["0000000001.journal"][self.durable :]
        for offset, opened, kinds in self.flips(self.journals, "0000000001.journal"):
            expected = {"damaged-header"} if offset < 128 else {"damaged-frame"}
            if offset >= len(self.journals["0000000001.journal"]) - len(last_group):
                expected = {"torn-tail"}
            self.assertEqual(kinds - HARMLESS, expected, offset)

    def test_every_bit_of_the_snapshot(self):
        files = {**self.journals, "0000000001.snapshot": self.snapshot}
        for offset, opened, kinds in self.flips(files, "0000000001.snapshot"):
            self.assertEqual((opened.table.records(), kinds - HARMLESS), (self.right, {"damaged-snapshot"}), offset)

    def test_every_bit_of_the_snapshot_with_nothing_kept(self):
        files = {"0000000001.journal": self.journals["0000000001.journal"], "0000000001.snapshot": self.snapshot}
        footer = len(self.snapshot) - 65
        table = range(footer - 1033, footer)
        offsets = set()
        for offset, opened, kinds in self.flips(files, "0000000001.snapshot"):
            # The key table is the one thing that can be done without.
            self.assertEqual((opened.table.records(), kinds - HARMLESS), (self.right, {"damaged-snapshot"}), offset)
            offsets.add(offset)
        self.assertEqual(offsets, set(table))

    def test_every_cut(self):
        for name, data in self.journals.items():
            for length in range(len(data)):
                # A cut of the newest journal between two batches shows in nothing but the close mark that is absent.
                found = self.check({**self.journals, name: data[:length]}, (name, length), harmless=set())
                if not found:
                    continue
                _, kinds = found
                if name == "0000000000.journal":
                    self.assertTrue(kinds & {"missing", "damaged-header"}, length)
                elif length < self.initial:
                    self.assertTrue(kinds & {"missing", "damaged-header"}, length)
                else:
                    self.assertTrue(kinds & {"torn-tail", "not-closed"}, length)
                    self.assertLessEqual(kinds, {"torn-tail", "not-closed"}, length)
        for length in range(len(self.snapshot)):
            files = {**self.journals, "0000000001.snapshot": self.snapshot[:length]}
            opened, kinds = self.check(files, length)
            self.assertEqual((opened.table.records(), kinds - HARMLESS), (self.right, {"damaged-snapshot"}))


if __name__ == "__main__":
    unittest.main()
