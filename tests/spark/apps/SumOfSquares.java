import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/** The sum of the squares of the numbers below the argument. */
public final class SumOfSquares {
  public static void main(String[] args) {
    List<Integer> numbers = new ArrayList<>();
    for (int n = 0; n < Integer.parseInt(args[0]); n++) numbers.add(n);
    try (JavaSparkContext context =
        new JavaSparkContext(new SparkConf().setAppName("squares"))) {
      int sum = context.parallelize(numbers, 4).map(n -> n * n).reduce(Integer::sum);
      System.out.println("The sum is " + sum);
    }
  }
}
