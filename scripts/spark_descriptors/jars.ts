/**
 * Where a release's jars are.
 *
 * @module
 */
import { join } from "node:path";
import { cacheFolder, fetchedReleases } from "../fetched_releases.ts";
import type { Line, Release } from "./releases.ts";

/** What the classes of the table need to be loaded. */
const SPARK_ARTIFACTS = [
  "spark-core",
  "spark-common-utils",
  "spark-common-utils-java",
  "spark-network-common",
  "spark-config",
];

/**
 * The folder with a release's jars, fetched if need be.
 *
 * @throws {Error} with Maven's own words when the main ones can't be had.
 */
export async function jarsOf(
  { version, scalaLibrary }: Release,
  { scala, libraries }: Line,
): Promise<string> {
  const fetched = fetchedReleases().find((each) => each.version === version);
  if (fetched !== undefined) return join(fetched.home, "jars");
  const folder = join(cacheFolder(), `spark-core-${version}`);
  for (
    const artifact of [
      `org.scala-lang:scala-library:${scalaLibrary}`,
      ...libraries,
    ]
  ) await copyArtifact(artifact, folder);
  for (const name of SPARK_ARTIFACTS) {
    const artifact = `org.apache.spark:${name}_${scala}:${version}`;
    try {
      await copyArtifact(artifact, folder);
    } catch (error) {
      // Not every release has each of them.
      if (name === "spark-core") throw error;
    }
  }
  return folder;
}

async function copyArtifact(artifact: string, folder: string): Promise<void> {
  const [, name, version] = artifact.split(":");
  try {
    await Deno.stat(join(folder, `${name}-${version}.jar`));
    return;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  const { success, stdout } = await new Deno.Command("mvn", {
    args: [
      "-q",
      "-B",
      "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy",
      `-Dartifact=${artifact}`,
      `-DoutputDirectory=${folder}`,
      "-Dmdep.useBaseVersion=true",
    ],
    stdout: "piped",
    stderr: "inherit",
  }).output();
  if (!success) {
    throw new Error(
      `Cannot get ${artifact}: ${new TextDecoder().decode(stdout).trim()}`,
    );
  }
}
