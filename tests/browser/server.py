"""A real JupyterLab on loopback, over a copy of the notebooks.

In: a folder for the copy.  Out: a `Lab` that answers, and its REST calls.
Invariant: the checkout is never written to, no setting of the user's is read, and the server dies
with pytest.
"""
from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import json
import os
import pathlib
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
START_SECONDS = 90

SETTINGS: dict[str, dict[str, Any]] = {
    # Only this setting stops the news pop-up; the command line's news_url does not.
    "@jupyterlab/apputils-extension:notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    },
    # The theme follows the browser, so each test chooses light or dark for its page.
    "@jupyterlab/apputils-extension:themes": {
        "adaptive-theme": True,
        "preferred-light-theme": "JupyterLab Light",
        "preferred-dark-theme": "JupyterLab Dark",
    },
    "@jupyterlab/docmanager-extension:plugin": {"autosave": False},
    # Cells out of view stay in the page, where a test can find them.
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
    "@jupyterlab/completer-extension:manager": {"autoCompletion": False},
}


@dataclasses.dataclass(frozen=True)
class Lab:
    """A running server: where it is, what opens it, and the folder that it serves."""

    base: str
    token: str
    root: pathlib.Path

    def api(self, path: str, method: str = "GET", body: object = None) -> Any:
        request = urllib.request.Request(
            f"{self.base}/api/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"token {self.token}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def start_kernel(self, notebook: str) -> None:
        """JupyterLab joins a live session of a path; on a cold server it would ask for a kernel."""
        body = {"path": notebook, "name": notebook, "type": "notebook"}
        self.api("sessions", "POST", body | {"kernel": {"name": "python3"}})

    def stop_kernels(self) -> None:
        for session in self.api("sessions"):
            self.api(f"sessions/{session['id']}", "DELETE")


def stripped(notebook: dict[str, Any]) -> dict[str, Any]:
    """Without outputs: a stored `[3]:` or a stored widget must not pass for one that ran."""
    notebook["metadata"].pop("widgets", None)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return notebook


def copy_notebooks(source: pathlib.Path, target: pathlib.Path) -> None:
    """Notebooks without outputs, and the files beside them that they read."""
    target.mkdir(parents=True)
    for path in sorted(p for p in source.rglob("*") if p.is_file()):
        inside = path.relative_to(source)
        if any(part.startswith((".", "__")) for part in inside.parts):
            continue
        (target / inside).parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".ipynb":
            text = json.dumps(stripped(json.loads(path.read_text(encoding="utf-8"))))
            (target / inside).write_text(text, encoding="utf-8")
        else:
            (target / inside).write_bytes(path.read_bytes())


def environment(home: pathlib.Path) -> dict[str, str]:
    """Jupyter's folders, all under `home`; kernels import this checkout."""
    overrides = home / "config" / "labconfig"
    overrides.mkdir(parents=True)
    (overrides / "default_setting_overrides.json").write_text(json.dumps(SETTINGS))
    places = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "IPYTHONDIR": "ipython",
    }
    known = {name: str(home / folder) for name, folder in places.items()}
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return os.environ | known | {"JUPYTER_PLATFORM_DIRS": "1", "PYTHONPATH": paths}


def command(port: int, token: str, root: pathlib.Path) -> list[str]:
    return [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", f"--port={port}",
        "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}",
        f"--ServerApp.root_dir={root}", "--LabApp.extension_manager=readonly",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.expose_app_in_browser=True",  # as window.jupyterapp
        "--ServerApp.terminals_enabled=False", "--ServerApp.log_level=WARN",
        *(["--allow-root"] if os.geteuid() == 0 else []),
    ]  # fmt: skip


def die_with_parent() -> None:
    """A killed pytest runs no teardown; on Linux the kernel then ends the server for us."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_it_answers(lab: Lab, process: subprocess.Popen[bytes], log: pathlib.Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"JupyterLab ended at once:\n{log.read_text()}")
        with contextlib.suppress(OSError):
            lab.api("status")
            return
        time.sleep(0.1)
    raise RuntimeError(f"JupyterLab did not answer in {START_SECONDS} s:\n{log.read_text()}")


@contextlib.contextmanager
def serve(home: pathlib.Path) -> Iterator[Lab]:
    """JupyterLab over a copy of the notebooks, until the block ends."""
    port, token, log = free_port(), secrets.token_hex(16), home / "server.log"
    lab = Lab(f"http://127.0.0.1:{port}", token, home / "notebooks")
    copy_notebooks(ROOT / "notebooks", lab.root)
    with log.open("wb") as stream:
        process = subprocess.Popen(
            command(port, token, lab.root),
            env=environment(home),
            cwd=lab.root,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=die_with_parent,
        )
        try:
            wait_until_it_answers(lab, process, log)
            yield lab
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
