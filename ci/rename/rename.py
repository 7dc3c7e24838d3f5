# ruff: noqa
"""Apply the map of names to a checkout:  python rename.py ROOT [--map MAP.toml ...] [--only PART] [--dry]

PART is a comma-separated list of: moves, names, columns, prose, format. Needs Python 3.11 and ROOT/.venv/bin/ruff.
A name that is not there is only reported. Running it twice changes nothing the second time.
"""

import argparse
import ast
import collections
import fnmatch
import io
import keyword
import re
import subprocess
import sys
import tokenize
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
FOREIGN = {"np", "numpy", "math", "scipy", "sparse", "linalg", "os", "sys", "re", "pd", "st", "pa", "sa", "nb"}
ATTRIBUTE_CALLS = {"getattr", "setattr", "hasattr", "delattr", "attrgetter"}
NAMED_TABLES = {"COLUMNS", "__all__", "_HOME"}
DOTTED = re.compile(r"(?<![\w/.])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
CODE_WORD = re.compile(r"(?<![\w./])(?:[A-Za-z]\w*_\w+|_\w+|[A-Z][A-Z0-9]{2,})(?!\w)")
TICKS = re.compile(r"`([^`\n]+)`")
report = collections.defaultdict(list)


def matches(path, globs):
    return any(fnmatch.fnmatch(path, g) for g in globs)


def tracked(root):
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root, capture_output=True, text=True)
    return sorted({p for p in out.stdout.split("\n") if p and (root / p).is_file()})


class Names:
    """What a name becomes in one file, by line."""

    def __init__(self, path, text, scopes, used):
        self.used = used
        tree = ast.parse(text)
        self.ranges = []  # (first, last, names), innermost last
        for scope in scopes:
            if not matches(path, scope["files"]) or matches(path, scope.get("but", [])):
                continue
            when = scope.get("when")
            if when and not re.search(rf"(?<!\w){when}(?!\w)", text):
                continue
            within = scope.get("within")
            if not within:
                self.ranges.append((0, 10**9, scope))
                continue
            for name in [within] if isinstance(within, str) else within:
                found = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef) and n.name == name]
                if not found:
                    report["not there"].append(f"{path}: function {name}")
                for n in found:
                    self.ranges.append((n.lineno, n.end_lineno, scope))
        general = [r for r in self.ranges if r[0] == 0]
        special = [r for r in self.ranges if r[0] != 0]
        self.ranges = special + general  # a function's own rule wins; then the rule that stands first

    def __bool__(self):
        return bool(self.ranges)

    def new(self, name, line, attribute):
        for first, last, scope in self.ranges:
            if first <= line <= last:
                names = scope["names"]
                for key in (("." if attribute else "=") + name, name):
                    if key in names:
                        self.used[id(scope), key] += 1
                        return names[key] if names[key] != name else name
        return name

    def word(self, name, line):
        new = self.new(name, line, False)
        return new if new != name else self.new(name, line, True)


def docstrings(tree):
    spots = set()
    for n in ast.walk(tree):
        if isinstance(n, ast.Module | ast.ClassDef | ast.FunctionDef) and n.body:
            b = n.body[0]
            if isinstance(b, ast.Expr) and isinstance(b.value, ast.Constant) and isinstance(b.value.value, str):
                spots.add(b.value.lineno)
    return spots


def attribute_strings(tree):
    """(line, column) of string literals that are names of attributes or exports."""
    spots = {}  # whether it is an attribute's; else an argument's, of a parametrised test
    for n in ast.walk(tree):
        args, attribute = [], True
        if isinstance(n, ast.Call):
            f = n.func
            called = f.id if isinstance(f, ast.Name) else f.attr if isinstance(f, ast.Attribute) else ""
            if called in ATTRIBUTE_CALLS:
                args = n.args[1:2] if called != "attrgetter" else n.args
            if called == "parametrize":
                args, attribute = list(ast.walk(n.args[0])) if n.args else [], False
        elif isinstance(n, ast.Assign) and any(isinstance(t, ast.Name) and t.id in NAMED_TABLES for t in n.targets):
            args = list(ast.walk(n.value))
        for a in args:
            if isinstance(a, ast.Constant) and isinstance(a.value, str):
                spots[a.lineno, a.col_offset] = attribute
    return spots


