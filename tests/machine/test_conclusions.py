# SPDX-License-Identifier: Apache-2.0
"""From answers to verdicts: whatever the probes say, the conclusions follow and can be acted on."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eitherway.machine.capability import Fix, Seen, State, Way
from eitherway.machine.definitions import DEFINITIONS
from eitherway.machine.document import document
from eitherway.machine.fixes import commands, mend
from eitherway.machine.host import CAPABILITY_BITS, Host
from eitherway.machine.native import parse
from eitherway.machine.packages import INSTALL, PACKAGES
from eitherway.machine.roles import ROLES, Grade, choose
from eitherway.machine.survey import BUILT, Verdict, conclude
from eitherway.model.words import World

NAMES = {definition.name for definition in DEFINITIONS}
BY_NAME = {definition.name: definition for definition in DEFINITIONS}
FULL = (1 << 41) - 1
PLAIN = Host("Debian", "6.1.0", "x86_64", 2, True, "apt", "", (), FULL, FULL, False)

errors = st.sampled_from(["", "EPERM", "EACCES", "ENOSYS", "EINVAL", "ENOENT", "SIGSYS"])
answers = st.builds(Seen, st.sampled_from(State), st.text(min_size=1, max_size=20), errors)
hosts = st.builds(
    Host,
    st.text(),
    st.just("6.1.0"),
    st.just("x86_64"),
    st.integers(1, 8),
    st.booleans(),
    st.sampled_from(["", *INSTALL]),
    st.sampled_from(["", "docker", "podman", "lxc", "systemd-nspawn", "kubernetes", "strange"]),
    st.just(("sign",)),
    st.integers(0, FULL),
    st.integers(0, FULL),
    st.booleans(),
)
surveys = st.fixed_dictionaries(dict.fromkeys(sorted(NAMES), answers))


def seen(**states: State) -> dict[str, Seen]:
    """All there, but for those named (with _ for -)."""
    whole = {name: Seen(State.YES, f"{name} works") for name in NAMES}
    for name, state in states.items():
        whole[name.replace("_", "-")] = Seen(state, "not here", "EPERM")
    return whole


def test_roles_need_only_what_is_defined() -> None:
    needed = {name for role in ROLES for mechanism in role.mechanisms for name in mechanism.needs}
    assert needed <= NAMES
    assert len({(role.world, role.name) for role in ROLES}) == len(ROLES)


def test_a_role_that_is_not_required_has_a_fallback_that_needs_nothing() -> None:
    for role in ROLES:
        if not role.required:
            assert role.mechanisms[-1].needs == (), role.name
            assert role.mechanisms[-1].lost, role.name


def test_every_package_has_a_name_in_every_family() -> None:
    assert {d.package for d in DEFINITIONS if d.package} == set(PACKAGES)
    assert all(names.keys() == INSTALL.keys() for names in PACKAGES.values())


def test_privileges_are_known() -> None:
    assert {p for d in DEFINITIONS for p in d.privileges} <= CAPABILITY_BITS.keys()


@given(surveys)
def test_what_is_in_force_is_there(answers: dict[str, Seen]) -> None:
    details = {name: answer.detail for name, answer in answers.items()}
    for role in ROLES:
        chosen = choose(role, answers)
        usable = [m for m in role.mechanisms if all(answers[n].usable for n in m.needs)]
        whole = [m for m in usable if all(answers[n].state is State.YES for n in m.needs)]
        best = [m for m in whole if not m.lost]
        assert (chosen.grade is Grade.NONE) == (not usable)
        assert (chosen.grade is Grade.BEST) == bool(best)
        if usable:
            assert chosen.in_force == [*best, *usable][0].label.format_map(details)
        assert bool(chosen.lost) == bool(chosen.lacking) == (chosen.grade is not Grade.BEST)


@given(hosts, surveys)
def test_every_lack_says_what_is_missing_what_is_lost_and_what_to_do(
    host: Host, answers: dict[str, Seen]
) -> None:
    survey = conclude(host, answers)
    for row in survey.capabilities:
        present = row.seen.state is State.YES
        assert bool(row.missing) == bool(row.command) == bool(row.lost) == (not present)
    for state in survey.worlds:
        required = [c.grade for c in state.chosen if c.role.required]
        assert (state.verdict is Verdict.CANNOT) == (Grade.NONE in required)
        if state.verdict is Verdict.READY:
            assert all(c.grade is Grade.BEST for c in state.chosen if not c.role.extra)
        else:
            assert state.to_name()
    assert document(survey)["capabilities"]


@given(st.text())
def test_whatever_the_probe_prints_is_an_answer(text: str) -> None:
    parse(text)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("yes it works\n", Seen(State.YES, "it works")),
        ("partly some of it\n", Seen(State.PARTLY, "some of it")),
        ("no EPERM unshare\n", Seen(State.NO, "unshare", "EPERM")),
        ("no - did nothing\n", Seen(State.NO, "did nothing")),
        ("unknown crashed\n", Seen(State.UNKNOWN, "crashed")),
        ("", Seen(State.UNKNOWN, "the probe answered ''")),
        ("maybe\n", Seen(State.UNKNOWN, "the probe answered 'maybe'")),
        ("yes one\nyes two\n", Seen(State.UNKNOWN, "the probe answered 'yes one\\nyes two'")),
    ],
)
def test_lines_of_the_probe(line: str, expected: Seen) -> None:
    assert parse(line) == expected


def test_each_fallback_comes_into_force_in_its_turn() -> None:
    no = State.NO
    threads = {
        "changed pages": [
            (seen(), "userfaultfd and PAGEMAP_SCAN"),
            (seen(uffd_wp=no), "soft-dirty bits"),
            (seen(pagemap_scan=no, soft_dirty=no), "page frame numbers"),
            (seen(uffd_wp=no, soft_dirty=no, pagemap_pfn=no), "page comparison"),
        ],
        "isolation": [
            (seen(), "overlay of / in namespaces"),
            (seen(overlay_root=no), "overlay of / in a user namespace"),
            (seen(mount_ns=no, user_overlay_root=no), "overlays of /* in a user namespace"),
            (seen(mount_ns=no, user_mount_ns=no), "captured writes"),
        ],
        "compiler": [(seen(), "gcc works"), (seen(gcc=no), "clang works")],
    }
    for name, cases in threads.items():
        (role,) = (r for r in ROLES if (r.world, r.name) == (World.THREADS, name))
        for answers, expected in cases:
            assert choose(role, answers).in_force == expected


def test_half_a_capability_is_a_fallback() -> None:
    answers = seen(overlay_root=State.NO, user_overlay_root=State.NO)
    answers["user-overlay-tops"] = Seen(State.PARTLY, "mounts below /home refuse it")
    (role,) = (r for r in ROLES if (r.world, r.name) == (World.THREADS, "isolation"))
    chosen = choose(role, answers)
    assert (chosen.grade, chosen.lost) == (Grade.FALLBACK, "mounts below /home refuse it")


def fix_of(name: str, error: str, host: Host) -> str:
    missing, fix = mend(BY_NAME[name], Seen(State.NO, "tried", error), host)
    assert missing
    return "; ".join(commands([fix], host))


def test_fixes_fit_the_machine() -> None:
    user = replace(PLAIN, root=False, capabilities=0)
    boxed = replace(PLAIN, container="docker", capabilities=0, bounding=0, filtered=True)
    assert fix_of("gcc", "", PLAIN) == "apt-get install -y gcc libc6-dev"
    assert fix_of("g++", "", replace(user, installer="dnf")) == "sudo dnf install -y gcc-c++"
    assert "in Debian" in fix_of("clang", "", replace(PLAIN, installer=""))
    assert fix_of("bpf-map", "EPERM", user) == "sudo eitherway ..."
    assert fix_of("bpf-map", "EPERM", boxed) == (
        "docker run --cap-add BPF --cap-add PERFMON --security-opt seccomp=unconfined ..."
    )
    assert fix_of("set-tid", "ENOSYS", boxed).startswith("docker run --cap-add SYS_ADMIN")
    assert fix_of("set-tid", "ENOSYS", PLAIN) == "Linux 5.5"
    assert "policy" in fix_of("bpf-fentry", "EPERM", PLAIN)
    assert fix_of("pid-ns", "EPERM", replace(boxed, container="podman")).startswith("podman run")


def test_packages_and_flags_are_joined() -> None:
    fixes = [
        Fix(Way.PACKAGES, ("gcc", "libc6-dev")),
        Fix(Way.COMMAND, ("sysctl x",)),
        Fix(Way.PACKAGES, ("gdb", "gcc")),
    ]
    assert commands(fixes, PLAIN) == ["apt-get install -y gcc libc6-dev gdb", "sysctl x"]


def test_no_world_is_claimed_that_the_package_does_not_have() -> None:
    import importlib.util

    for world in BUILT:
        assert importlib.util.find_spec(f"eitherway.worlds.{world}") is not None
