"""Take and give a lock with kazoo, as a child of the tests.

Usage: kazoo_client.py SERVERS PATH Lock|WriteLock|ReadLock ROUNDS FOLDER ID

A writer adds one to FOLDER/counter in each round, in two steps. Everybody leaves a
mark in FOLDER while inside, and looks for marks that must not be there.
Prints: "done ROUNDS violations N overlaps N".
"""
import os
import re
import sys
import time

from kazoo.client import KazooClient
from kazoo.recipe.lock import ReadLock
from kazoo.version import __version__


def predecessor(self, node):
    """The nearest writer before node.

    Before 2.9 kazoo's ReadLock waits for the last writer, be it before or behind it
    (kazoo #649): a reader and a later writer wait for each other for ever.
    """
    number = int(node[-10:])
    before = [c for c in self.client.get_children(self.path) if re.search(r"__lock__\d{10}$", c) and int(c[-10:]) < number]
    return max(before, key=lambda c: c[-10:], default=None)


if tuple(int(n) for n in __version__.split(".")[:2]) < (2, 9):
    ReadLock._get_predecessor = predecessor

servers, path, kind, rounds, folder, me = sys.argv[1:]
client = KazooClient(hosts=servers, timeout=8)
client.start(timeout=60)
reads = kind == "ReadLock"
mark = os.path.join(folder, ("r." if reads else "w.") + me)
counter = os.path.join(folder, "counter")
violations = overlaps = 0
for _ in range(int(rounds)):
    lock = getattr(client, kind)(path, "kazoo " + me)
    with lock:
        open(mark, "x").close()
        others = [n for n in os.listdir(folder) if n[:2] in ("r.", "w.") and n != os.path.basename(mark)]
        if reads:
            violations += sum(n.startswith("w.") for n in others)
            overlaps += any(n.startswith("r.") for n in others)
            time.sleep(0.005)
        else:
            violations += len(others)
            with open(counter) as f:
                n = int(f.read())
            with open(counter, "w") as f:
                f.write(str(n + 1))
        os.unlink(mark)
client.stop()
print("done", rounds, "violations", violations, "overlaps", overlaps)
