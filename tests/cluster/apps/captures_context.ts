import type { SparkContext } from "../../../lib/mod.ts";

export default async function main(sc: SparkContext) {
  await sc.range(0, 1).map(() => sc.applicationId).collect();
}
