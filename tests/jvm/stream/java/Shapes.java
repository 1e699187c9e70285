import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.Externalizable;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.ObjectInput;
import java.io.ObjectInputStream;
import java.io.ObjectOutput;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Date;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * Objects of all shapes that a Java object stream can hold.
 *
 * <p>write FILE: a stream for each shape, each after its name and its length. read FILE: shows
 * the object of each stream that is there, each after its length.
 */
public final class Shapes {
  /** All primitive kinds, and their arrays. */
  static class Primitives implements Serializable {
    private static final long serialVersionUID = 1;
    byte b;
    char c;
    double d;
    float f;
    int i;
    long j;
    short s;
    boolean z;

    Primitives(byte b, char c, double d, float f, int i, long j, short s, boolean z) {
      this.b = b;
      this.c = c;
      this.d = d;
      this.f = f;
      this.i = i;
      this.j = j;
      this.s = s;
      this.z = z;
    }

    @Override
    public String toString() {
      return b + " " + (int) c + " " + d + " " + f + " " + i + " " + j + " " + s + " " + z;
    }
  }

  static class Parent {
    int lost = 5;
  }

  static class Middle extends Parent implements Serializable {
    private static final long serialVersionUID = 2;
    String kept = "middle";
  }

  static class Child extends Middle {
    private static final long serialVersionUID = 3;
    String kept = "child";
    transient String never = "never";
  }

  /** Fields, and then more than one block of its own. */
  static class Custom implements Serializable {
    private static final long serialVersionUID = 4;
    private final int blocks;
    Object inner = "inner";

    Custom(int blocks) {
      this.blocks = blocks;
    }

    private void writeObject(ObjectOutputStream out) throws IOException {
      out.defaultWriteObject();
      out.writeInt(blocks);
      out.write(new byte[blocks]);
      out.writeObject("between");
      out.writeUTF("after");
    }

