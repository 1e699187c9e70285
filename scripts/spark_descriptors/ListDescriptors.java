import java.io.File;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.io.OutputStream;
import java.io.Serializable;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.jar.JarFile;

/**
 * Writes class descriptors as a Java object stream, just as they go over the wire: sparkts
 * reads them with the reader that it has for such streams.
 *
 * <p>java ListDescriptors OUTPUT JARS-FOLDER NAME...
 *
 * <p>A name that ends with "$*" stands for the serializable classes nested in that class,
 * without the companions of others. A class that the release doesn't have is left out. Classes
 * are loaded, never initialised.
 */
public final class ListDescriptors {
  public static void main(String[] args) throws Exception {
    File[] jars = new File(args[1]).listFiles((folder, name) -> name.endsWith(".jar"));
    List<URL> urls = new ArrayList<>();
    for (File jar : jars) urls.add(jar.toURI().toURL());
    ClassLoader loader = new URLClassLoader(urls.toArray(new URL[0]));
    TreeSet<String> names = new TreeSet<>();
    for (String name : List.of(args).subList(2, args.length)) {
      if (name.endsWith("$*")) addNested(names, jars, name.substring(0, name.length() - 1));
      else names.add(name);
    }
    try (OutputStream file = Files.newOutputStream(Path.of(args[0]));
        ObjectOutputStream out = new ObjectOutputStream(file)) {
      for (String name : names) {
        Class<?> type = load(loader, name);
        if (type == null || !Serializable.class.isAssignableFrom(type)) continue;
        if (type.isInterface()) continue;
        if (isCompanion(loader, type)) continue;
        out.writeObject(ObjectStreamClass.lookup(type));
      }
    }
  }

  private static void addNested(TreeSet<String> names, File[] jars, String prefix)
      throws Exception {
    String start = prefix.replace('.', '/');
    for (File jar : jars) {
      try (JarFile file = new JarFile(jar)) {
        file.stream()
            .map(entry -> entry.getName())
            .filter(entry -> entry.startsWith(start) && entry.endsWith(".class"))
            .map(entry -> entry.substring(0, entry.length() - ".class".length()))
            .filter(entry -> !entry.contains("$anon"))
            .forEach(entry -> names.add(entry.replace('/', '.')));
      }
    }
  }

  private static Class<?> load(ClassLoader loader, String name) {
    try {
      return Class.forName(name, false, loader);
    } catch (ClassNotFoundException missing) {
      return null;
    }
  }

  /** The module that Scala makes beside a class; one that is alone is a value of its own. */
  private static boolean isCompanion(ClassLoader loader, Class<?> type) {
    String name = type.getName();
    if (!name.endsWith("$") || Modifier.isAbstract(type.getModifiers())) return false;
    return name.contains("DeployMessages")
        && load(loader, name.substring(0, name.length() - 1)) != null;
  }
}
