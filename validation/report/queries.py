"""What a query sweep found, as text: a row a query and pair of shapes, then a line for each kind of wrong answer."""

from collections.abc import Mapping, Sequence

from validation.engines.queries import Query
from validation.judging.sweeps import Count, Swept
from validation.judging.verdict import Weight
from validation.records.quantities import counted, quantity
from validation.report.jsonl import json_line


def header(engine: str, version: str, queries: Mapping[str, Query]) -> str:
    """What is asked, and the head of the table."""
    lines = [f"{engine} {version}"]
    for name, query in queries.items():
        lines.append(f"  {name}: {query.call}; answers {', '.join(sorted(query.answers))}")
        lines += [f"    allowed by its documents: {query.documented}"] if query.documented else []
        lines += [f"    not asked: {query.cannot}"] if query.cannot else []
    lines.append(f"{'query':9} {'shapes':26} {'poses':>7} {'wrong':>6} {'gross':>6} {'slight':>6} {'allowed':>7}")
    return "\n".join(lines)


def row(one: Swept) -> str:
    """Of one query and pair: poses, visibly wrong answers, gross ones, slightly wrong ones, those that the engine's
    documents allow."""
    pair = " and ".join(one.kinds)
    if one.declined and not one.asked:
        return f"{one.query:9} {pair:26} declined: {one.declined}"
    wrong, gross = (sum(getattr(count, name) for count in one.found.values()) for name in ("wrong", "gross"))
    return f"{one.query:9} {pair:26} {one.asked:7} {wrong:6} {gross:6} {one.slight:6} {one.documented:7}"


def findings(swept: Sequence[Swept], seconds: float) -> str:
    """Each kind of wrong answer, and the sum."""
    lines = [line for one in swept for line in find_lines(one)]
    asked = sum(one.asked for one in swept)
    return "\n".join(
        ["", *lines, f"{asked} answers checked in {seconds:.0f} s: {counted(len(lines), 'kind')} of wrong ones"]
    )


def json_row(engine: str, version: str, one: Swept) -> str:
    """One line, without its end."""
    found = {
        kind: {"wrong": count.wrong, "gross": count.gross, "worst": count.worst, "classes": count.classes,
               "sizes": count.sizes}
        for kind, count in one.found.items()
    }  # fmt: skip
    return json_line(
        engine=engine, version=version, query=one.query, shapes=list(one.kinds), asked=one.asked,
        answered=one.answered, slight=one.slight, allowed=one.documented, declined=one.declined or None, found=found,
    )  # fmt: skip


def find_lines(one: Swept) -> list[str]:
    """One for each kind of wrong answer, the most frequent first."""
    found = sorted(one.found.items(), key=lambda item: -item[1].wrong)
    return [_line(one, kind, count) for kind, count in found]


def _line(one: Swept, kind: str, count: Count) -> str:
    share = f"{count.wrong} of {one.asked} poses ({100.0 * count.wrong / one.asked:.2g} %)"
    grave = f", {count.gross} gross" if count.gross else ""
    worst = f"; off by up to {count.worst:.2g} of the thinner body" if count.worst < float("inf") else ""
    classes = ", ".join(f"{name} {of}" for name, of in sorted(count.classes.items(), key=lambda item: -item[1])[:3])
    sizes = ", ".join(f"{name} {of}" for name, of in sorted(count.sizes.items(), key=lambda item: -item[1])[:2])
    line = f"{one.query}: {one.kinds[0]} and {one.kinds[1]}: {kind}: {share}{grave}{worst}; {classes}; {sizes}"
    find = count.find
    if find is not None and find.reason:
        return f"{line}; {find.reason}"
    if find is not None and find.error < float("inf"):
        thin = quantity(find.question.thickness, "m")
        line += f"; shown: off by {quantity(find.error, 'm')}, the thinner body is {thin} thick"
    return line


def grave(swept: Sequence[Swept]) -> bool:
    """Whether any answer is wrong enough to be seen."""
    return any(count.find is not None and count.find.weight > Weight.NEGLIGIBLE
               for one in swept for count in one.found.values())  # fmt: skip
