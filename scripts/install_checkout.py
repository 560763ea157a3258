"""Installs this checkout into the environment that runs this script, the way `pip install -e` would, without a second
compilation: the extension is the one that the CMake build leaves in python/trencadis/. Writes a .pth file, the command, and
the records that let pip list, replace and uninstall it."""

import sys
import sysconfig
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def write_scripts(project, folder):
    for command, target in project["scripts"].items():
        module, function = target.split(":")
        path = folder / command
        path.write_text(f"#!{sys.executable}\nimport sys\nfrom {module} import {function}\nsys.exit({function}())\n")
        path.chmod(0o755)
        yield path


def metadata(project):
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {project['version']}"]
    lines.append(f"Summary: {project['description']}")
    lines += [f"Requires-Dist: {name}" for name in project["dependencies"]]
    for extra, names in project.get("optional-dependencies", {}).items():
        lines += [f"Provides-Extra: {extra}"] + [f'Requires-Dist: {name} ; extra == "{extra}"' for name in names]
    return "\n".join(lines) + "\n"


def main():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    site = Path(sysconfig.get_path("purelib"))
    for old in site.glob(f"{project['name']}-*.dist-info"):
        for file in old.iterdir():
            file.unlink()
        old.rmdir()
    info = site / f"{project['name']}-{project['version']}.dist-info"
    info.mkdir()
    pth = site / f"{project['name']}.pth"
    pth.write_text(f"{ROOT / 'python'}\n")
    files = {info / "METADATA": metadata(project), info / "INSTALLER": "make\n"}
    for path, text in files.items():
        path.write_text(text)
    recorded = [pth, *files, *write_scripts(project, Path(sysconfig.get_path("scripts"))), info / "RECORD"]
    (info / "RECORD").write_text("".join(f"{path},,\n" for path in recorded))


if __name__ == "__main__":
    main()
