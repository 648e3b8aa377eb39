from __future__ import annotations

import os
import threading
from types import ModuleType

import pytest

from seamark.lifecycle.driver_calls import DriverLibrary

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


class Driver(ModuleType):
    def __init__(self):
        super().__init__("driver")
        self.began, self.may_end = threading.Event(), threading.Event()
        self.VERSION = 2

        def driverCall():  # noqa: N802 - like the names of a driver
            self.began.set()
            return self.may_end.wait(60)

        self.driverCall = driverCall


@pytest.fixture
def driver():
    driver = Driver()
    yield driver
    driver.may_end.set()


def in_child(act):
    """Call it in a forked child, and return whether it succeeded."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if act() else 1)
        finally:
            os._exit(2)
    return os.waitpid(child, 0)[1] == 0


def test_a_driver_that_hangs_does_not_hold_up_forks(driver):
    library = DriverLibrary(driver, "driver")
    thread = threading.Thread(target=library.driverCall)
    thread.start()
    assert driver.began.wait(60)

    assert in_child(lambda: True)
    assert not driver.may_end.is_set()
    driver.may_end.set()
    thread.join(60)


def test_a_child_calls_the_driver_whatever_its_parent_does(driver):
    library = DriverLibrary(driver, "driver")
    thread = threading.Thread(target=library.driverCall)
    thread.start()
    assert driver.began.wait(60)

    def act():
        driver.may_end = threading.Event()
        driver.may_end.set()
        return library.driverCall()

    assert in_child(act)
    driver.may_end.set()
    assert library.driverCall()
    thread.join(60)


def test_other_names_are_those_of_the_module(driver):
    library = DriverLibrary(driver, "driver")

    assert library.VERSION == 2
    assert not hasattr(library, "missing")
