"""A worker in another language: paged_decode in numpy, from PROTOCOL.md and SCHEMA.md alone.

With --leak its cache of decoders is keyed by geometry alone and forgets the dtypes: the first case
of a geometry decides how the buffers of every later one are read and written.
"""
import json
import math
import os
import platform
import re
import sys

try:
    import h5py
    import numpy as np
    import xxhash
except ModuleNotFoundError as missing:
    sys.exit(f"numpy_worker.py: the Python package {missing.name} is missing; "
             f"install it (Debian and Ubuntu call it python3-{missing.name})")

STORAGE = {"f32": "<f4", "f16": "<f2", "bf16": "<u2", "i32": "<i4"}
LEAK = sys.argv[1:] == ["--leak"]
if sys.argv[1:] and not LEAK:
    sys.exit(f"numpy_worker.py takes no argument but --leak: {' '.join(sys.argv[1:])}")
DECODERS = {}  # the carrier: it outlives every run of this process


class Buffer:
    """A tensor's bytes with thrice their size of poison behind: as far as a wrong dtype reaches."""

    def __init__(self, node, poison, fill=None):
        """An input holds the pack's bytes, an output (with `fill`) that byte everywhere."""
        self.type, self.poison = node.attrs["type"].decode(), poison
        self.dtype, extents = re.fullmatch(r"(\w+)\[(.*)\]", self.type).groups()
        self.shape = tuple(int(extent) for extent in extents.split(",") if extent)
        self.element = np.dtype(STORAGE[self.dtype]).itemsize
        self.before = np.empty(math.prod(self.shape) * self.element, np.uint8)
        if fill is not None:
            self.before.fill(fill)
        else:  # with the file's own type as the memory type nothing is converted
            node.id.read(h5py.h5s.ALL, h5py.h5s.ALL, self.before, mtype=node.id.get_type())
        self.memory = np.append(self.before, np.full(3 * self.before.size, poison, np.uint8))

    def content(self):
        return self.memory[: self.before.size]

    def kept(self):
        """For each element whether it is as it was."""
        return (self.content() == self.before).reshape(-1, self.element).all(axis=1)

    def guard_broken(self):
        return bool((self.memory[self.before.size :] != self.poison).any())

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
            rounded = np.ldexp(np.rint(np.ldexp(x, -exponent)), exponent)
            words = (rounded.astype("<f4").view("<u4") >> 16).astype("<u2")
        else:
            words = x.astype(STORAGE[dtype])
        self.memory[: words.nbytes] = words.reshape(-1).view(np.uint8)


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


class Decoder:
    """What a real engine would compile: it knows the dtypes it was made for and no others."""

    def __init__(self, dtypes, writer):
        self.dtypes, self.writer = dtypes, writer

    def decode(self, inputs, outputs):
        q, k, v = (inputs[name].read(dtype)
                   for name, dtype in zip(("q", "k_pages", "v_pages"), self.dtypes))
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
        outputs["out"].write(self.dtypes[0], out)
        outputs["lse"].write("f32", lse)