def in_text(text, names, line):
    """Identifiers in a comment, docstring or message: dotted names, names in backticks, names with underscores."""

    def dotted(m):
        return ".".join(names.word(p, line) for p in m[0].split("."))

    text = DOTTED.sub(dotted, text)
    text = CODE_WORD.sub(lambda m: names.word(m[0], line), text)
    return TICKS.sub(
        lambda m: "`" + re.sub(r"(?<![\w./])[A-Za-z_]\w*", lambda w: names.word(w[0], line), m[1]) + "`", text
    )


def in_expression(text, names, line):
    out, prev = [], ""
    for m in re.finditer(r"[rRfF]*'[^']*'|[rRfF]*\"[^\"]*\"|[A-Za-z_]\w*|\s+|.", text, re.S):
        s = m[0]
        if re.match(r"[rR]?[fF][rR]?['\"]", s):
            s = in_fstring(s, names, line)
        elif re.match(r"[rRfF]*['\"]", s):
            pass
        elif re.match(r"[A-Za-z_]", s) and not keyword.iskeyword(s) and not prev.isdigit():
            s = names.new(s, line, prev == ".")
        out.append(s)
        if not m[0].isspace():
            prev = m[0]
    return "".join(out)


def in_fstring(text, names, line):
    out, i = [], 0
    while i < len(text):
        c = text[i]
        if c == "{" and text[i : i + 2] != "{{":
            depth, j = 1, i + 1
            while j < len(text) and depth:
                depth += {"{": 1, "}": -1}.get(text[j], 0)
                j += 1
            body = text[i + 1 : j - 1]
            spec = re.search(r"(?<![=!<>:])[:!](?![=:])(?![^\[\(]*[\]\)])", body)
            end = spec.start() if spec else len(body)
            tail = body[end:]
            tail = re.sub(r"\{([^{}]*)\}", lambda m: "{" + in_expression(m[1], names, line) + "}", tail)
            out.append("{" + in_expression(body[:end], names, line) + tail + "}")
            i = j
        elif text[i : i + 2] in ("{{", "}}"):
            out.append(text[i : i + 2])
            i += 2
        else:
            out.append(c)
            i += 1
    return "".join(out)


def tokens(text):
    return list(tokenize.generate_tokens(io.StringIO(text).readline))


def replaced(text, edits):
    """edits: ((line, column), (line, column), new), in any order."""
    lines = text.splitlines(keepends=True)
    starts = [0]
    for s in lines:
        starts.append(starts[-1] + len(s))
    for (a, b), (c, d), new in sorted(edits, reverse=True):
        i, j = starts[a - 1] + b, starts[c - 1] + d
        text = text[:i] + new + text[j:]
    return text


def check_collisions(path, text, names):
    tree = ast.parse(text)

    def variables(f):
        out = {}
        for n in ast.walk(f):
            if isinstance(n, ast.Name):
                out.setdefault(n.id, n.lineno)
            elif isinstance(n, ast.arg):
                out.setdefault(n.arg, n.lineno)
        return out

    for f in ast.walk(tree):
        if isinstance(f, ast.FunctionDef):
            here, to = variables(f), collections.defaultdict(set)
            for n, line in here.items():
                to[names.new(n, line, False)].add(n)
            for new, old in to.items():
                if len(old) > 1:
                    report["collision"].append(f"{path}:{f.lineno} {f.name}: {', '.join(sorted(old))} -> {new}")
        elif isinstance(f, ast.ClassDef):
            to = collections.defaultdict(set)
            for b in f.body:
                n = (
                    b.target.id
                    if isinstance(b, ast.AnnAssign) and isinstance(b.target, ast.Name)
                    else getattr(b, "name", None)
                )
                if n:
                    to[names.new(n, b.lineno, isinstance(b, ast.FunctionDef))].add(n)
            for new, old in to.items():
                if len(old) > 1:
                    report["collision"].append(f"{path}:{f.lineno} class {f.name}: {', '.join(sorted(old))} -> {new}")
    top = collections.defaultdict(set)
    for b in tree.body:
        found = []
        if isinstance(b, ast.FunctionDef | ast.ClassDef):
            found = [b.name]
        elif isinstance(b, ast.Import | ast.ImportFrom):
            found = [a.asname or a.name.split(".")[0] for a in b.names]
        elif isinstance(b, ast.Assign):
            found = [n.id for t in b.targets for n in ast.walk(t) if isinstance(n, ast.Name)]
        for n in found:
            top[names.new(n, b.lineno, False)].add(n)
    for new, old in top.items():
        if len(old) > 1:
            report["collision"].append(f"{path}: module level: {', '.join(sorted(old))} -> {new}")


