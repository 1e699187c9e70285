"""Two stages, each with a resource profile of its own.

spark-submit profiles.py MARKS
"""

import os
import sys
import time

from pyspark import SparkContext
from pyspark.resource import ExecutorResourceRequests, ResourceProfileBuilder, TaskResourceRequests

marks = sys.argv[1]
sc = SparkContext(appName="profiles")
profile = (
    ResourceProfileBuilder()
    .require(ExecutorResourceRequests().cores(2).memory("600m"))
    .require(TaskResourceRequests().cpus(2))
    .build
)


def held(numbers):
    with open(os.path.join(marks, "started-0"), "w"):
        pass
    end = time.time() + 60
    while not os.path.exists(os.path.join(marks, "go")) and time.time() < end:
        time.sleep(0.02)
    yield sum(numbers)


print("plain", sc.parallelize(range(10), 2).sum())
print("profiled", sum(sc.parallelize(range(10), 1).withResources(profile).mapPartitions(held).collect()))
sc.stop()
