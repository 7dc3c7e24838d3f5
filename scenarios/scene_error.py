"""Turns what is wrong with a scene into one line: the path of the field, the value, what is allowed."""

import difflib
from typing import Any

from pydantic import TypeAdapter, ValidationError

LONGEST = 1000  # characters of a message: names of fields may be of any length
UNPRINTABLE = "\N{REPLACEMENT CHARACTER}"


class SceneError(ValueError):
    """A scene that cannot be: the message is one line and names field, value and rule."""


def _path(location: tuple[int | str, ...], schema: dict[str, Any]) -> str:
    """('bodies', 2, 'mass') as bodies[2].mass; the tags of unions are left out."""
    path, tags = "", _tags(schema)
    previous: int | str | None = None
    for depth, part in enumerate(location):
        if depth == 0 and part in (2, 3):  # the tag of the scene's own union
            continue
        if isinstance(part, int):
            path += f"[{part}]"
        elif part not in tags or not (previous is None or previous == "shape" or isinstance(previous, int)):
            path += f".{part}" if path else part
        previous = part
    return path or "scene"


def _tags(node: Any) -> set[str]:
    """Of all unions anywhere in the schema."""
    if isinstance(node, list):
        return set().union(*map(_tags, node))
    if not isinstance(node, dict):
        return set()
    return set(node.get("discriminator", {}).get("mapping", ())).union(*map(_tags, node.values()))


def _show(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def explain(error: ValidationError, adapter: TypeAdapter[Any]) -> str:
    """The first fault, in one line; how many more there are stands at its end."""
    faults = error.errors(include_url=False)
    # A list whose items are wrong is also reported as too short; that says nothing new.
    faults = [f for f in faults if not any(f is not g and g["loc"][: len(f["loc"])] == f["loc"] for g in faults)]
    fault = faults[0]
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    text = " ".join((_sentence(dict(fault), adapter) + more).split())
    return "".join(c if c.isprintable() else UNPRINTABLE for c in text[:LONGEST])


def _sentence(fault: dict[str, Any], adapter: TypeAdapter[Any]) -> str:
    location, context, value = fault["loc"], fault.get("ctx", {}), fault["input"]
    schema = adapter.json_schema()
    path = _path(location, schema)
    match fault["type"]:
        case "value_error":
            parent = path if location and path != "scene" else ""
            message = str(context["error"])
            joint = "." if parent and not message.startswith("[") else ""
            return f"{parent}{joint}{message}"
        case "missing":
            return f"{path}: missing; this field is required"
        case "extra_forbidden":
            known = _siblings(location, schema)
            near = difflib.get_close_matches(str(location[-1]), known, n=1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            allowed = f"; {hint}allowed: {', '.join(known)}" if known else "; leave it out"
            return f"{path}: unknown field, given {_show(value)}{allowed}"
        case "finite_number":
            return f"{path}: {value} is not finite; allowed: a finite number"
        case "float_type" | "int_type":
            return f"{path}: {_show(value)} ({type(value).__name__}) is not a number; allowed: a finite number"
        case "greater_than" | "greater_than_equal" | "less_than" | "less_than_equal":
            sign = {"greater_than": ">", "greater_than_equal": ">=", "less_than": "<", "less_than_equal": "<="}
            limit = next(iter(context.values()))
            return f"{path}: {_show(value)} is out of range; allowed: {sign[fault['type']]} {limit:g}"
        case "union_tag_invalid":
            field = context["discriminator"].strip("'")
            return f"{path}.{field}: {context['tag']!r} is unknown; allowed: {context['expected_tags']}".removeprefix(
                "scene."
            )
        case "union_tag_not_found":
            field = context["discriminator"].strip("'")
            if not isinstance(value, dict):
                return f"{path}: {_show(value)} is not an object; allowed: an object with the field {field!r}"
            return f"{path}.{field}: missing; this field is required".removeprefix("scene.")
        case "too_short" | "too_long":
            count = context.get("actual_length")
            bounds = " to ".join(str(context[k]) for k in ("min_length", "max_length") if k in context)
            word = "at least" if fault["type"] == "too_short" else "at most"
            return f"{path}: {'too many' if count is None else count} entries; allowed: {word} {bounds}"
        case "literal_error" | "enum":
            return f"{path}: {_show(value)} is not allowed; allowed: {context['expected']}"
        case "string_pattern_mismatch" | "string_too_short" | "string_too_long":
            limit = f", at most {context['max_length']}" if "max_length" in context else ""
            return f"{path}: {_show(value)} is no name; allowed: letters, digits, spaces and _ . : + / # -{limit}"
        case "tuple_type" | "model_type" | "dict_type" | "model_attributes_type" | "string_type" | "bool_type":
            word = {"tuple": "a list", "string": "text", "bool": "true or false"}.get(
                fault["type"].split("_")[0], "an object"
            )
            return f"{path}: {_show(value)} ({type(value).__name__}) is not {word}; allowed: {word}"
        case _:
            return f"{path}: {_show(value)}: {fault['msg']}"


def _siblings(location: tuple[int | str, ...], schema: dict[str, Any]) -> list[str]:
    """The fields that may stand where the unknown one was found."""
    definitions = schema.get("$defs", {})

    def resolve(node: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in node or "anyOf" in node:  # anyOf: a field that may be null
            there = node.get("anyOf") or [definitions[node["$ref"].rsplit("/", 1)[-1]]]
            node = next(choice for choice in there if choice.get("type") != "null")
        return node

    node = schema
    for part in location[:-1]:
        node = resolve(node)
        if "discriminator" in node and str(part) in node["discriminator"]["mapping"]:
            node = {"$ref": node["discriminator"]["mapping"][str(part)]}
        elif isinstance(part, int):
            node = node.get("items") or next(iter(node.get("prefixItems", [{}])))
        else:
            node = node.get("properties", {}).get(str(part), {})
    return list(resolve(node).get("properties", {}))
