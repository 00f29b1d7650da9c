# SPDX-License-Identifier: Apache-2.0
"""Names of functions and variables, reduced to what every build and tool agrees on.

A function that was inlined and is not visible outside its file has only its bare name in the debug
information of gcc, and its qualified one everywhere else. So the bare name is what is kept: without
namespaces, classes, template arguments, parameters, return type and the suffixes of clones.
"""

import re
from functools import lru_cache
from itertools import pairwise

from eitherway.model.paths import base, portable_path
from eitherway.model.place import Place

LONGEST = 1 << 14  # signs of a name that are looked at; those of templates have thousands
LAMBDA = "operator()"  # all that gcc keeps of the name of an inlined lambda

_UNKNOWN = frozenset({"", "??", "<null>", "<unknown>", "(null)", "<unknown module>", "[unknown]"})
_CLONE_WORDS = frozenset(
    {"actor", "clone", "cold", "constprop", "destroy", "isra"}
    | {"llvm", "localalias", "lto_priv", "part", "resume", "__uniq"}
)
# Backwards: what is looked for stands at the end of a name, and must not be sought at every sign.
_WORD_BACKWARDS = re.compile(r"[\w.]+")
_AT_BACKWARDS = re.compile(r"@@?")  # f@plt, f@@VERSION_1.0
_HASH = re.compile(r"h[0-9a-f]{16}")  # f::h0123456789abcdef, of Rust
_CLONE_BACKWARDS = re.compile(r"\][^][]* enolc\[ ")  # f [clone .cold]
_OUTLINED = re.compile(r"(?:\._omp_fn\.\d+|\.omp_outlined.*)$")
_SYMBOLS = re.compile(
    r"\boperator ?(\(\)|\[\]|<=>|->\*|->|<<=|>>=|<<|>>|<=|>=|<|>|[-+*/%^&|~!=,]+)"
)
_OPERATOR = re.compile(r"(?<![\w$])operator(?![\w$])")
_SIGNS = "()[]<>=-*+/%^&|~!,"
_HIDDEN = str.maketrans({sign: chr(0xE000 + ord(sign)) for sign in _SIGNS})  # no bracket any more
_SHOWN = str.maketrans({chr(0xE000 + ord(sign)): sign for sign in _SIGNS})
_QUALIFIERS = (" const", " volatile", " noexcept", " &", "&")
_UNNAMED = re.compile(r"^(?:\$_\d*|'lambda\d*'|_FUN|__invoke)?$")
_BRACKET = re.compile(r"[][(){}<]|(?<!-)>")  # the sign of `->` is none
_RETURNING = re.compile(r"(?:\((?:\w+::)*[*&]+(?: ?const)? ?)+")
_CLOSING = {")": "(", ">": "<", "}": "{", "]": "["}

_RUNTIME_MODULE = re.compile(
    r"^(?:libc|libm|libpthread|libdl|librt|ld-linux[\w-]*|ld|libtsan|libeitherway_rt"
    r"|libclang_rt[\w.-]*|vgpreload_\w+-[\w-]+)[.-]"
)
_LIBRARY_MODULE = re.compile(r"^(?:libstdc\+\+|libc\+\+|libc\+\+abi|libgcc_s|libgomp|libomp)\.")
_LIBRARY_FILE = re.compile(
    r"^/usr/(?:local/)?include/|/include/c\+\+/|^/usr/lib/(?:gcc|llvm)|(?:^|/)libsanitizer/"
    r"|(?:^|/)compiler-rt/lib/|(?:^|/)libstdc\+\+-v3/|(?:^|/)sysdeps/"
    r"|^(?:(?:hg|drd_pthread)_intercepts|vg_replace_malloc|pthread_create)\.c$|^clone3?\.S$"
)
_LIBRARY_NAME = re.compile(
    r"^(?:std|__gnu_cxx|__cxxabiv1|__gnu_debug)::|^__gthread_|^__kmpc?_|^__cxa_|^GOMP_"
    r"|^operator (?:new|delete)\b"
)
_RUNTIME_NAME = re.compile(r"^__(?:tsan|interceptor|sanitizer|eitherway|libc|GI|pthread)_")
_C_LIBRARY = re.compile(
    r"^(?:_+)?(?:mem(?:cpy|move|set|cmp|chr|ccpy|rchr|mem|pcpy)|str\w+|wcs\w+|wmem\w+"
    r"|malloc|calloc|realloc|free|posix_memalign|aligned_alloc|pthread_\w+|sem_\w+|call_once"
    r"|(?:v?f?s?n?)?printf|puts|f(?:open|close|read|write|puts|gets|flush)|p?read(?:v|64)?"
    r"|p?write(?:v|64)?|open(?:at)?(?:64)?|close|f?l?stat(?:64)?|unlink(?:at)?|rename(?:at2?)?"
    r"|start_thread|clone3?|_start)$"
)


@lru_cache(maxsize=1 << 16)
def qualified(name: str) -> str:
    """The name with its scopes, without arguments, return type and clone suffixes."""
    if name in _UNKNOWN:
        return ""
    name = _OUTLINED.sub("", _without_clones(name[:LONGEST]))
    name = _without_qualifiers(_declared(hidden_operators(name)).rstrip())
    scopes, operator, symbol = _last_operator(name)
    scopes = scopes.rsplit(" ", 1)[-1].lstrip("*&")
    return scopes + operator + shown_operators(symbol)


def hidden_operators(name: str) -> str:
    """The name with signs in place of those of its operators that look like brackets."""
    return _SYMBOLS.sub(lambda found: "operator" + found[1].translate(_HIDDEN), name)


def shown_operators(name: str) -> str:
    """The name that `hidden_operators` was given."""
    return name.translate(_SHOWN)


