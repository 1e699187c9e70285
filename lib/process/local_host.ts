/**
 * The name or address under which other hosts reach this one: what
 * `SPARK_LOCAL_HOSTNAME` or `SPARK_LOCAL_IP` says, else the first address that
 * is no loopback, else `127.0.0.1` (Spark: `Utils.localHostName`).
 */
export function localHostname(
  env: (name: string) => string | undefined = (name) => Deno.env.get(name),
): string {
  const given = env("SPARK_LOCAL_HOSTNAME") || env("SPARK_LOCAL_IP");
  if (given) return given;
  const address = Deno.networkInterfaces().find((each) =>
    each.family === "IPv4" && !each.address.startsWith("127.") &&
    !each.address.startsWith("169.254.")
  );
  return address?.address ?? "127.0.0.1";
}
