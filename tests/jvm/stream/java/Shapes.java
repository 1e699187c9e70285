import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.Externalizable;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.ObjectInput;
import java.io.ObjectInputStream;
import java.io.ObjectOutput;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamField;
import java.io.PrintStream;
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
 * the objects of each stream that is there, each after its length; a line for each stream.
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

    @Override
    public String toString() {
      return lost + " " + super.kept + " " + kept + " " + never;
    }
  }

  /** Fields, and then more than one block of its own. */
  static class Custom implements Serializable {
    private static final long serialVersionUID = 4;
    private final int blocks;
    Object inner = "inner";
    private transient String read = "";

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
      byte[] bytes = new byte[in.readInt()];
      in.readFully(bytes);
      read = bytes.length + " " + in.readObject() + " " + in.readUTF();
    }

    @Override
    public String toString() {
      return blocks + " " + inner + " " + read;
    }
  }

  /** What is written by name, and is none of the fields. */
  static class Named implements Serializable {
    private static final long serialVersionUID = 9;
    private static final ObjectStreamField[] serialPersistentFields = {
      new ObjectStreamField("count", int.class), new ObjectStreamField("text", String.class)
    };
    private transient String read = "";

    private void writeObject(ObjectOutputStream out) throws IOException {
      ObjectOutputStream.PutField fields = out.putFields();
      fields.put("text", "named");
      fields.put("count", 3);
      out.writeFields();
    }

    private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
      ObjectInputStream.GetField fields = in.readFields();
      read = fields.get("count", 0) + " " + fields.get("text", null);
    }

    @Override
    public String toString() {
      return read;
    }
  }

  /** There is but one, whatever a stream holds. */
  static class Single implements Serializable {
    private static final long serialVersionUID = 10;
    private static final Single ONE = new Single("one");
    private final String name;

    Single(String name) {
      this.name = name;
    }

    private Object readResolve() {
      return ONE;
    }

    @Override
    public String toString() {
      return name;
    }
  }

  public static class External implements Externalizable {
    private static final long serialVersionUID = 5;
    int value = 9;
    private Object list;

    public External() {}

    @Override
    public void writeExternal(ObjectOutput out) throws IOException {
      out.writeInt(value);
      out.writeObject(List.of(1, 2));
    }

    @Override
    public void readExternal(ObjectInput in) throws IOException, ClassNotFoundException {
      value = in.readInt();
      list = in.readObject();
    }

    @Override
    public String toString() {
      return value + " " + list;
    }
  }

  /** Externalizable as its superclass is: one annotation for both. */
  public static class Further extends External {
    private static final long serialVersionUID = 11;
  }

  /** Externalizable, which its superclass is not: nothing of that is written. */
  public static class Overriding extends Middle implements Externalizable {
    private static final long serialVersionUID = 12;

    @Override
    public void writeExternal(ObjectOutput out) throws IOException {
      out.writeUTF(kept);
    }

    @Override
    public void readExternal(ObjectInput in) throws IOException {
      kept = in.readUTF();
    }

    @Override
    public String toString() {
      return kept;
    }
  }

  static class Node implements Serializable {
    private static final long serialVersionUID = 6;
    Node next;
    Object[] all;

    @Override
    public String toString() {
      return (next == this) + " " + (all[0] == this) + " " + (all[1] == all);
    }
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
      return method.getName().equals("toString")
          ? Arrays.toString(proxy.getClass().getInterfaces()) : null;
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
    shape("other NaNs", new Primitives((byte) 0, 'x', Double.longBitsToDouble(-1L),
        Float.intBitsToFloat(0x7f800001), 0, 0, (short) 0, false));
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
    shape("named", new Named());
    shape("single", new Single("another"));
    shape("external", new External());
    shape("further", new Further());
    shape("overriding", new Overriding());
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

  /** The objects of a stream, to its end. */
  private static String shown(byte[] bytes) throws Exception {
    List<String> texts = new ArrayList<>();
    try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
      while (true) {
        Object object = in.readObject();
        texts.add(object instanceof Object[] array
            ? Arrays.deepToString(array) : String.valueOf(object));
      }
    } catch (EOFException end) {
      return String.join("; ", texts);
    }
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
    PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, "UTF-8");
    try (DataInputStream in = new DataInputStream(new FileInputStream(args[1]))) {
      while (in.available() > 0) {
        byte[] bytes = new byte[in.readInt()];
        in.readFully(bytes);
        out.println(shown(bytes));
      }
    }
  }
}
