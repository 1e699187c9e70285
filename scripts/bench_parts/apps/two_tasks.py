"""The least that a job of Spark can be: two tasks that do nothing."""

from pyspark import SparkContext

sc = SparkContext(appName="two tasks")
print(sc.parallelize(range(2), 2).count())
sc.stop()
