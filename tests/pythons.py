"""Run tests on every supported Python that this machine has, each with the locked versions.

`python -m tests.pythons UV JOBS FOLDER...`: the Python that runs this is left out, as the whole
suite ran on it.  Environments are kept as .venv-3.12 and so on.  A missing Python is said, not
hidden.
"""
from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys

SUPPORTED = ("3.11", "3.12", "3.13")
RUNNING = f"{sys.version_info.major}.{sys.version_info.minor}"
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


def test_on(version: str, python: str, uv: str, jobs: str, folders: list[str]) -> int:
    place = f".venv-{version}"
    sync = [uv, "sync", "--frozen", "--quiet", "--no-install-project"]
    groups = ["--no-default-groups", "--group", "test"]
    environment = os.environ | {"UV_PROJECT_ENVIRONMENT": place}
    subprocess.run([*sync, *groups, "--python", python], env=environment, check=True)
    parallel = ["-n", jobs, "--dist", "loadfile", "--no-loadscope-reorder"]
    return subprocess.call([f"{place}/bin/python", "-m", "pytest", "-q", *parallel, *folders])


def main(uv: str, jobs: str, *wanted: str) -> int:
    folders = [folder for folder in wanted if pathlib.Path(folder).is_dir()]
    if not folders:
        print(f"none of {', '.join(wanted)} is here")
        return 0
    failed: list[str] = []
    for version in SUPPORTED:
        python = find(version)
        if version == RUNNING:
            print(f"\n== Python {version}: ran with the whole suite", flush=True)
        elif python is None:
            print(f"\n!! Python {version}: SKIPPED, not on this machine", flush=True)
        else:
            print(f"\n== Python {version}: {python}", flush=True)
            if test_on(version, python, uv, jobs, folders):
                failed.append(version)
    if failed:
        print(f"\n!! failed on Python {', '.join(failed)}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
