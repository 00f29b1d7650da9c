# SPDX-License-Identifier: Apache-2.0
"""Names of functions, variables and files, reduced to what every build and tool agrees on.

A function that was inlined and is not visible outside its file has only its bare name in the debug
information of gcc, and its qualified one everywhere else. So the bare name is what is kept: without
namespaces, classes, template arguments, parameters, return type and the suffixes of clones.
"""

import re
from functools import lru_cache

from eitherway.model.trace import Place

_LONGEST = 1 << 14  # signs of a name that are looked at; a hostile one must not take minutes
LAMBDA = "operator()"  # all that gcc keeps of the name of an inlined lambda

_UNKNOWN = frozenset({"", "??", "<null>", "<unknown>", "(null)", "<unknown module>", "[unknown]"})
_CLONE = re.compile(
    r"(?:\.(?:actor|clone|cold|constprop|destroy|isra|llvm|localalias|lto_priv|part|resume"
    r"|__uniq)(?:\.\d+)*)+$| \[clone [^\]]*\]$|@@?[\w.]+$|::h[0-9a-f]{16}$"
)
_OUTLINED = re.compile(r"(?:\._omp_fn\.\d+|\.omp_outlined.*)$")
_SYMBOLS = re.compile(
    r"\boperator ?(\(\)|\[\]|<=>|->\*|->|<<=|>>=|<<|>>|<=|>=|<|>|[-+*/%^&|~!=,]+)"
)
_OPERATOR = re.compile(r"(?<![\w$])operator(?![\w$])")
_SIGNS = "()[]<>=-*+/%^&|~!,"
_HIDDEN = str.maketrans({sign: chr(0xE000 + ord(sign)) for sign in _SIGNS})  # no bracket any more
_SHOWN = str.maketrans({chr(0xE000 + ord(sign)): sign for sign in _SIGNS})
_QUALIFIER = re.compile(r"(?: (?:const|volatile|noexcept|&&?)| ?&&?)+$")
_UNNAMED = re.compile(r"^(?:\$_\d*|'lambda\d*'|_FUN|__invoke)?$")
_BRACKET = re.compile(r"[][(){}<]|(?<!-)>")  # the sign of `->` is none
_CLOSING = {")": "(", ">": "<", "}": "{", "]": "["}

_RUNTIME_MODULE = re.compile(
    r"^(?:libc|libm|libpthread|libdl|librt|ld-linux[\w-]*|ld|libtsan|libeitherway_rt"
    r"|libclang_rt[\w.-]*|vgpreload_\w+-[\w-]+)[.-]"
)
_LIBRARY_MODULE = re.compile(r"^(?:libstdc\+\+|libc\+\+|libc\+\+abi|libgcc_s|libgomp|libomp)\.")
_LIBRARY_FILE = re.compile(
    r"^/usr/(?:local/)?include/|/include/c\+\+/|^/usr/lib/(?:gcc|llvm)|(?:^|/)libsanitizer/"
    r"|(?:^|/)compiler-rt/lib/|(?:^|/)libstdc\+\+-v3/|(?:^|/)sysdeps/"
)
_LIBRARY_NAME = re.compile(
    r"^(?:std|__gnu_cxx|__cxxabiv1|__gnu_debug)::|^__kmpc?_|^__cxa_|^GOMP_"
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
    name = _OUTLINED.sub("", _without_clones(name[:_LONGEST]))
    name = _SYMBOLS.sub(lambda found: "operator" + found[1].translate(_HIDDEN), name)
    name = _QUALIFIER.sub("", _outside_brackets(name).rstrip())
    scopes, operator, symbol = _last_operator(name)
    scopes = scopes.rsplit(" ", 1)[-1].lstrip("*&")
    return scopes + operator + symbol.translate(_SHOWN)


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


def base(path: str) -> str:
    """The last part of a path; what stands before it differs from machine to machine."""
    return path.rsplit("/", 1)[-1]


def _without_clones(name: str) -> str:
    shorter = _CLONE.sub("", name)
    while shorter != name:
        name, shorter = shorter, _CLONE.sub("", shorter)
    return name


def _last_operator(name: str) -> tuple[str, str, str]:
    """What stands before `operator`, that word, and behind it; the whole name first if it has none.

    The type of a conversion (`operator std::string`) has scopes of its own and must not be split.
    """
    parts = _OPERATOR.split(name)
    if len(parts) == 1:
        return name, "", ""
    return "operator".join(parts[:-1]), "operator", parts[-1]


def _outside_brackets(name: str) -> str:
    """The name without everything in brackets; a comparison inside parentheses is no bracket."""
    kept: list[str] = []
    opened: list[str] = []
    outside = 0  # where the text behind the last bracket begins
    for found in _BRACKET.finditer(name):
        sign, top = found[0], opened[-1] if opened else ""
        if sign in "({[" or (sign == "<" and top != "("):
            if not opened:
                kept.append(name[outside : found.start()])
            opened.append(sign)
        elif opened and _CLOSING.get(sign) == top:
            opened.pop()
            outside = found.end()
    return "".join(kept) + ("" if opened else name[outside:])


_TEMPORARY = re.compile(r"^(/tmp|/var/tmp|/dev/shm|/run/user/\d+)/")
_SAME_EVERYWHERE = re.compile(r"^/(?:bin|dev|etc|lib|lib64|proc|run|sbin|sys|usr|var)/")
_RANDOM = re.compile(  # as mktemp, compilers and Python make them; or a process id
    r"\b(tmp[._-]?|cc)[A-Za-z0-9_]{6,}\b|\b\d{3,}\b"
    r"|\b(?=[a-z_]*[A-Z0-9])(?=[A-Z]*[a-z0-9])[A-Za-z0-9_]{6,}\b"
)
_NUMBER_PART = re.compile(r"(?<=/)\d+(?=/|$)")
_INODE = re.compile(r":\[\d+\]")


def portable_path(path: str) -> str:
    """A path without what differs between machines and runs.

    Relative paths and those of the system are kept whole; of others, as they lie in somebody's home
    or build folder, the last part remains. Process ids and random parts of names become `#`.
    """
    path = path.removesuffix(" (deleted)")
    if _TEMPORARY.match(path):
        return _RANDOM.sub(_generated, base(path.rstrip("/")))
    path = _NUMBER_PART.sub("#", path)
    if path.startswith("/") and not _SAME_EVERYWHERE.match(path):
        return base(path.rstrip("/"))
    return path


def _generated(found: re.Match[str]) -> str:
    return (found[1] or "") + "#"


_ADDRESS = re.compile(r"\+?\b0x[0-9a-fA-F]+\b|\+\d+$")
_AMOUNT = re.compile(r"\b(?:at )?0x[0-9a-fA-F]+|\bof (?:size )?\d+(?: bytes)?|\d+")
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
