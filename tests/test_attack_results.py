"""The table of attacks names the file of each, also for tests in a class."""

from __future__ import annotations

import pytest

from scripts.attacks.results import of_pytest


@pytest.mark.parametrize(
    "classname", ["tests.attacks.test_a_file", "tests.attacks.test_a_file.TestB"]
)
def test_the_area_of_an_attack_is_its_file(classname: str) -> None:
    (attack,) = of_pytest(f'<s><testcase classname="{classname}" name="test_forged"/></s>')
    assert (attack.area, attack.name) == ("a file", "forged")
