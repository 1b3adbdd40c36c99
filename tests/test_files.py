"""Reading JSON, and atomic writing."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO

import pytest
from matplotlib.figure import Figure

from pfmhr.errors import InputError
from pfmhr.files import exclusive, make_folder, save_figure, write_atomically


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomically(path, lambda handle: handle.write(b"old"))

    def fail(handle: object) -> None:
        handle.write(b"new")  # type: ignore[attr-defined]
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_atomically(path, fail)
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_a_link_stays_one_and_what_it_leads_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there/file")
    for content in (b"new", b"newer"):
        write_atomically(tmp_path / "link", lambda handle, content=content: handle.write(content))
        assert (tmp_path / "link").is_symlink() and (tmp_path / "there" / "file").read_bytes() == content
    assert [entry.name for entry in (tmp_path / "there").iterdir()] == ["file"]


def test_what_is_no_file_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_atomically(pipe, lambda handle: handle.write(b"words"))
    assert os.read(reader, 9) == b"words" and stat.S_ISFIFO(pipe.stat().st_mode)
    os.close(reader)


def test_of_two_writers_each_writes_a_whole_file(tmp_path: Path) -> None:
    """The second begins while the first is half way, and so waits for it."""
    path, half, seen = tmp_path / "file", threading.Event(), []

    def first(handle: IO[bytes]) -> None:
        handle.write(b"a" * 500)
        handle.flush()
        half.set()
        time.sleep(0.2)
        handle.write(b"a" * 500)

    def second(handle: IO[bytes]) -> None:
        seen.append(path.read_bytes())
        handle.write(b"b" * 2000)

    writers = [threading.Thread(target=write_atomically, args=(path, first))]
    writers[0].start()
    half.wait()
    writers.append(threading.Thread(target=write_atomically, args=(path, second)))
    writers[1].start()
    for writer in writers:
        writer.join()
    assert seen == [b"a" * 1000] and path.read_bytes() == b"b" * 2000
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_the_module_loads_where_there_is_no_fcntl(tmp_path: Path) -> None:
    """As on Windows, where filelock locks by other means."""
    code = "import sys; sys.modules['fcntl'] = None; import pfmhr.files; print(pfmhr.files.write_json.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout == "write_json\n", done.stderr


def test_one_writer_has_a_folder_to_itself_until_its_process_ends(tmp_path: Path) -> None:
    code = "import sys, pathlib; from pfmhr.files import exclusive\n"
    code += "with exclusive(pathlib.Path(sys.argv[1])): print('mine', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None and other.stdout.readline() == "mine\n"
        with pytest.raises(InputError, match="another process is writing here") as refused, exclusive(tmp_path):
            pass
        assert refused.value.code == "locked"
        other.kill()
        other.wait()
    with exclusive(tmp_path):
        pass


def test_what_a_killed_writer_left_is_no_part_of_the_next_file(tmp_path: Path) -> None:
    (tmp_path / "file.tmp").write_bytes(b"half of something long")
    write_atomically(tmp_path / "file", lambda handle: handle.write(b"new"))
    assert (tmp_path / "file").read_bytes() == b"new"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InputError, match="file/inside"):
        write_atomically(tmp_path / "file" / "inside", lambda handle: handle.write(b""))


def test_a_folder_where_a_file_is_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    make_folder(tmp_path / "new" / "folder")
    assert (tmp_path / "new" / "folder").is_dir()
    with pytest.raises(InputError, match="cannot write") as refused:
        make_folder(tmp_path / "file")
    assert refused.value.code == "not_writable"


def test_a_figure_is_written_whole_as_what_its_name_says(tmp_path: Path) -> None:
    figure = Figure()
    figure.subplots().plot([0, 1])
    save_figure(figure, tmp_path / "new" / "figure.pdf", dpi=50)
    assert (tmp_path / "new" / "figure.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(InputError, match=r"expected .*png.* svg"):
        save_figure(figure, tmp_path / "figure.doc")
    with pytest.raises(InputError, match="cannot write"):
        save_figure(figure, tmp_path / "new" / "figure.pdf" / "inside.png")
