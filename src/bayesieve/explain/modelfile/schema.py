"""JSON held against its schema: the few words of JSON Schema that ours uses, said in one sentence.

The standard's own checkers are libraries of their own; a model file must be safe to open without.
"""

import math
import re
from collections.abc import Mapping
from typing import TypedDict, TypeGuard, cast

from ..plain import Plain

#: The words of JSON Schema that ours uses; what a value must be.
Schema = TypedDict(
    "Schema",
    {
        "$ref": str,
        "$defs": dict[str, "Schema"],
        "type": str | list[str],
        "const": Plain,
        "enum": list[Plain],
        "pattern": str,
        "minimum": float,
        "exclusiveMinimum": float,
        "required": list[str],
        "properties": dict[str, "Schema"],
        "additionalProperties": bool,
        "items": "Schema",
        "minItems": int,
        "oneOf": list["Schema"],
    },
    total=False,
)


_KINDS: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "number": (int, float),
    "integer": int,
}


_MOST_LETTERS = 60


def check_schema(value: object, schema: Schema, root: Schema, where: str = "") -> None:
    """Raise ValueError where the value does not fit; `root` holds what ``$ref`` names.

    Numbers must be finite floats: JSON has others, and Python reads them.
    """
    if "$ref" in schema:
        found: object = root
        for name in schema["$ref"].removeprefix("#/").split("/"):
            found = cast(Mapping[str, object], found)[name]
        check_schema(value, cast(Schema, found), root, where)
        return
    _check_value(value, schema, where)
    if "oneOf" in schema:
        _check_one_of(value, schema, root, where)
    if isinstance(value, dict):
        _check_object(value, schema, root, where)
    if isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            raise _misfit(where, f"have at least {schema['minItems']} elements", value)
        if schema.get("items") == {"type": "number"} and _all_numbers(value):
            return
        for i, each in enumerate(value if "items" in schema else ()):
            check_schema(each, schema["items"], root, f"{where}[{i}]")


def _check_value(value: object, schema: Schema, where: str) -> None:
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is(value, kind) for kind in kinds):
        raise _misfit(where, f"be {' or '.join(kinds)}", value)
    if "const" in schema and value != schema["const"]:
        raise _misfit(where, f"be {schema['const']!r}", value)
    if "enum" in schema and value not in schema["enum"]:
        raise _misfit(where, f"be one of {schema['enum']}", value)
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        raise _misfit(where, f"match {schema['pattern']!r}", value)
    if _is_number(value):
        if value < schema.get("minimum", value):
            raise _misfit(where, f"be at least {schema['minimum']}", value)
        if value <= schema.get("exclusiveMinimum", -math.inf):
            raise _misfit(where, f"be above {schema['exclusiveMinimum']}", value)


def _check_object(value: dict[str, Plain], schema: Schema, root: Schema, where: str) -> None:
    place = f"{where}." if where else ""
    for name in schema.get("required", ()):
        if name not in value:
            raise ValueError(f"{where or 'the file'} lacks {name!r}.")
    known = schema.get("properties", {})
    if schema.get("additionalProperties") is False:
        odd = next((name for name in value if name not in known), None)
        if odd is not None:
            raise ValueError(f"{where or 'the file'} has {_short(odd)}, which is unknown.")
    for name, each in value.items():
        if name in known:
            check_schema(each, known[name], root, place + name)


def _check_one_of(value: object, schema: Schema, root: Schema, where: str) -> None:
    errors = []
    for choice in schema["oneOf"]:
        try:
            check_schema(value, choice, root, where)
            return
        except ValueError as error:
            errors.append(str(error).rstrip("."))
    raise ValueError(f"{'; or '.join(dict.fromkeys(errors))}.")


def _is(value: object, kind: str) -> bool:
    if isinstance(value, bool) or not isinstance(value, _KINDS[kind]):
        return kind == "boolean" and isinstance(value, bool)
    if kind in ("number", "integer"):
        try:
            return math.isfinite(float(cast(float, value)))
        except OverflowError:
            return False
    return True


def _is_number(value: object) -> TypeGuard[float]:
    return _is(value, "number")


def _all_numbers(values: list[float]) -> bool:
    """The same as one by one, for the many numbers of a large file."""
    try:
        return {type(each) for each in values} <= {int, float} and all(map(math.isfinite, values))
    except OverflowError:
        return False


def _misfit(where: str, wanted: str, value: object) -> ValueError:
    return ValueError(f"{where or 'the file'} must {wanted}; got {_short(value)}.")


def _short(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer of too many digits
        text = "a huge number"
    return text if len(text) <= _MOST_LETTERS else text[: _MOST_LETTERS - 1] + "…"
