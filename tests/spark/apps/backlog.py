"""A first stage of many tasks, and then a wait until a file is there.

spark-submit backlog.py MARKS
"""

import os
import sys
import time

from pyspark import SparkContext

marks = sys.argv[1]


def mark(name):
    with open(os.path.join(marks, name), "w"):
        pass


def wait_for(name):
    end = time.time() + 90
    while not os.path.exists(os.path.join(marks, name)) and time.time() < end:
        time.sleep(0.02)


def hold(numbers):
    wait_for("go")
    yield sum(numbers)


sc = SparkContext(appName="backlog")
print("sum", sum(sc.parallelize(range(100), 4).mapPartitions(hold).collect()))
mark("idle")
wait_for("end")
sc.stop()
