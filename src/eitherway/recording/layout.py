# SPDX-License-Identifier: Apache-2.0
"""The layout of recordings and control messages.

Written by format/generate.py from format/recording.toml: change that, then run `make generate`.
"""

import struct
from enum import IntEnum
from typing import Any

import numpy as np

FORMAT_NAME = "eitherway-recording"
MAJOR = 1
MINOR = 0
MANIFEST = "MANIFEST"
BEGUN = "MANIFEST.begun"
STREAM_SUFFIX = ".blocks"
BLOCK_MAGIC = b"EWBK"
CONTROL_MAGIC = b"EWCP"
CONTROL_VERSION = 2
# Bytes of the largest record, without its tail.
MAX_RECORD = 112
# Bytes of payload in one block. A reader holds one block at a time.
MAX_PAYLOAD = 1048576
# Stream files of one recording.
MAX_STREAMS = 64
# Bytes of a MANIFEST; a command line on Linux is at most 2 MiB.
MAX_MANIFEST = 8388608
# Records of one table: they are numbered with a u32, and 0xffffffff means none.
MAX_RECORDS = 4294967295
# Bytes of payload in one control message.
MAX_MESSAGE = 1048576


class BlockType(IntEnum):
    """What the payload of a block is."""

    STRINGS = 1
    ACTORS = 2
    OBJECTS = 3
    RANGES = 4
    PLACES = 5
    STACKS = 6
    OPERATIONS = 7
    VALUES = 8
    EDGES = 9
    CHOICES = 16
    INPUT = 17
    METADATA = 18
    THREAD_EVENTS = 32
    THREAD_FRAMES = 33
    THREAD_MODULES = 34
    THREAD_VALUES = 35
    THREAD_REGIONS = 36
    THREAD_CORRECTIONS = 38
    THREAD_MEMORY = 39
    THREAD_LOCALS = 40
    THREAD_NAMES = 41
    THREAD_CHANGES = 42
    THREAD_STALE = 43
    THREAD_REGISTERS = 44
    THREAD_ASKED = 37
    PROCESS_CALLS = 48
    PROCESS_OBJECTS = 49
    PROCESS_LOOKUPS = 50
    PROCESS_TEXTS = 51
    PROCESS_EVENTS = 52
    PROCESS_DATA = 53
    PROCESS_TURNS = 54


class MessageType(IntEnum):
    """What a control message says."""

    HELLO = 1
    READY = 2
    ERROR = 3
    STOP = 4
    RUN = 256
    STARTED = 257
    ENDED = 258
    SURVEY = 259
    SURVEYED = 260


BLOCK_HEADER = struct.Struct("<4sHHIIII")
THREAD_EVENT = struct.Struct("<QQIIIIBBBBI")
THREAD_VALUE = struct.Struct("<Q")
THREAD_CORRECTION = struct.Struct("<QII")
THREAD_FRAME = struct.Struct("<IIQ")
THREAD_NAME = struct.Struct("<II")
THREAD_REGION = struct.Struct("<QQIIQ")
THREAD_MEMORY = struct.Struct("<QQIIII")
THREAD_LOCAL = struct.Struct("<IIQ")
THREAD_CHANGE = struct.Struct("<QQQ")
THREAD_STALE = struct.Struct("<QQQQII")
THREAD_REGISTERS = struct.Struct("<QQQQQQQQQII")
THREAD_ASKED = struct.Struct("<IIQQQQ")
THREAD_MODULE = struct.Struct("<QQQII")
PROCESS_CALL = struct.Struct("<QQQQQQQQQQIIIIIIQ")
PROCESS_OBJECT = struct.Struct("<QQII")
PROCESS_LOOKUP = struct.Struct("<IIIIII")
PROCESS_TEXT = struct.Struct("<I")
PROCESS_EVENT = struct.Struct("<QQIIIIII")
PROCESS_DATA = struct.Struct("<IIII")
PROCESS_TURN = struct.Struct("<QIIIIIIII")
STRING = struct.Struct("<I")
ACTOR = struct.Struct("<IIIIQ")
OBJECT = struct.Struct("<III")
RANGE = struct.Struct("<IIQQ")
PLACE = struct.Struct("<IIIIIIQ")
STACK = struct.Struct("<II")
OPERATION = struct.Struct("<IIIBBH")
VALUE = struct.Struct("<Q")
EDGE = struct.Struct("<IIBBH")
CHOICE = struct.Struct("<I")
INPUT = struct.Struct("<IIII")
METADATA = struct.Struct("<II")
FAMILY_HEAD = struct.Struct("<QQQQQQQQQQQ")
FOUND_ROW = struct.Struct("<QQQQQIIIIIBBBB")
MEMBER = struct.Struct("<IIIIIIIIQII")
SCHEDULE_HEAD = struct.Struct("<QQQQQQQ")
SCHEDULE_SWITCH = struct.Struct("<QII")
INPUTS_HEAD = struct.Struct("<QQ")
INPUTS_ITEM = struct.Struct("<IIQ")
GUIDE_HEAD = struct.Struct("<IIIIIIIIIIIIQQIIIIII")
GUIDE_THREAD = struct.Struct("<IIIIQQQQ")
GUIDE_DECISION = struct.Struct("<BBBBIII")
CONTROL_HEADER = struct.Struct("<4sHHII")
CONTROL_SURVEY = struct.Struct("<QIIII")
SURVEY_HEAD = struct.Struct("<QQ")
SURVEY_ROW = struct.Struct("<QQQQQQQII")
CONTROL_RUN = struct.Struct("<II")
CONTROL_STARTED = struct.Struct("<II")
CONTROL_ENDED = struct.Struct("<IIQQQ")
CONTROL_HELLO = struct.Struct("<IIQ")
CONTROL_ERROR = struct.Struct("<II")
BLOCK_HEADER_CRC_OFFSET = 20