def names_in(path, text, names):
    check_collisions(path, text, names)
    tree = ast.parse(text)
    docs, attrs = docstrings(tree), attribute_strings(tree)
    edits, before, count, rows = [], [], 0, text.splitlines()
    for t in tokens(text):
        line, new = t.start[0], t.string
        if t.type == tokenize.NAME and not keyword.iskeyword(t.string):
            attribute = bool(before) and before[-1] == "."
            if not (attribute and len(before) > 1 and before[-2] in FOREIGN):
                new = names.new(t.string, line, attribute)
        elif t.type == tokenize.COMMENT:
            new = in_text(t.string, names, line)
        elif t.type == tokenize.STRING:
            prefix = re.match(r"[A-Za-z]*", t.string)[0].lower()
            body = t.string[len(prefix) :]
            bare = body.strip("\"'")
            byte_column = len(rows[line - 1][: t.start[1]].encode())
            if line in docs and (not before or before[-1] in (":", "") or t.string[:3] in ('"""', "'''")):
                new = in_text(t.string, names, line)
            elif "f" in prefix:
                new = in_fstring(t.string, names, line)
            elif (line, byte_column) in attrs and bare.isidentifier():
                renamed = names.word if attrs[line, byte_column] else lambda n, k: names.new(n, k, False)
                new = t.string.replace(bare, renamed(bare, line))
            elif (line, byte_column) in attrs and re.fullmatch(r"\w+(, ?\w+)+", bare):
                new = re.sub(r"[A-Za-z_]\w*", lambda w: names.new(w[0], line, False), t.string[len(prefix) :])
                new = t.string[: len(prefix)] + new
            elif re.fullmatch(r"[A-Z]\w*", bare) and names.new(bare, line, False) != bare and bare[1:2].islower():
                new = t.string.replace(bare, names.new(bare, line, False))  # a forward reference to a class
            elif "`" in body:
                new = TICKS.sub(lambda m: in_text(m[0], names, line), t.string)
        if t.type in (tokenize.STRING, tokenize.COMMENT):
            new = re.sub(r"\b[A-Z][a-z]+[A-Z]\w+", lambda w: names.new(w[0], line, False), new)
        if new != t.string:
            edits.append((t.start, t.end, new))
            count += 1
        if t.type not in (tokenize.NL, tokenize.COMMENT, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            before.append(t.string)
    before, text = text, replaced(text, edits)

    def alias(m):
        return m[0] if m[0] in before else f"import {m[1]}"

    return re.sub(r"\bimport (\w+) as \1\b(?=\s*$)", alias, text, flags=re.M), count


CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]*")


