#!/usr/bin/env python3
"""Writes the golden pages and their verdicts, and section 9 of SPEC.md."""

import json
import pathlib
import shutil

import cases
import vectors

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE / "golden"
SPEC = HERE.parent.parent / "SPEC.md"


def golden_files(files):
    """The files of a page as they stand in the repository, which knows no empty directories."""
    return {(f"{name}/inside" if data is None else name): data or b"" for name, data in files.items()}


def verdicts_json(verdicts):
    return "{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in verdicts.items()) + "\n}\n"


def spec_with_vectors(text):
    return text[: text.index("## 9. Test vectors")] + vectors.section()


def main():
    shutil.rmtree(GOLDEN, ignore_errors=True)
    for name, (files, verdicts) in cases.CASES.items():
        page = GOLDEN / name
        page.mkdir(parents=True)
        for path, data in golden_files(files).items():
            (page / path).parent.mkdir(exist_ok=True)
            (page / path).write_bytes(data)
        (GOLDEN / f"{name}.json").write_text(verdicts_json(verdicts))
    SPEC.write_text(spec_with_vectors(SPEC.read_text()))


if __name__ == "__main__":
    main()
