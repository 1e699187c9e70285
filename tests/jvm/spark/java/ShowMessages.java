import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.FileInputStream;
import java.io.ObjectInputStream;

/**
 * Reads Java object streams, each after its length in four bytes, as a peer of Spark would, and
 * prints each object as text on a line of its own.
 */
public final class ShowMessages {
  public static void main(String[] args) throws Exception {
    try (DataInputStream in = new DataInputStream(new FileInputStream(args[0]))) {
      while (in.available() > 0) {
        byte[] bytes = new byte[in.readInt()];
        in.readFully(bytes);
        try (ObjectInputStream objects = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
          Object object = objects.readObject();
          System.out.println(object.getClass().getName() + " " + object);
        }
      }
    }
  }
}
