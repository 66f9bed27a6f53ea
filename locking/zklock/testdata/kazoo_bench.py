"""Time kazoo's Lock: kazoo_bench.py SERVERS PATH CONTENDERS ROUNDS

ROUNDS grants in all, by so many threads on one connection. Prints seconds: of all, or, for
one contender, the median of a round times ROUNDS.
"""
import statistics
import sys
import threading
import time

from kazoo.client import KazooClient

servers, path, contenders, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
client = KazooClient(hosts=servers, timeout=8)
client.start(timeout=60)


took = []


def work(n):
    for _ in range(n):
        begun = time.monotonic()
        with client.Lock(path, "bench"):
            pass
        took.append(time.monotonic() - begun)


work(5)
threads = [threading.Thread(target=work, args=(rounds // contenders,)) for _ in range(contenders)]
start = time.monotonic()
for t in threads:
    t.start()
for t in threads:
    t.join()
print(statistics.median(took) * rounds if contenders == 1 else time.monotonic() - start)
client.stop()