@lru_cache(maxsize=1 << 16)
def bare(name: str) -> str:
    """The last part of a function's name; lambdas and closures have one name between them."""
    whole = qualified(name)
    if not whole and name not in _UNKNOWN and not _OUTLINED.search(name):
        return LAMBDA
    scopes, operator, symbol = _last_operator(whole)
    last = operator + symbol if operator else scopes.rsplit("::", 1)[-1]
    return LAMBDA if whole and _UNNAMED.match(last) else last


def in_c_runtime(place: Place) -> bool:
    """Whether the place is in the C library, the loader or the runtime of a detector."""
    if _RUNTIME_MODULE.match(base(place.module)):
        return True
    name = qualified(place.function)
    if _RUNTIME_NAME.match(name):
        return True
    foreign = not place.file or place.file in _UNKNOWN or bool(_LIBRARY_FILE.search(place.file))
    return foreign and bool(_C_LIBRARY.match(name))


def in_library(place: Place) -> bool:
    """Whether the place is in what every program stands on, C++ and OpenMP libraries included."""
    return (
        in_c_runtime(place)
        or bool(_LIBRARY_MODULE.match(base(place.module)))
        or bool(_LIBRARY_FILE.search(place.file))
        or bool(_LIBRARY_NAME.match(qualified(place.function)))
    )


def _without_clones(name: str) -> str:
    """The name without what compilers put behind it, cut off from the end, each sign seen once."""
    backwards, cut = name[::-1], 0
    while True:
        word = _WORD_BACKWARDS.match(backwards, cut)
        end = word.end() if word else cut
        if versioned := end > cut and _AT_BACKWARDS.match(backwards, end):
            cut = versioned.end()
            continue
        kept = _kept_of(backwards[cut:end][::-1])
        if kept:
            if not _HASH.fullmatch(kept) or not backwards.startswith("::", end):
                return name[: len(name) - end + len(kept)]
            cut = end + len("::")
            continue
        clone = _CLONE_BACKWARDS.match(backwards, end)
        if clone is None:
            return name[: len(name) - end]
        cut = clone.end()


def _kept_of(word: str) -> str:
    """`f` of `f.part.1.cold`: words of compilers go, each with the numbers behind it."""
    parts = word.split(".")
    kept = last = len(parts)
    while last > 1:
        last -= 1
        if parts[last] in _CLONE_WORDS:
            kept = last
        elif not parts[last].isdecimal():
            break
    return ".".join(parts[:kept])


def _without_qualifiers(name: str) -> str:
    """The name of a member function without `const &` behind it."""
    end = len(name)
    while found := next((q for q in _QUALIFIERS if name.endswith(q, 0, end)), ""):
        end -= len(found)
    return name[:end].rstrip()


def _last_operator(name: str) -> tuple[str, str, str]:
    """What stands before `operator`, that word, and behind it; the whole name first if it has none.

    The type of a conversion (`operator std::string`) has scopes of its own and must not be split.
    """
    parts = _OPERATOR.split(name)
    if len(parts) == 1:
        return name, "", ""
    return "operator".join(parts[:-1]), "operator", parts[-1]


def _declared(name: str) -> str:
    """The name outside its brackets; of a function that returns a function, the inner part.

    In `void (*pick(int))(long)` the first bracket is not one of parameters but holds the name.
    """
    groups = _groups(name)
    for (start, end), (behind, _) in pairwise(groups):
        if end == behind and (returning := _RETURNING.match(name, start)):
            inner = _outside_brackets(name[returning.end() :]).partition(")")[0]
            return inner or _outside(name, groups)
    return _outside(name, groups)


def _outside_brackets(name: str) -> str:
    """The name without everything in brackets."""
    return _outside(name, _groups(name))


def _outside(name: str, groups: list[tuple[int, int]]) -> str:
    starts = [0, *(end for _, end in groups)]
    ends = [*(start for start, _ in groups), len(name)]
    return "".join(name[start:end] for start, end in zip(starts, ends, strict=True))


def _groups(name: str) -> list[tuple[int, int]]:
    """Where the outermost brackets begin and end; a comparison inside parentheses is none."""
    groups: list[tuple[int, int]] = []
    opened: list[str] = []
    start = 0
    for found in _BRACKET.finditer(name):
        sign, top = found[0], opened[-1] if opened else ""
        if sign in "({[" or (sign == "<" and top != "("):
            if not opened:
                start = found.start()
            opened.append(sign)
        elif opened and _CLOSING.get(sign) == top:
            opened.pop()
            if not opened:
                groups.append((start, found.end()))
    return [*groups, (start, len(name))] if opened else groups


_INODE = re.compile(r":\[\d+\]")
_ADDRESS = re.compile(r"\+?\b0x[0-9a-fA-F]+\b|\+\d+$")
_STATIC_LOCAL = re.compile(r"\.\d+$")


def portable_variable(name: str, functions: frozenset[str]) -> str:
    """A variable's name as any build spells it.

    A static variable inside a function is `counter.0` to gcc, `f.counter` or `f()::counter` to
    others; `functions` are the bare names that may stand in front of it.
    """
    name = name.strip("'\"` ")
    if "/" in name:
        return portable_path(name)
    name = _ADDRESS.sub("", _INODE.sub("", name))
    name = _STATIC_LOCAL.sub("", _outside_brackets(name)).rsplit("::", 1)[-1].strip()
    owner, _, rest = name.partition(".")
    return rest if rest and owner in functions else name


def portable_words(text: str) -> str:
    """A description ("heap block of 40 bytes at 0x7f10") without its numbers."""
    words = re.sub(
        r"\bat 0x[0-9a-fA-F]+|\b0x[0-9a-fA-F]+|\bof (?:size )?\d+(?: bytes)?|\d+", "", text
    )
    return " ".join(words.split())
