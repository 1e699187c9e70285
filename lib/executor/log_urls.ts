/** The log URLs that the worker gave: `SPARK_LOG_URL_STDOUT` is `stdout`. */
export function executorLogUrls(
  environment: Readonly<Record<string, string>>,
): Record<string, string> {
  return withoutPrefix(
    environment,
    "SPARK_LOG_URL_",
    (name) => name.toLowerCase(),
  );
}

/** `SPARK_EXECUTOR_ATTRIBUTE_ZONE` is the attribute `ZONE`. */
export function executorAttributes(
  environment: Readonly<Record<string, string>>,
): Record<string, string> {
  return withoutPrefix(
    environment,
    "SPARK_EXECUTOR_ATTRIBUTE_",
    (name) => name.toUpperCase(),
  );
}

function withoutPrefix(
  environment: Readonly<Record<string, string>>,
  prefix: string,
  rename: (name: string) => string,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment)
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, value]) => [rename(name.slice(prefix.length)), value]),
  );
}