def columns_in(path, text, module, alias):
    """from module import A, B -> from package import module as alias, with alias.A for A."""
    tree = ast.parse(text)
    package, last = module.rsplit(".", 1)
    nodes = [n for n in tree.body if isinstance(n, ast.ImportFrom) and n.module == module]
    names = {(a.asname or a.name): a.name for n in nodes for a in n.names if CONSTANT.fullmatch(a.name)}
    if not names:
        return text, 0
    stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    stored |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    if alias in stored:
        report["collision"].append(f"{path}: {alias} is a variable; columns left as they are")
        return text, 0
    for n in sorted(names.keys() & stored):
        report["collision"].append(f"{path}: {n} is bound again; not taken from {alias}")
        del names[n]
    already = any(
        isinstance(n, ast.ImportFrom)
        and n.module == package
        and any(a.name == last and a.asname == alias for a in n.names)
        for n in tree.body
    )
    ends = {}
    edits, count = [], 0
    for k, n in enumerate(nodes):
        ends[n.lineno] = n.end_lineno
        rest = [a for a in n.names if (a.asname or a.name) not in names]
        new = "" if k or already else f"from {package} import {last} as {alias}\n"
        if rest:
            listed = ", ".join(a.name + (f" as {a.asname}" if a.asname else "") for a in rest)
            new += f"from {module} import ({listed})"
        edits.append(((n.lineno, 0), (n.end_lineno, n.end_col_offset), new.rstrip("\n")))
    inside, before, fstring_names = set(), "", re.compile(r"(?<![\w.])(" + "|".join(map(re.escape, names)) + r")(?!\w)")
    for n in ast.walk(tree):
        if isinstance(n, ast.Import | ast.ImportFrom):
            inside |= set(range(n.lineno, n.end_lineno + 1))
    ticks = docstrings(tree)
    for t in tokens(text):
        if t.start[0] in inside:
            before = t.string
            continue
        if t.type == tokenize.NAME and t.string in names and before != ".":
            edits.append((t.start, t.end, f"{alias}.{names[t.string]}"))
            count += 1
        elif t.type == tokenize.STRING and re.match(r"[rR]?[fF]", t.string) and t.start[0] not in ticks:
            new = re.sub(r"\{[^{}]*\}", lambda m: fstring_names.sub(lambda w: f"{alias}.{names[w[1]]}", m[0]), t.string)
            if new != t.string:
                edits.append((t.start, t.end, new))
        if t.type not in (tokenize.NL, tokenize.COMMENT):
            before = t.string
    return replaced(text, edits), count


def cased(m, new):
    new = m.expand(new)
    return new[:1].upper() + new[1:] if m[0][:1].isupper() else new


class Prose:
    def __init__(self, path, rules, used):
        self.rules = []
        for group in rules:
            if matches(path, group["files"]) and not matches(path, group.get("but", [])):
                for old, new in group["rules"]:
                    self.rules.append(
                        (
                            re.compile(
                                old.replace(" ", r"(?:\s+(?:# )?)") if False else old,
                                re.I if group.get("nocase", True) else 0,
                            ),
                            new,
                            (id(group), old),
                        )
                    )
        self.used = used

    def __call__(self, text):
        kept = []

        def hide(m):
            kept.append(m[0])
            return f"\0{len(kept) - 1}\0"

        text = re.sub(r"```.*?```|`[^`\n]*`|\]\([^)\n]*\)|https?://\S+", hide, text, flags=re.S)
        for old, new, key in self.rules:
            text, n = old.subn(lambda m, new=new: cased(m, new), text)
            self.used[key] += n
        return re.sub("\0(\\d+)\0", lambda m: kept[int(m[1])], text)


def prose_in(path, text, prose, messages):
    if not path.endswith(".py"):
        new = prose(text)
        return new, new != text
    docs = docstrings(ast.parse(text))
    edits = []
    for t in tokens(text):
        new = t.string
        if t.type == tokenize.COMMENT or (t.type == tokenize.STRING and t.start[0] in docs and '"""' in t.string):
            new = prose(t.string)
        elif t.type == tokenize.STRING and messages and " " in t.string:
            if "f" in re.match(r"[A-Za-z]*", t.string)[0].lower():
                new = "".join(p if p.startswith("{") else prose(p) for p in re.split(r"(\{[^{}]*\})", t.string))
            else:
                new = prose(t.string)
        if new != t.string:
            edits.append((t.start, t.end, new))
    return replaced(text, edits), len(edits)


LIMIT = 120


