"""A worker in another language: paged_decode in numpy, from PROTOCOL.md and SCHEMA.md alone.

With --leak its cache of decoders is keyed by geometry alone and forgets the dtypes: the first case
of a geometry decides how the buffers of every later one are read and written.
"""
import json
import math
import os
import re
import sys

try:
    import h5py
    import numpy as np
    import xxhash
except ModuleNotFoundError as missing:
    sys.exit(f"numpy_worker.py: the Python package {missing.name} is missing; install it")

STORAGE = {"f32": "<f4", "f16": "<f2", "bf16": "<u2", "i32": "<i4"}
QKV = ("q", "k_pages", "v_pages")
AXES = {"q", "k", "v", "d", "hq", "hkv", "page", "ppc"}  # any other changes what is computed
LEAK = "--leak" in sys.argv[1:]
DECODERS = {}  # the carrier: it outlives every run of this process


class Buffer:
    """A tensor's bytes with thrice their size of poison behind: as far as a wrong dtype reaches."""

    def __init__(self, node, poison):
        self.type = node.attrs["type"].decode()
        self.dtype, *extents = re.findall(r"\w+", self.type)
        self.shape = tuple(map(int, extents))
        self.bytes = math.prod(self.shape) * np.dtype(STORAGE[self.dtype]).itemsize
        self.memory = np.full(4 * self.bytes, poison, np.uint8)
        content = self.memory[: self.bytes]
        if isinstance(node, h5py.Group):  # an output; the two bytes are PROTOCOL.md's
            content.fill(0xFD if poison == 0xFF else 0xFC)
        else:  # with the file's own type as the memory type nothing is converted
            node.id.read(h5py.h5s.ALL, h5py.h5s.ALL, content, mtype=node.id.get_type())

    def read(self, dtype):
        """The elements, taken for `dtype`: integers for i32, else exact doubles."""
        storage = np.dtype(STORAGE[dtype])
        words = self.memory[: math.prod(self.shape) * storage.itemsize].view(storage)
        if dtype == "bf16":
            words = (words.astype("<u4") << 16).view("<f4")
        return words.reshape(self.shape).astype("i8" if dtype == "i32" else "f8")

    def write(self, dtype, x):
        """Doubles, rounded once to `dtype`."""
        if dtype == "bf16":
            exponent = np.maximum(np.frexp(x)[1] - 1, -126) - 7
            x = np.ldexp(np.rint(np.ldexp(x, -exponent)), exponent)
            words = (x.astype("<f4").view("<u4") >> 16).astype("<u2")
        else:
            words = x.astype(STORAGE[dtype])
        self.memory[: words.nbytes] = words.reshape(-1).view(np.uint8)

    def store(self, folder):
        """Leaves the bytes in the blob folder; returns their digest."""
        content = self.memory[: self.bytes].tobytes()
        digest = xxhash.xxh3_128_hexdigest(self.type.encode() + b"\n" + content)
        with open(f"{folder}/{digest}.{os.getpid()}", "wb") as file:
            file.write(content)
        os.replace(file.name, f"{folder}/{digest}")
        return digest


def attend(q, k, v):
    """One query head over its tokens: q [d], k and v [n,d] give out [d] and lse in base 2."""
    s = np.log2(np.e) * float(np.float32(1 / math.sqrt(q.size))) * (k * q).sum(axis=1)
    if np.isnan(s).any() or np.isposinf(s).any():
        return np.nan, np.nan
    v, s = v[s > -np.inf], s[s > -np.inf]  # selected, not multiplied: 0 * NaN is NaN
    if s.size == 0:
        return 0.0, -np.inf
    lse = s.max() + np.log2(np.exp2(s - s.max()).sum())
    return (np.exp2(s - lse)[:, None] * v).sum(axis=0), lse


