"""Some jobs, each of another kind, on the master of spark-submit and then on others.

Prints a line of JSON for each master: {"master": ..., "jobs": results by name}.

spark-submit jobs.py FOLDER-OF-TEXTS [MASTER...]
"""

import json
import sys

from pyspark.sql import SparkSession
from pyspark.sql.functions import col, count, udf
from pyspark.sql.functions import sum as sum_of
from pyspark.sql.types import IntegerType


def run_jobs(spark, texts):
    sc = spark.sparkContext
    results = {}

    # Pi: points of a grid that lie in the circle.
    side = 400
    inside = (
        sc.parallelize(range(side * side), 4)
        .filter(lambda n: (n // side + 0.5) ** 2 + (n % side + 0.5) ** 2 < side * side)
        .count()
    )
    results["pi"] = 4 * inside / (side * side)

    results["words"] = sorted(
        sc.textFile(texts, 3)
        .flatMap(lambda line: line.split())
        .map(lambda word: (word, 1))
        .reduceByKey(lambda a, b: a + b, 3)
        .collect()
    )

    orders = spark.range(2000).select(
        col("id").alias("order"), (col("id") % 17).alias("customer"), (col("id") * 3 % 101).alias("amount")
    )
    customers = spark.createDataFrame([(n, f"region {n % 4}") for n in range(17)], ["customer", "region"])
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", -1)
    results["join"] = [
        list(row)
        for row in orders.join(customers, "customer")
        .groupBy("region")
        .agg(count("order"), sum_of("amount"))
        .orderBy("region")
        .collect()
    ]

    # The same cached points again and again, as in gradient descent.
    points = sc.parallelize([(x, 2 * x + 1) for x in range(200)], 4).cache()
    slope = 0.0
    for _ in range(5):
        at = slope
        gradient = points.map(lambda p: (at * p[0] + 1 - p[1]) * p[0]).sum() / points.count()
        slope -= gradient * 1e-5
    results["slope"] = round(slope, 9)

    spark.udf.register("digits", udf(lambda n: sum(map(int, str(n))), IntegerType()))
    orders.createOrReplaceTempView("orders")
    results["udf"] = [
        list(row)
        for row in spark.sql(
            "select digits(order) as sum, count(*) from orders group by digits(order) order by sum"
        ).collect()
    ]
    return results


for master in [None, *sys.argv[2:]]:
    builder = SparkSession.builder.appName("jobs")
    session = (builder if master is None else builder.master(master)).getOrCreate()
    found = {"master": session.sparkContext.master, "jobs": run_jobs(session, sys.argv[1])}
    session.stop()
    print(json.dumps(found), flush=True)
