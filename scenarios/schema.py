"""The JSON Schema of scene files, for editors and for programs that write scenes.

Derived from the model in `scene`, so the two cannot disagree about fields, types and ranges. What a schema cannot
say is checked when a scene is read: unique names, references that exist, simple polygons, unit vectors.
"""

from typing import Any

from scenarios.scene import FORMAT, SCENE

SCHEMA_ID = f"urn:upright:scene:{FORMAT}"
TAGS = ("kind", "dimension")


def scene_schema() -> dict[str, Any]:
    """JSON Schema 2020-12 of format 1; what it refuses, `parse_scene` refuses too."""
    schema = SCENE.json_schema()
    for definition in schema["$defs"].values():
        tags = [tag for tag in TAGS if "const" in definition.get("properties", {}).get(tag, {})]
        if tags:  # a tag distinguishes the variants, so a file has to give it although the model knows it
            definition["required"] = [*tags, *definition.get("required", [])]
            for tag in tags:
                definition["properties"][tag].pop("default", None)
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": "Upright scene",
        "description": f"Scene file of format {FORMAT}. All SI; planar: x right, y up; spatial: z up.",
    }
    return head | schema