def decode(dtypes, inputs, outputs):
    """What a real engine would compile for these dtypes of q, k and v, and no others."""
    q, k, v = (inputs[name].read(dtype) for name, dtype in zip(QKV, dtypes))
    indptr, indices, last_page_len, first_page_offset = (
        inputs[name].read("i32")
        for name in ("page_indptr", "page_indices", "last_page_len", "first_page_offset"))
    page, group = k.shape[1], q.shape[1] // k.shape[2]
    out, lse = np.empty(q.shape), np.empty(q.shape[:2])
    for r in range(q.shape[0]):
        pages = indices[indptr[r] : indptr[r + 1]]
        end = (pages.size - 1) * page + last_page_len[r] if pages.size else 0
        slot = np.arange(first_page_offset[r], end)
        row_k, row_v = (pool[pages[slot // page], slot % page] for pool in (k, v))
        for h in range(q.shape[1]):
            out[r, h], lse[r, h] = attend(q[r, h], row_k[:, h // group], row_v[:, h // group])
    outputs["out"].write(dtypes[0], out)
    outputs["lse"].write("f32", lse)


def find_decoder(case, inputs):
    """The dtypes that the cache's decoder was made for, and the cell that this touched."""
    used_for = [inputs[name].dtype for name in QKV]
    (_, heads, d), (_, page, kv_heads, _) = inputs["q"].shape, inputs["k_pages"].shape
    key = ",".join(map(str, [d, heads // kv_heads, page] + ([] if LEAK else used_for)))
    wrote = key not in DECODERS
    built_for, writer = DECODERS.setdefault(key, (used_for, case))
    return built_for, {"carrier": "decoders", "cell": f"decoder<{key}>", "wrote": wrote,
                       "built_for": ",".join(map("=".join, zip("qkv", built_for))),
                       "used_for": ",".join(map("=".join, zip("qkv", used_for))), "writer": writer}


class Worker:
    """Answers each request by the method of its name."""

    def hello(self, request):
        if request["plants"]:
            raise ValueError(f"numpy_worker.py knows no plant '{request['plants'][0]}'")
        if request["protocol"] != 1 or request["backend"] == "cuda":
            raise ValueError("numpy_worker.py speaks protocol 1 and has no backend but host")
        pack, self.blobs = h5py.File(request["pack"], "r"), request["blobs"]
        self.cases = {name.decode(): pack[f"cases/{i:06}"] for i, name in enumerate(pack["ids"])}
        kernels = {name.split("/")[0] for name in self.cases if not self.unsupported(name)}
        return {"protocol": 1, "worker": "numpy_worker.py", "backend": "host",
                "device": {"name": f"numpy {np.__version__}", "arch": sys.platform, "driver": ""},
                "kernels": sorted(kernels),
                "carriers": dict.fromkeys(("probe", "restore", "set"), ["decoders"])
                | {"not_probed": ["environment", "numpy", "h5py"]}}

    def unsupported(self, name):
        """Why this worker cannot do a case; empty when it can."""
        operation = self.cases[name].attrs["operation"].decode()
        if operation != "paged_decode":
            return f"the operation is {operation}, but only paged_decode is implemented"
        if unknown := set(re.findall(r"(\w+)=", name)) - AXES:
            return f"{min(unknown)}= is not implemented"
        for member, node in self.cases[name]["inputs"].items():
            kind = node.attrs["type"].decode()
            if node.shape is None or kind.split("[")[0] not in STORAGE:
                return f"{member} is {kind}: above 1 MiB, or not of {', '.join(STORAGE)}"
        return ""

    def run(self, request):
        case = self.cases[request["id"]]
        if reason := self.unsupported(request["id"]):
            return {"status": "unsupported", "reason": reason}
        inputs, outputs = ({name: Buffer(node, 0xFE if request["poison"] else 0xFF)
                            for name, node in case[side].items()} for side in ("inputs", "outputs"))
        dtypes, cell = find_decoder(request["id"], inputs)
        decode(dtypes, inputs, outputs)
        return {"status": "ok", "plan": "numpy, one query head at a time", "cells": [cell],
                "outputs": [{"name": name, "digest": buffer.store(self.blobs)}
                            for name, buffer in outputs.items()]}

    def snapshot(self, request):
        return {"state": json.dumps({key: (made[0], "") for key, made in DECODERS.items()})}

    def restore(self, request):
        DECODERS.clear()

    def set(self, request):
        DECODERS.clear()
        DECODERS.update(json.loads(request["state"]))

    def nothing(self, request):
        """numpy compiles nothing, and the system cleans up."""

    describe = prepare = bye = nothing


worker = Worker()
with open(3, "w") as replies, np.errstate(all="ignore"):
    for line in sys.stdin:
        request = json.loads(line)
        try:
            reply = {"ok": True} | (getattr(worker, request["op"])(request) or {})
        except Exception as error:  # a case's trouble is an answer, not the worker's end
            reply = {"ok": False, "error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), file=replies, flush=True)
        if request["op"] == "bye":
            break
