"""Fixtures of the browser tests: one server, one chromium and one page a session.

Without chromium every test here is skipped, loudly; LAB_REQUIRE_BROWSER=1 makes that a failure.
"""
from __future__ import annotations

import pathlib
import re
from collections.abc import Callable, Iterator
from os import environ

import nbformat
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from . import chromium, server
from .notebook import OpenNotebook, close_notebooks, is_empty, open_notebook

HERE = pathlib.Path(__file__).parent

# An animation, on a busy machine with two cores, outlasts the default of 5 s.
expect.set_options(timeout=20_000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mine = [item for item in items if HERE in item.path.parents]
    for item in mine:
        item.add_marker(pytest.mark.browser)
        if chromium.find() is None and environ.get("LAB_REQUIRE_BROWSER") != "1":
            item.add_marker(pytest.mark.skip(reason="no chromium on this machine"))


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[server.Lab]:
    with server.serve(tmp_path_factory.mktemp("jupyter")) as running:
        yield running


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = chromium.find()
    if path is None:
        pytest.fail("LAB_REQUIRE_BROWSER=1, and this machine has no chromium", pytrace=False)
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=path, args=list(chromium.ARGUMENTS))
        yield started
        started.close()


@pytest.fixture
def theme() -> str:
    """"light" or "dark"; override with `@pytest.mark.parametrize("theme", [...])`."""
    return environ.get("LAB_THEME", "light")


@pytest.fixture
def motion() -> str:
    """"no-preference", or "reduce" as some readers set it; override by parametrize."""
    return "no-preference"


@pytest.fixture(scope="session")
def pages(browser: Browser) -> Iterator[list[Page]]:
    """The page that the last test left, if it may be used again.

    JupyterLab takes longer to start in a page than a notebook in it to open, run and be tested.
    """
    kept: list[Page] = []
    yield kept
    for page in kept:
        page.context.close()


def new_page(browser: Browser) -> Page:
    opened = browser.new_context().new_page()
    opened.context.set_default_timeout(30_000)
    if environ.get("LAB_TRACE"):
        opened.on("console", lambda message: print(message.type, message.text[:200]))
    return opened


@pytest.fixture
def page(
    browser: Browser, pages: list[Page], theme: str, motion: str, request: pytest.FixtureRequest
) -> Iterator[Page]:
    """A page whose script errors fail the test. The next test has it, too, if nothing went wrong
    and nothing is left in it."""
    opened = pages.pop() if pages else new_page(browser)
    opened.set_viewport_size({"width": 1280, "height": 1600})
    opened.emulate_media(color_scheme=theme, reduced_motion=motion)
    errors: list[str] = []
    note = lambda error: errors.append(str(error))
    opened.on("pageerror", note)
    failed = request.session.testsfailed
    yield opened
    opened.remove_listener("pageerror", note)
    if request.session.testsfailed == failed and not errors and is_empty(opened):
        pages.append(opened)
    else:
        opened.context.close()
    assert errors == [], "the page's scripts raised"


@pytest.fixture
def open_in_lab(lab: server.Lab, page: Page) -> Iterator[Callable[[str], OpenNotebook]]:
    """Open a notebook of the course by its name; it is closed and its kernel ends with the test."""
    yield lambda path: open_notebook(lab, page, path)
    close_notebooks(lab, page)
    lab.stop_kernels()


@pytest.fixture
def open_cells(
    lab: server.Lab, open_in_lab: Callable[[str], OpenNotebook], request: pytest.FixtureRequest
) -> Callable[..., OpenNotebook]:
    """Open a notebook made of these code cells."""

    def make(*sources: str) -> OpenNotebook:
        book = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(source) for source in sources],
            metadata={"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)"}},
        )
        name = re.sub(r"\W+", "-", f"generated {request.node.name}").strip("-") + ".ipynb"
        nbformat.write(book, lab.root / name)
        return open_in_lab(name)

    return make
