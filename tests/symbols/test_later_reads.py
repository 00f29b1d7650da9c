# SPDX-License-Identifier: Apache-2.0
"""Whether code still reads what is in a register or on the stack, over functions in assembly."""

import re
import subprocess
from pathlib import Path

import pytest

from eitherway.symbols.later_reads import Bytes, called_before, may_read
from eitherway.symbols.unwinding import RBP, RBX, Rules, rules_at

# Each begins right behind a call, with the stack pointer where offsets are counted from.
FUNCTIONS = {
    "reads": "mov %ebx, %edi\n ret",
    "reads_a_byte": "mov %bl, %al\n ret",
    "overwrites": "mov %edi, %ebx\n mov %rbx, %rax\n ret",
    "overwrites_a_byte": "mov %dil, %bl\n mov %rbx, %rax\n ret",
    "clears": "xor %ebx, %ebx\n mov %ebx, %eax\n ret",
    "restores": "add $8, %rsp\n pop %rbx\n ret",
    "points": "mov (%rbx), %rax\n ret",
    "counts": "lea 8(%rax,%rbx,4), %rax\n ret",
    "compares": "cmp $5, %rbx\n jle 1f\n nop\n1: ret",
    "adds": "add %rdi, %rbx\n pop %rbx\n ret",
    "moves_perhaps": "cmovne %edi, %ebx\n ret",
    "one_way": "test %edi, %edi\n je 1f\n pop %rbx\n ret\n1: mov %rbx, %rax\n ret",
    "goes_round": "1: dec %edi\n jne 1b\n pop %rbx\n ret",
    "jumps_anywhere": "jmp *%rdi",
    "jumps_to_another": "pop %rbx\n jmp overwrites",
    "calls_it": "call *%rbx\n ret",
    "keeps_over_a_call": "call reads\n mov %rbx, %rax\n ret",
    "slot_read": "mov 8(%rsp), %eax\n ret",
    "slot_beside": "mov 12(%rsp), %eax\n mov 4(%rsp), %eax\n ret",
    "slot_written": "movl $0, 8(%rsp)\n mov 8(%rsp), %eax\n ret",
    "slot_written_in_part": "movw $0, 8(%rsp)\n mov 8(%rsp), %eax\n ret",
    "slot_moved": "sub $16, %rsp\n mov 24(%rsp), %eax\n ret",
    "slot_pushed": "push %rax\n mov 16(%rsp), %eax\n ret",
    "slot_frame": "mov -8(%rbp), %eax\n ret",
    "slot_frame_beside": "mov -4(%rbp), %eax\n leave\n ret",
    "slot_element": "mov (%rsp,%rdi,4), %eax\n ret",
    "slot_extended": "movzwl 6(%rsp), %eax\n ret",
    "slot_vector": "movups (%rsp), %xmm0\n ret",
    "slot_half_vector": "movlps %xmm0, (%rsp)\n mov 8(%rsp), %eax\n ret",
    "slot_somewhere": "and $-16, %rsp\n mov 8(%rsp), %eax\n ret",
    "slot_given_back": "pop %rax\n pop %rcx\n ret",
}
READ = {
    *("reads", "points", "counts", "compares", "adds", "moves_perhaps", "one_way"),
    *("jumps_anywhere", "calls_it", "keeps_over_a_call", "reads_a_byte", "overwrites_a_byte"),
    *("slot_read", "slot_moved", "slot_pushed", "slot_frame", "slot_element", "slot_vector"),
    *("slot_written_in_part", "slot_half_vector", "slot_somewhere"),
}
SLOT = Bytes(None, 8, 12, frame=16)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("later_reads")
    parts = [
        f".globl {name}\n.type {name}, @function\n{name}:\n.cfi_startproc\n call other\n {body}\n"
        f".cfi_endproc\n.size {name}, .-{name}\n"
        for name, body in FUNCTIONS.items()
    ]
    other = ".globl other\n.type other, @function\nother: ret\n"
    text = "\n".join([".text", *parts, other, '.section .note.GNU-stack,"",@progbits', ""])
    (folder / "library.s").write_text(text, encoding="utf-8")
    command = ["gcc", "-shared", "-Wl,-Bsymbolic", "library.s", "-o", "library.so"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "library.so"


def function(library: Path, name: str) -> tuple[Rules, int]:
    """Its rules, and the instruction behind its first call."""
    table = subprocess.run(["nm", library], capture_output=True, text=True, check=True).stdout
    start = next(int(row.split()[0], 16) for row in table.splitlines() if row.endswith(f" {name}"))
    rules = rules_at(str(library), start)
    assert rules is not None
    return rules, start + 5  # a call with a distance of four bytes


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_read_is_seen_and_no_other(library: Path, name: str) -> None:
    rules, code = function(library, name)
    what = SLOT if name.startswith("slot") else Bytes(RBX, 0, 4)
    assert may_read(str(library), rules, code, what) is (name in READ)


def test_other_bytes_are_not_read(library: Path) -> None:
    for name, read in (("reads", False), ("counts", True)):
        rules, code = function(library, name)
        assert may_read(str(library), rules, code, Bytes(RBX, 4, 8)) is read
        assert not may_read(str(library), rules, code, Bytes(RBP, 0, 8))


def test_what_is_not_understood_may_be_read(library: Path) -> None:
    rules, code = function(library, "restores")
    assert may_read(str(library), rules, code + 1, Bytes(RBX, 0, 4))
    assert may_read("/nowhere", rules, code, Bytes(RBX, 0, 4))


def test_what_was_called_is_known(library: Path) -> None:
    rules, code = function(library, "reads")
    assert called_before(str(library), rules, code) == "other"
    assert not called_before(str(library), rules, code + 1)


THROWS = """\
struct guard { ~guard(); };
void stop();
int kept;
int is_done(int seen) {
    guard held;
    if (seen > 5)
        kept = 7;
    stop();
    return 0;
}
int catches(int seen) {
    try {
        stop();
    } catch (...) {
        kept = seen;
    }
    return 0;
}
"""


@pytest.mark.parametrize(("name", "read"), [("_Z7is_donei", False), ("_Z7catchesi", True)])
def test_exceptions_lead_back_into_a_function(name: str, read: bool, tmp_path: Path) -> None:
    (tmp_path / "throws.cc").write_text(THROWS, encoding="utf-8")
    command = ["g++", "-O0", "-fPIC", "-shared", "throws.cc", "-o", "throws.so"]
    subprocess.run(command, cwd=tmp_path, check=True)
    library = tmp_path / "throws.so"
    rules, _ = function(library, name)
    part = [f"--start-address={rules.start:#x}", f"--stop-address={rules.end:#x}"]
    words = ["objdump", "-d", "--no-show-raw-insn", *part, str(library)]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    place = re.search(r"mov +%edi,(-0x[0-9a-f]+)\(%rbp\)", text)
    assert place is not None
    called = (at for at in range(rules.start, rules.end) if _calls(library, rules, at, "_Z4stopv"))
    low = 256 + int(place[1], 16)
    assert may_read(str(library), rules, next(called), Bytes(None, low, low + 4, frame=256)) is read


def _calls(library: Path, rules: Rules, code: int, name: str) -> bool:
    return called_before(str(library), rules, code) == name