def decode(case, inputs, outputs):
    """Decodes with the cache's decoder, made if it is not there; says which cell that touched."""
    dtypes = tuple(inputs[name].dtype for name in ("q", "k_pages", "v_pages"))
    (_, heads, d), (_, page, kv_heads, _) = inputs["q"].shape, inputs["k_pages"].shape
    key = (d, heads // kv_heads, page) + (() if LEAK else dtypes)
    wrote = key not in DECODERS
    decoder = DECODERS.setdefault(key, Decoder(dtypes, case))
    decoder.decode(inputs, outputs)
    built_for, used_for = (",".join(map("=".join, zip("qkv", these)))
                           for these in (decoder.dtypes, dtypes))
    return {"carrier": "decoders", "cell": f"decoder<{','.join(map(str, key))}>", "wrote": wrote,
            "built_for": built_for, "used_for": used_for, "writer": decoder.writer}


class Refused(Exception):
    """A request that is answered with "ok": false."""


class Worker:
    """Answers each request by the method of its name."""

    def hello(self, request):
        if request["plants"]:
            raise Refused(f"numpy_worker.py knows no plant '{request['plants'][0]}'")
        if request["protocol"] != 1 or request["backend"] == "cuda":
            raise Refused("numpy_worker.py speaks protocol 1 and has no backend but host")
        pack, self.blobs = h5py.File(request["pack"], "r"), request["blobs"]
        self.cases = {name.decode(): pack[f"cases/{i:06}"] for i, name in enumerate(pack["ids"])}
        kernels = {name.split("/")[0] for name in self.cases if not self.unsupported(name)}
        return {"protocol": 1, "worker": "numpy_worker.py", "backend": "host",
                "device": {"name": f"numpy {np.__version__}", "arch": platform.machine(),
                           "driver": f"Python {platform.python_version()}"},
                "kernels": sorted(kernels),
                "carriers": {"probe": ["decoders"], "restore": ["decoders"], "set": ["decoders"],
                             "not_probed": ["environment", "working_directory",
                                            "floating_point_environment", "numpy", "h5py"]}}

    def unsupported(self, name):
        """Why this worker cannot do a case; empty when it can."""
        operation = self.cases[name].attrs["operation"].decode()
        if operation != "paged_decode":
            return f"the operation is {operation}, but only paged_decode is implemented"
        for member, node in self.cases[name]["inputs"].items():
            if node.attrs["type"].decode().split("[")[0] not in STORAGE:
                return f"{member} is {node.attrs['type'].decode()}, not of {', '.join(STORAGE)}"
            if node.shape is None:
                return f"{member} is above 1 MiB, and making it from its recipe is not implemented"
        return ""

    def describe(self, request):
        return {"modules": []}  # numpy compiles nothing

    def prepare(self, request):
        return {}

    def run(self, request):
        case, reason = self.cases[request["id"]], self.unsupported(request["id"])
        if reason:
            return {"status": "unsupported", "reason": reason}
        poison, fill = (0xFF, 0xFD) if request["poison"] == 0 else (0xFE, 0xFC)
        inputs = {name: Buffer(node, poison) for name, node in case["inputs"].items()}
        outputs = {name: Buffer(node, poison, fill) for name, node in case["outputs"].items()}
        cell = decode(request["id"], inputs, outputs)
        return {"status": "ok", "plan": "numpy, one query head at a time", "cells": [cell],
                "outputs": [{"name": name, "digest": self.store(buffer)}
                            for name, buffer in outputs.items()],
                "unwritten": sum(int(buffer.kept().sum()) for buffer in outputs.values()),
                "changed_inputs": [name for name in inputs if not inputs[name].kept().all()],
                "broken_guards": [name for name, buffer in (inputs | outputs).items()
                                  if buffer.guard_broken()]}

    def store(self, buffer):
        """Leaves an output's bytes in the blob folder; returns their digest."""
        content = buffer.content().tobytes()
        digest = xxhash.xxh3_128_hexdigest(buffer.type.encode() + b"\n" + content)
        path = os.path.join(self.blobs, digest)
        if not os.path.exists(path):
            with open(f"{path}.{os.getpid()}", "wb") as file:
                file.write(content)
            os.replace(file.name, path)
        return digest

    def snapshot(self, request):
        return {"state": json.dumps([[key, decoder.dtypes] for key, decoder in DECODERS.items()])}

    def restore(self, request):
        DECODERS.clear()
        return {}

    def set(self, request):
        DECODERS.clear()
        for key, dtypes in json.loads(request["state"]):
            DECODERS[tuple(key)] = Decoder(tuple(dtypes), writer="")
        return {}

    def bye(self, request):
        return {}


def main():
    worker = Worker()
    with open(3, "w", encoding="utf-8") as replies, np.errstate(all="ignore"):
        for line in sys.stdin:
            request = json.loads(line)
            try:
                answer = getattr(worker, request["op"])
                reply = {"ok": True} | answer(request)
            except Refused as refused:
                reply = {"ok": False, "error": str(refused)}
            except Exception as error:  # a case's trouble is an answer, not the worker's end
                reply = {"ok": False, "error": f"{type(error).__name__}: {error}"}
            print(json.dumps(reply), file=replies, flush=True)
            if request["op"] == "bye":
                break


if __name__ == "__main__":
    main()