def short_lines(path, text):
    """Comments and docstrings that grew beyond the limit: the last words go to the next line."""
    if all(len(s) <= LIMIT for s in text.splitlines()):
        return text
    spans = [(t.start[0], t.end[0]) for t in tokens(text) if t.type == tokenize.STRING and '"""' in t.string]
    comments = {t.start[0]: t.start[1] for t in tokens(text) if t.type == tokenize.COMMENT}
    lines, out, k = text.splitlines(), [], 0
    inside = {l for a, b in spans for l in range(a, b + 1)}
    while k < len(lines):
        s, number = lines[k], k + 1
        if len(s) <= LIMIT or "noqa" in s:
            out.append(s)
        elif number in comments and s[: comments[number]].strip():
            at = comments[number]
            indent = re.match(r" *", s)[0]
            words, row = s[at:].lstrip("# ").split(), indent + "#"
            if re.match(r"# (noqa|type:|fmt:)", s[at:]):
                out.append(s)
                report["too long"].append(f"{path}:{number}")
            else:
                for w in words:
                    if len(row) + 1 + len(w) > LIMIT:
                        out.append(row)
                        row = indent + "#"
                    row += " " + w
                out += [row, s[:at].rstrip()]
        elif number in inside or number in comments:
            indent = re.match(r" *(?:# ?)?", s)[0]
            cut = s.rfind(" ", 0, LIMIT + 1)
            if (
                s.rstrip().endswith('"""')
                and number in inside
                and len(s) - len('"""') <= LIMIT
                and any(a < number == b for a, b in spans)
            ):
                out += [s.rstrip()[:-3], indent + '"""']
            elif number in inside and any(a == number == b for a, b in spans):  # a docstring of one line
                head, tail = s[:cut], s[cut + 1 :]
                pad = re.match(r" *", s)[0]
                out += [head, "", pad + tail[:-3], pad + '"""']
            else:
                tail = s[cut + 1 :]
                out.append(s[:cut])
                after = lines[k + 1] if k + 1 < len(lines) else ""
                same = re.match(r" *(?:# ?)?", after)[0] == indent and after.strip() not in ("", '"""')
                first = any(a == number for a, b in spans)
                if first:
                    report["long summary"].append(f"{path}:{number}")
                if same and (number + 1 in inside or number + 1 in comments):
                    lines[k + 1] = indent + tail + " " + after[len(indent) :]
                    if number in comments and number + 1 in comments:
                        pass
                else:
                    lines.insert(k + 1, indent + tail)
                    inside = {l + (l > number) for l in inside} | ({number + 1} if number in inside else set())
                    comments = {l + (l > number): c for l, c in comments.items()}
                    if number in comments:
                        comments[number + 1] = comments[number]
                    spans = [
                        (a + (a > number), b + (b > number)) if number not in range(a, b + 1) else (a, b + 1)
                        for a, b in spans
                    ]
        elif ", " in s[:LIMIT]:  # code that is not formatted (fmt: skip)
            cut = s.rindex(", ", 0, LIMIT)
            out += [s[: cut + 1], re.match(r" *", s)[0] + s[cut + 2 :]]
        else:
            out.append(s)
            report["too long"].append(f"{path}:{number}")
        k += 1
    return "\n".join(out) + "\n"


def bare(text):
    """The tree without docstrings."""
    tree = ast.parse(text)
    for n in ast.walk(tree):
        if isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant) and isinstance(n.value.value, str):
            n.value.value = ""
    return tree