    private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
      in.defaultReadObject();
      in.readFully(new byte[in.readInt()]);
      in.readObject();
      in.readUTF();
    }
  }

  public static class External implements Externalizable {
    private static final long serialVersionUID = 5;
    int value = 9;

    public External() {}

    @Override
    public void writeExternal(ObjectOutput out) throws IOException {
      out.writeInt(value);
      out.writeObject(List.of(1, 2));
    }

    @Override
    public void readExternal(ObjectInput in) throws IOException, ClassNotFoundException {
      value = in.readInt();
      in.readObject();
    }
  }

  static class Node implements Serializable {
    private static final long serialVersionUID = 6;
    Node next;
    Object[] all;
  }

  static class Replaced implements Serializable {
    private static final long serialVersionUID = 7;

    private Object writeReplace() {
      return new Primitives((byte) 1, 'r', 0, 0, 0, 0, (short) 0, true);
    }
  }

  enum Plain {
    ONE,
    TWO
  }

  enum Bodied {
    FIRST {
      @Override
      int number() {
        return 1;
      }
    };

    abstract int number();
  }

  static class Handler implements InvocationHandler, Serializable {
    private static final long serialVersionUID = 8;

    @Override
    public Object invoke(Object proxy, Method method, Object[] args) {
      return null;
    }
  }

  interface Writer {
    void write(ObjectOutputStream out) throws Exception;
  }

  private static final Map<String, Writer> SHAPES = new LinkedHashMap<>();

  private static void shape(String name, Object object) {
    SHAPES.put(name, out -> out.writeObject(object));
  }

  private static void fill() {
    shape("null", null);
    shape("least", new Primitives(Byte.MIN_VALUE, Character.MIN_VALUE, -Double.MAX_VALUE,
        -Float.MAX_VALUE, Integer.MIN_VALUE, Long.MIN_VALUE, Short.MIN_VALUE, false));
    shape("most", new Primitives(Byte.MAX_VALUE, Character.MAX_VALUE, Double.MAX_VALUE,
        Float.MAX_VALUE, Integer.MAX_VALUE, Long.MAX_VALUE, Short.MAX_VALUE, true));
    shape("odd", new Primitives((byte) -1, 'x', Double.NaN, Float.NaN, -1, -1, (short) -1, true));
    shape("zero", new Primitives((byte) 0, 'x', -0.0, -0.0f, 0, 0, (short) 0, false));
    shape("infinite", new Primitives((byte) 0, 'x', Double.NEGATIVE_INFINITY,
        Float.POSITIVE_INFINITY, 0, 1L << 53, (short) 0, false));
    shape("text", "plain");
    shape("empty text", "");
    shape("odd text", "nul \0 lone \ud800 pair \ud83d\ude00 \u00e9 \u20ac \u07ff\u0800\uffff");
    shape("longest short text", "x".repeat(65_535));
    shape("long text", "\u20ac".repeat(30_000));
    shape("bytes", new byte[] {1, -1, 0});
    shape("chars", new char[] {'a', '\uffff'});
    shape("doubles", new double[] {1.5, Double.NaN});
    shape("floats", new float[] {1.5f});
    shape("ints", new int[] {1, -1});
    shape("longs", new long[] {1, Long.MIN_VALUE});
    shape("shorts", new short[] {1, -1});
    shape("booleans", new boolean[] {true, false});
    shape("nested arrays", new int[][] {{1}, {}, null});
    shape("objects", new Object[] {"a", 1, null, new String[] {"b"}});
    shape("enums", new Object[] {Plain.ONE, Plain.TWO, Plain.ONE, Bodied.FIRST, TimeUnit.SECONDS});
    shape("classes", new Object[] {String.class, int.class, int[].class, Plain.class, Node.class,
        Runnable.class});
    shape("inherited", new Child());
    shape("no block", new Custom(0));
    shape("short block", new Custom(245));
    shape("long block", new Custom(300));
    shape("several blocks", new Custom(5000));
    shape("external", new External());
    shape("replaced", new Replaced());
    shape("proxy", Proxy.newProxyInstance(Shapes.class.getClassLoader(),
        new Class<?>[] {Runnable.class, Comparable.class}, new Handler()));
    Node cycle = new Node();
    cycle.next = cycle;
    cycle.all = new Object[] {cycle, null, "x"};
    cycle.all[1] = cycle.all;
    shape("cycle", cycle);
    String shared = "shared";
    shape("shared", new Object[] {shared, shared, new String("shared")});
    Map<String, Object> map = new HashMap<>();
    map.put("list", new ArrayList<>(Arrays.asList(1, 2L, 3.0, 'c', true)));
    map.put("tree", new TreeMap<>(Map.of("k", "v")));
    shape("collections", map);
    shape("decimal", new BigDecimal("12345678901234567890.123"));
    shape("date", new Date(1234567890123L));
    shape("exception", new IllegalStateException("why", new RuntimeException("cause")));
    shape("lambda", (Runnable & Serializable) () -> {});
    SHAPES.put("several", out -> {
      out.writeObject("one");
      out.writeInt(7);
      out.writeObject("two");
      out.reset();
      out.writeObject("three");
      out.writeUnshared("four");
      out.write(new byte[3000]);
    });
  }

  public static void main(String[] args) throws Exception {
    fill();
    if (args[0].equals("write")) {
      try (DataOutputStream file = new DataOutputStream(new FileOutputStream(args[1]))) {
        for (Map.Entry<String, Writer> entry : SHAPES.entrySet()) {
          ByteArrayOutputStream bytes = new ByteArrayOutputStream();
          try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            entry.getValue().write(out);
          }
          file.writeUTF(entry.getKey());
          file.writeInt(bytes.size());
          bytes.writeTo(file);
        }
      }
      return;
    }
    try (DataInputStream in = new DataInputStream(new FileInputStream(args[1]))) {
      while (in.available() > 0) {
        byte[] bytes = new byte[in.readInt()];
        in.readFully(bytes);
        try (ObjectInputStream objects = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
          Object object = objects.readObject();
          String text = object instanceof Object[] array
              ? Arrays.deepToString(array) : String.valueOf(object);
          System.out.println(text);
        }
      }
    }
  }
}