# Rows of the tables without tails; what is named reserved is a gap between columns.
TABLES: dict[BlockType, np.dtype[Any]] = {
    BlockType.ACTORS: np.dtype(
        {
            "names": ["name", "parent", "started_by", "native_id"],
            "formats": ["<u4", "<u4", "<u4", "<u8"],
            "offsets": [0, 4, 8, 16],
            "itemsize": 24,
        }
    ),
    BlockType.OBJECTS: np.dtype(
        {
            "names": ["kind", "name", "stack"],
            "formats": ["<u4", "<u4", "<u4"],
            "offsets": [0, 4, 8],
            "itemsize": 12,
        }
    ),
    BlockType.RANGES: np.dtype(
        {
            "names": ["object", "lo", "hi"],
            "formats": ["<u4", "<u8", "<u8"],
            "offsets": [0, 8, 16],
            "itemsize": 24,
        }
    ),
    BlockType.PLACES: np.dtype(
        {
            "names": ["function", "file", "line", "column", "module", "offset"],
            "formats": ["<u4", "<u4", "<u4", "<u4", "<u4", "<u8"],
            "offsets": [0, 4, 8, 12, 16, 24],
            "itemsize": 32,
        }
    ),
    BlockType.STACKS: np.dtype(
        {
            "names": ["caller", "place"],
            "formats": ["<u4", "<u4"],
            "offsets": [0, 4],
            "itemsize": 8,
        }
    ),
    BlockType.OPERATIONS: np.dtype(
        {
            "names": ["actor", "range", "stack", "kind", "flags"],
            "formats": ["<u4", "<u4", "<u4", "u1", "u1"],
            "offsets": [0, 4, 8, 12, 13],
            "itemsize": 16,
        }
    ),
    BlockType.VALUES: np.dtype("<u8"),
    BlockType.EDGES: np.dtype(
        {
            "names": ["source", "target", "kind"],
            "formats": ["<u4", "<u4", "u1"],
            "offsets": [0, 4, 8],
            "itemsize": 12,
        }
    ),
    BlockType.CHOICES: np.dtype("<u4"),
    BlockType.THREAD_EVENTS: np.dtype(
        {
            "names": [
                "address",
                "step",
                "thread",
                "site",
                "size",
                "follows",
                "op",
                "flags",
                "order",
            ],
            "formats": ["<u8", "<u8", "<u4", "<u4", "<u4", "<u4", "u1", "u1", "u1"],
            "offsets": [0, 8, 16, 20, 24, 28, 32, 33, 34],
            "itemsize": 40,
        }
    ),
    BlockType.THREAD_FRAMES: np.dtype(
        {
            "names": ["caller", "pc"],
            "formats": ["<u4", "<u8"],
            "offsets": [0, 8],
            "itemsize": 16,
        }
    ),
    BlockType.THREAD_VALUES: np.dtype("<u8"),
    BlockType.THREAD_REGIONS: np.dtype(
        {
            "names": ["lo", "hi", "event", "thread", "origin"],
            "formats": ["<u8", "<u8", "<u4", "<u4", "<u8"],
            "offsets": [0, 8, 16, 20, 24],
            "itemsize": 32,
        }
    ),
    BlockType.THREAD_CORRECTIONS: np.dtype(
        {
            "names": ["value", "event"],
            "formats": ["<u8", "<u4"],
            "offsets": [0, 8],
            "itemsize": 16,
        }
    ),
    BlockType.THREAD_MEMORY: np.dtype(
        {
            "names": ["address", "size", "event", "site", "thread", "what"],
            "formats": ["<u8", "<u8", "<u4", "<u4", "<u4", "<u4"],
            "offsets": [0, 8, 16, 20, 24, 28],
            "itemsize": 32,
        }
    ),
    BlockType.THREAD_LOCALS: np.dtype(
        {
            "names": ["event", "site", "below"],
            "formats": ["<u4", "<u4", "<u8"],
            "offsets": [0, 4, 8],
            "itemsize": 16,
        }
    ),
    BlockType.THREAD_CHANGES: np.dtype(
        {
            "names": ["address", "before", "after"],
            "formats": ["<u8", "<u8", "<u8"],
            "offsets": [0, 8, 16],
            "itemsize": 24,
        }
    ),
    BlockType.THREAD_ASKED: np.dtype(
        {
            "names": ["depth", "frames", "from", "until", "low", "high"],
            "formats": ["<u4", "<u4", "<u8", "<u8", "<u8", "<u8"],
            "offsets": [0, 4, 8, 16, 24, 32],
            "itemsize": 40,
        }
    ),
    BlockType.PROCESS_CALLS: np.dtype(
        {
            "names": [
                "a0",
                "a1",
                "a2",
                "a3",
                "a4",
                "a5",
                "result",
                "position",
                "entered",
                "left",
                "thread",
                "index",
                "number",
                "object",
                "second",
                "flags",
                "value",
            ],
            "formats": [
                "<u8",
                "<u8",
                "<u8",
                "<u8",
                "<u8",
                "<u8",
                "<u8",
                "<u8",
                "<u8",
                "<u8",
                "<u4",
                "<u4",
                "<u4",
                "<u4",
                "<u4",
                "<u4",
                "<u8",
            ],
            "offsets": [0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 84, 88, 92, 96, 100, 104],
            "itemsize": 112,
        }
    ),
    BlockType.PROCESS_OBJECTS: np.dtype(
        {
            "names": ["device", "inode", "mode", "links"],
            "formats": ["<u8", "<u8", "<u4", "<u4"],
            "offsets": [0, 8, 16, 20],
            "itemsize": 24,
        }
    ),
    BlockType.PROCESS_LOOKUPS: np.dtype(
        {
            "names": ["call", "directory", "name", "found", "path", "flags"],
            "formats": ["<u4", "<u4", "<u4", "<u4", "<u4", "<u4"],
            "offsets": [0, 4, 8, 12, 16, 20],
            "itemsize": 24,
        }
    ),
    BlockType.PROCESS_EVENTS: np.dtype(
        {
            "names": ["when", "value", "thread", "index", "kind", "other", "text", "process"],
            "formats": ["<u8", "<u8", "<u4", "<u4", "<u4", "<u4", "<u4", "<u4"],
            "offsets": [0, 8, 16, 20, 24, 28, 32, 36],
            "itemsize": 40,
        }
    ),
    BlockType.PROCESS_TURNS: np.dtype(
        {
            "names": [
                "result",
                "thread",
                "index",
                "number",
                "flags",
                "name",
                "child",
                "occurrence",
            ],
            "formats": ["<u8", "<u4", "<u4", "<u4", "<u4", "<u4", "<u4", "<u4"],
            "offsets": [0, 8, 12, 16, 20, 24, 28, 32],
            "itemsize": 40,
        }
    ),
}

