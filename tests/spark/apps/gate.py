"""Tasks that leave a mark when they start and wait until a file is there.

spark-submit gate.py MARKS TASKS
"""

import os
import sys
import time

from pyspark import SparkContext, TaskContext

marks, tasks = sys.argv[1], int(sys.argv[2])


def task(numbers):
    context = TaskContext.get()
    name = f"started-{context.partitionId()}-{context.attemptNumber()}"
    with open(os.path.join(marks, name), "w"):
        pass
    end = time.time() + 60
    while not os.path.exists(os.path.join(marks, "go")) and time.time() < end:
        time.sleep(0.02)
    yield sum(numbers)


sc = SparkContext()
print("sum", sum(sc.parallelize(range(100), tasks).mapPartitions(task).collect()))
sc.stop()
