import { join } from "node:path";

/** A release of Spark that scripts/spark-distribution has fetched. */
export interface FetchedRelease {
  readonly version: string;
  readonly home: string;
}

/** Where scripts/spark-distribution, too, keeps what was fetched. */
export function cacheFolder(): string {
  return join(
    Deno.env.get("XDG_CACHE_HOME") ||
      join(Deno.env.get("HOME") ?? "", ".cache"),
    "sparkts",
  );
}

/**
 * The releases in the user's cache, the oldest first; or those of them that
 * the variable SPARKTS_SPARK_VERSIONS names: `3.5.9,4.3.0`.
 */
export function fetchedReleases(): FetchedRelease[] {
  const cache = cacheFolder();
  const wanted = Deno.env.get("SPARKTS_SPARK_VERSIONS")?.split(",");
  const found: FetchedRelease[] = [];
  try {
    for (const { name } of Deno.readDirSync(cache)) {
      const version = /^spark-(\d[\w.]*)$/.exec(name)?.[1];
      if (version === undefined) continue;
      if (wanted?.includes(version) === false) continue;
      found.push({ version, home: join(cache, name) });
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return found.sort((a, b) => a.version < b.version ? -1 : 1);
}