# The part of a record before its tail; its last field is the length of the tail.
HEADS: dict[BlockType, struct.Struct] = {
    BlockType.STRINGS: STRING,
    BlockType.INPUT: INPUT,
    BlockType.METADATA: METADATA,
    BlockType.THREAD_MODULES: THREAD_MODULE,
    BlockType.THREAD_NAMES: THREAD_NAME,
    BlockType.THREAD_STALE: THREAD_STALE,
    BlockType.THREAD_REGISTERS: THREAD_REGISTERS,
    BlockType.PROCESS_TEXTS: PROCESS_TEXT,
    BlockType.PROCESS_DATA: PROCESS_DATA,
}

# Keys of the manifest and their types; those in SHAPES are objects, in LISTS arrays.
MANIFEST_KEYS: dict[str, str] = {
    "format": "string",
    "version": "version",
    "tool": "string",
    "complete": "boolean",
    "world": "string",
    "recorded_by": "string",
    "created": "string",
    "command": "strings",
    "host": "host",
    "build_ids": "names",
    "streams": "streams",
}
SHAPES: dict[str, dict[str, str]] = {
    "host": {
        "kernel": "string",
        "machine": "string",
        "cpu": "string",
    },
    "streams": {
        "name": "string",
        "size": "integer",
        "blocks": "integer",
        "crc": "integer",
        "holds": "strings",
    },
}
LISTS = frozenset({"streams"})
