"""Run tests on every supported Python that this machine has, each with the locked versions.

`python -m tests.pythons UV JOBS FOLDER...`: the Python that runs this is left out, as the whole
suite ran on it; the others run at once, with their share of JOBS each.  Environments are kept as
.venv-3.12 and so on.  A missing Python is said, not hidden.
"""
from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

SUPPORTED = ("3.11", "3.12", "3.13")
RUNNING = f"{sys.version_info.major}.{sys.version_info.minor}"
Answer = subprocess.CompletedProcess[str]
QUERY = "import sys; print('%d.%d' % sys.version_info[:2])"


def is_version(path: str, version: str) -> bool:
    """A pyenv shim is on the PATH even when what it stands for is not to be had."""
    answer = subprocess.run([path, "-c", QUERY], capture_output=True, text=True, check=False)
    return answer.returncode == 0 and answer.stdout.strip() == version


def find(version: str) -> str | None:
    """An interpreter on the PATH, or one that pyenv has installed."""
    program = f"python{version}"
    pyenv = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv")) / "versions"
    installed = sorted(pyenv.glob(f"{version}.*/bin/{program}"), reverse=True)
    on_path = [shutil.which(program)]
    candidates = [path for path in [*on_path, *map(str, installed)] if path]
    return next((path for path in candidates if is_version(path, version)), None)


def test_on(version: str, python: str, uv: str, jobs: int, folders: list[str]) -> Answer:
    """Sync an environment, run the tests in it; what that printed is kept for the end."""
    place = f".venv-{version}"
    sync = [uv, "sync", "--frozen", "--quiet", "--no-install-project"]
    groups = ["--no-default-groups", "--group", "test", "--python", python]
    shared = ["-n", str(jobs if jobs > 1 else 0), "--dist", "loadfile", "--no-loadscope-reorder"]
    test = [f"{place}/bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *shared]
    environment = os.environ | {"UV_PROJECT_ENVIRONMENT": place}
    synced = said([*sync, *groups], env=environment)
    return said([*test, *folders]) if synced.returncode == 0 else synced


def said(command: list[str], **options: Any) -> Answer:
    return subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options
    )


def main(uv: str, jobs: str, *wanted: str) -> int:
    folders = [folder for folder in wanted if pathlib.Path(folder).is_dir()]
    if not folders:
        print(f"none of {', '.join(wanted)} is here")
        return 0
    pythons = {version: find(version) for version in SUPPORTED if version != RUNNING}
    here = {version: python for version, python in pythons.items() if python}
    print(f"\n== Python {RUNNING}: ran with the whole suite", flush=True)
    for version in pythons.keys() - here.keys():
        print(f"\n!! Python {version}: SKIPPED, not on this machine", flush=True)
    failed: list[str] = []
    each = int(jobs) // max(1, len(here))
    with ThreadPoolExecutor() as pool:
        answers = {
            version: pool.submit(test_on, version, python, uv, each, folders)
            for version, python in here.items()
        }
        for version, answer in answers.items():
            print(f"\n== Python {version}: {here[version]}\n{answer.result().stdout}", flush=True)
            if answer.result().returncode:
                failed.append(version)
    if failed:
        print(f"\n!! failed on Python {', '.join(failed)}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
