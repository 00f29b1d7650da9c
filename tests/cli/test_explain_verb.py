# SPDX-License-Identifier: Apache-2.0
"""`eitherway explain`: fewer switches, the pair that decides, and both orders to replay."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.calling import eitherway
from tests.corpus.expect import PROGRAMS

SOURCE = """
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance = 10, looked;
static int get(void) {
    pthread_mutex_lock(&lock);
    int value = balance;
    pthread_mutex_unlock(&lock);
    return value;
}
static void put(int value) {
    pthread_mutex_lock(&lock);
    balance = value;
    pthread_mutex_unlock(&lock);
}
static void *deposit(void *unused) { put(get() + 5); return unused; }
static void *look(void *unused) { for (int i = 0; i < 20; i++) looked += get(); return unused; }
int main(void) {
    pthread_t one, other, third;
    pthread_create(&third, NULL, look, NULL);
    pthread_create(&one, NULL, deposit, NULL);
    pthread_create(&other, NULL, deposit, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    pthread_join(third, NULL);
    printf("%d\\n", balance);
    assert(balance == 20);
    return 0;
}
"""


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which `check` has seen an update get lost: no data race, and a failure."""
    folder = tmp_path_factory.mktemp("explained")
    (folder / "app.c").write_text(SOURCE, encoding="utf-8")
    assert eitherway(folder, "cc", "-g", "app.c", "-o", "app").returncode == 0
    words = ("check", "--no-judge", "--schedules", "200", "--json", "told.json")
    assert eitherway(folder, *words, "--", "./app").returncode == 1
    return folder


def told(folder: Path, *words: str) -> Any:
    done = eitherway(folder, "explain", *words, "--seconds", "600", "--json", "why.json")
    assert done.returncode == 1, done.stderr
    (finding,) = json.loads((folder / "why.json").read_text())["findings"]
    return finding


def test_both_orders_are_told_and_can_be_replayed(checked: Path) -> None:
    finding = told(checked)
    assert finding["kind"] == "failure"
    assert finding["class"] == "spec-violated"
    assert "One pair of operations decides" in finding["reason"]
    fails, passes = finding["orders"]
    assert "killed by SIGABRT" in fails["does"]
    assert "exit status 0" in passes["does"]
    assert "lock of mutex 'lock'" in fails["order"]
    assert "balance == 20" in fails["output"]
    assert passes["output"] == "20"
    for order, ending in ((fails, "killed by signal 6"), (passes, "exit status 0")):
        again = eitherway(checked, *order["replay"].split()[1:], "--quiet")
        assert "the same to the bit" in again.stderr
        assert ending in again.stderr


def test_the_schedule_is_shorter_than_that_of_the_search(checked: Path) -> None:
    before = json.loads((checked / "told.json").read_text())["findings"][0]["evidence"]
    finding = told(checked, Path(before).name)
    sentence = finding["reason"].split(":")[0]
    many, few = (int(word.strip(",")) for word in sentence.split() if word.strip(",").isdigit())
    assert few < many
    assert few <= 7  # each of three threads begins, and one is stopped in the middle


def test_what_was_explained_is_kept_and_explained_again_alike(checked: Path) -> None:
    first = told(checked)
    second = told(checked, first["id"][:10])
    keys = ("id", "class", "explanation", "kind")
    assert {key: first[key] for key in keys} == {key: second[key] for key in keys}
    assert "1 spec-violated" in eitherway(checked, "races").stdout


def test_the_page_shows_both_orders(checked: Path) -> None:
    words = ("explain", "--seconds", "600", "--report", "html=why.html")
    assert eitherway(checked, *words).returncode == 1
    page = (checked / "why.html").read_text(encoding="utf-8")
    assert "killed by SIGABRT" in page
    assert "bothOrders" in page


def test_check_explains_what_fails(checked: Path, tmp_path: Path) -> None:
    (tmp_path / "app").symlink_to(checked / "app")
    words = ("check", "--schedules", "60", "--seconds", "600", "--json", "told.json")
    assert eitherway(tmp_path, *words, "--", "./app").returncode == 1
    (finding,) = json.loads((tmp_path / "told.json").read_text())["findings"]
    assert finding["class"] == "spec-violated"
    assert len(finding["orders"]) == 2
    assert "schedules" in finding["consequence"]


def test_check_explains_lost_wake_ups_that_happened(tmp_path: Path) -> None:
    source = PROGRAMS / "cond_flag_unlocked.c"
    assert eitherway(tmp_path, "cc", "-g", str(source), "-o", "app").returncode == 0
    words = ("check", "--schedules", "60", "--seconds", "600", "--json", "told.json")
    assert eitherway(tmp_path, *words, "--", "./app").returncode == 1
    findings = json.loads((tmp_path / "told.json").read_text())["findings"]
    (lost,) = [finding for finding in findings if finding["kind"] == "lost-wakeup"]
    assert lost["class"] == "spec-violated"
    assert len(lost["orders"]) == 2


def test_what_is_not_there_is_refused(checked: Path, tmp_path: Path) -> None:
    for name, code in (("EW-zz", 64), ("nothing-of-this-name", 65), ("./app.c", 65)):
        assert eitherway(checked, "explain", name).returncode == code, name
    assert eitherway(tmp_path, "explain").returncode == 64


def test_another_build_is_not_explained(checked: Path, tmp_path: Path) -> None:
    (tmp_path / "app.c").write_text(SOURCE, encoding="utf-8")
    eitherway(tmp_path, "cc", "-g", "app.c", "-o", "app")
    eitherway(tmp_path, "check", "--schedules", "200", "--", "./app")
    (tmp_path / "app.c").write_text(SOURCE.replace("< 20", "< 21"), encoding="utf-8")
    eitherway(tmp_path, "cc", "-g", "app.c", "-o", "app")
    refused = eitherway(tmp_path, "explain")
    assert refused.returncode == 65
    assert "another build" in refused.stderr


def test_a_run_that_ends_well_can_be_shortened_too(checked: Path) -> None:
    """It is known by its output; what no pair decides is said to be so."""
    assert eitherway(checked, "record", "--seed", "1", "--", "./app").returncode in (0, 134, 250)
    finding = told(checked, "latest")
    assert "switch" in finding["reason"]


QUIET = """
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int unread;
static void *one(void *unused) {
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    unread = 1;
    return unused;
}
static void *other(void *unused) {
    unread = 2;
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return unused;
}
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, one, NULL);
    pthread_create(&threads[1], NULL, other, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
"""


def test_where_nothing_went_wrong_nothing_is_made_up(tmp_path: Path) -> None:
    """A race whose reason is known keeps it; a deadlock that did not happen is only possible."""
    (tmp_path / "app.c").write_text(QUIET, encoding="utf-8")
    assert eitherway(tmp_path, "cc", "-g", "app.c", "-o", "app").returncode == 0
    words = ("check", "--judge", "--schedules", "1", "--json", "told.json", "--", "./app")
    eitherway(tmp_path, *words)
    found = {f["kind"]: f for f in json.loads((tmp_path / "told.json").read_text())["findings"]}
    for kind, reason in (
        ("data-race", found["data-race"]["reason"]),
        ("deadlock", "The recorded run ends well: it only shows that this can happen."),
    ):
        eitherway(tmp_path, "explain", found[kind]["id"], "--json", "why.json")
        (finding,) = json.loads((tmp_path / "why.json").read_text())["findings"]
        assert finding["class"] == found[kind]["class"]
        assert finding["reason"].startswith(reason)
    assert found["data-race"]["reason"].startswith("statistics only")
