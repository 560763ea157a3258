"""What the package's modules define, with docstrings, from their sources: nothing is imported."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Definition:
    kind: str  #: function, class or property
    name: str
    signature: str
    docstring: str
    members: list[Definition] = field(default_factory=list)


def module(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def definitions(body: list[ast.stmt]) -> dict[str, Definition]:
    return {node.name: _definition(node) for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def public_names(package: Path) -> dict[str, Definition]:
    """What `__all__` of the package names, wherever it is defined."""
    init = module(package / "__init__.py")
    named = next(ast.literal_eval(node.value) for node in init.body if _assigns(node, "__all__"))
    found = {}
    for node in init.body:
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
            source = package / f"{node.module}.py{'i' if node.module == '_core' else ''}"
            there = definitions(module(source).body)
            found |= {alias.name: there[alias.name] for alias in node.names if alias.name in named and alias.name in there}
    return {name: found[name] for name in named if name in found}


def lapack_routines(package: Path) -> list[tuple[str, str, str]]:
    """Name, signature and sentence of each line of the table in `lapack.py`, whose functions are made by other functions. A line
    `**module.TABLE` stands for those of another module's table."""
    return _routines_of(package, "lapack", "_ROUTINES")


def _routines_of(package: Path, name: str, table_name: str) -> list[tuple[str, str, str]]:
    tree = module(package / f"{name}.py")
    makers = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    table = next(node.value for node in tree.body if _assigns(node, table_name))
    rows = []
    for key, value in zip(table.keys, table.values, strict=True):
        if key is None:
            rows += _routines_of(package, value.value.id, value.attr)
            continue
        made = next(node for node in makers[value.elts[0].id].body if isinstance(node, ast.FunctionDef))
        rows.append((key.value, _signature(made), ast.literal_eval(value.elts[1])))
    return rows


def _assigns(node: ast.stmt, name: str) -> bool:
    return isinstance(node, ast.Assign) and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)


def _definition(node: ast.FunctionDef | ast.ClassDef) -> Definition:
    docstring = ast.get_docstring(node) or ""
    if isinstance(node, ast.FunctionDef):
        is_property = any(isinstance(d, ast.Name) and d.id == "property" for d in node.decorator_list)
        return Definition("property" if is_property else "function", node.name, _signature(node), docstring)
    members = definitions(node.body)
    init = members.pop("__init__", None)
    shown = [member for name, member in members.items() if not name.startswith("_") and member.docstring]
    return Definition("class", node.name, init.signature if init else "()", docstring, shown)


def _signature(node: ast.FunctionDef) -> str:
    """Names and standard values; what types there are is in the docstring, and on the right."""
    arguments = node.args
    for argument in [*arguments.args, *arguments.kwonlyargs]:
        argument.annotation = None
    if arguments.args and arguments.args[0].arg == "self":
        arguments.args.pop(0)
    return f"({ast.unparse(arguments)})"