def moves(root, maps, dry):
    files, pairs = tracked(root), []
    for old, new in ((o, n) for m in maps for o, n in m.get("moves", {}).items()):
        if old not in files:
            (report["already moved"] if new in files else report["not there"]).append(f"{old} -> {new}")
        else:
            report["moved"].append(f"{old} -> {new}")
            if not dry:
                (root / new).parent.mkdir(parents=True, exist_ok=True)
                subprocess.run(["git", "mv", old, new], cwd=root, check=True)
        pairs.append((old, new))
    if dry:
        return
    for path in tracked(root):
        if not re.search(r"\.(py|md|toml|yml|yaml|sh|txt|cfg)$|Makefile$", path):
            continue
        if path.startswith("CHANGELOG"):
            continue
        text = was = (root / path).read_text()
        for old, new in pairs:
            a, b = old.removesuffix(".py"), new.removesuffix(".py")
            text = re.sub(rf"(?<![\w/]){re.escape(a)}(?=\.py\b|\b(?![\w/]))", b, text)
            da, db = a.replace("/", "."), b.replace("/", ".")
            text = re.sub(rf"(?<![\w.]){re.escape(da)}(?!\w)", db, text)
            (pa, la), (pb, lb) = da.rsplit(".", 1), db.rsplit(".", 1)
            text = re.sub(rf"(from {re.escape(pa)} import (?:[\w, ]*\b)?){la}\b(?! as {la}\b)", rf"\g<1>{lb}", text)
            if pa == pb:
                text = re.sub(rf"\"{re.escape(pa.split('.', 1)[-1])}\.{la}\"", f'"{pa.split(".", 1)[-1]}.{lb}"', text)
                folder = a.rsplit("/", 1)[0]
                short = folder.rsplit("/", 1)[-1] + "/" + la
                text = re.sub(rf"(?<![\w/]){re.escape(short)}(?=\.py\b)", folder.rsplit("/", 1)[-1] + "/" + lb, text)
        if text != was:
            (root / path).write_text(text)
            report["paths"].append(path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=Path)
    parser.add_argument("--map", action="append", type=Path)
    parser.add_argument("--only", default="moves,names,columns,prose,format")
    parser.add_argument("--dry", action="store_true")
    args = parser.parse_args()
    root, parts = args.root.resolve(), args.only.split(",")
    files = args.map or sorted(HERE.glob("map*.toml"))
    maps = [tomllib.loads(f.read_text()) for f in files]
    if "moves" in parts:
        moves(root, maps, args.dry)
    used = collections.Counter()
    scopes = [s for m in maps for s in m.get("scope", [])]
    columns = [c for m in maps for c in m.get("columns", [])]
    prose = [p for m in maps for p in m.get("prose", [])]
    skip = [g for m in maps for g in m.get("never", [])]
    totals = collections.Counter()
    texts = [t for m in maps for t in m.get("text", [])]
    for path in tracked(root):
        if not path.endswith((".py", ".md")) or matches(path, skip):
            continue
        was = text = (root / path).read_text()
        for group in texts if "names" in parts else []:
            if matches(path, group["files"]):
                for old, new in group["rules"]:
                    text, n = re.subn(old, new, text, flags=re.M)
                    used[id(group), old] += n
        if path.endswith(".py") and "names" in parts:
            names = Names(path, text, scopes, used)
            if names:
                text, n = names_in(path, text, names)
                totals["identifiers"] += n
        elif "names" in parts:
            docs = [(0, 10**9, s) for s in scopes if matches(path, s["files"]) and not s.get("within")]
            if docs:
                names = Names.__new__(Names)
                names.ranges, names.used = docs, used
                text = in_text(text, names, 1)
        if path.endswith(".py") and "columns" in parts:
            for c in columns:
                if matches(path, c["files"]):
                    text, n = columns_in(path, text, c["module"], c["alias"])
                    totals["columns"] += n
        if "prose" in parts:
            rules = Prose(path, prose, used)
            if rules.rules:
                text, n = prose_in(path, text, rules, True)
                totals["texts"] += n
        if text != was:
            totals["files"] += 1
            if path.endswith(".py"):
                try:
                    ast.parse(text)
                except SyntaxError as e:
                    report["broken"].append(f"{path}:{e.lineno} {e.msg}")
                    if args.dry:
                        continue
            if not args.dry:
                (root / path).write_text(text)
    if "format" in parts and not args.dry:
        ruff = str(root / ".venv/bin/ruff")
        changed = [p for p in tracked(root) if p.endswith(".py")]
        subprocess.run([ruff, "check", "-q", "--select", "I", "--fix", *changed], cwd=root)
        subprocess.run([ruff, "format", "-q", *changed], cwd=root)
        for path in changed:
            text = (root / path).read_text()
            if (new := short_lines(path, text)) != text:
                try:
                    same = ast.dump(bare(new)) == ast.dump(bare(text))
                except SyntaxError:
                    same = False
                if same:
                    (root / path).write_text(new)
                else:
                    report["not wrapped"].append(path)
        subprocess.run([ruff, "format", "-q", *changed], cwd=root)
    if "names" in parts:
        for s in scopes:
            for key in s["names"]:
                if not used[id(s), key]:
                    report["name not there"].append(
                        f"{key} -> {s['names'][key]}  in {' '.join(s['files'])} {s.get('within', '')}"
                    )
    if "prose" in parts:
        for p in prose:
            for old, _ in p["rules"]:
                if not used[id(p), old]:
                    report["rule not used"].append(old)
    for kind, rows in report.items():
        print(f"== {kind}: {len(rows)}")
        print("\n".join("  " + r for r in rows))
    print("==", dict(totals))
    return 1 if report["broken"] or report["collision"] else 0


if __name__ == "__main__":
    sys.exit(main())
