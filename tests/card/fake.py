"""The card of paper for tests: with the disk cache, and with a clock of the host's."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

from labcore import cuda
from labcore.codegen.build import kernel_nodes
from labcore.codegen.cuda import build
from labcore.codegen.cuda.cubin import Compiled
from labcore.codegen.cuda.eager import carry
from labcore.codegen.cuda.paper import PaperDriver
from labcore.runtime.card import SiliconCard
from labcore.tensor.cuda import card_in_use, install


class FakeDriver(PaperDriver):
    """Notes in `log` what it was asked for."""

    has_clock = True

    def __init__(self, limit: int = 1 << 30) -> None:
        super().__init__(limit)
        self.log: list[Any] = []

    def allocate(self, nbytes: int) -> int:
        self.log.append(f"allocate {nbytes}")
        return super().allocate(nbytes)

    def free(self, pointer: int) -> None:
        self.log.append("free")
        super().free(pointer)

    def launcher(self, function: Any, grid: Any, block: Any) -> Any:
        self.log.append("launcher")
        return super().launcher(function, grid, block)

    def matmul(self, *given: Any) -> None:
        self.log.append("matmul")
        super().matmul(*given)

    def wait_for(self, stream: int) -> None:
        self.log.append(f"wait {stream}")

    def synchronize(self) -> None:
        self.log.append("synchronize")


def compile_text(source: str, cc: tuple[int, int]) -> dict[str, Compiled]:
    """The text itself as machine code."""
    return {n.name: Compiled(n.name, "", source.encode(), 1, 0, 0, 0)
            for n in kernel_nodes(source)}


@contextmanager
def paper_card(monkeypatch: Any, driver: FakeDriver | None = None):
    """The card in use is one of paper, its new memory full of nan."""
    monkeypatch.setattr(build, "compile_source", compile_text)
    monkeypatch.setattr(build, "made_by", lambda cc: {"card": "paper"})
    driver = driver or FakeDriver()
    card = SiliconCard(driver, build.build, poison=True)
    before = card_in_use()
    install(card, carry)
    try:
        yield card
    finally:
        cuda.simulate(False)
        install(before, carry if before else None)
        driver.check()
