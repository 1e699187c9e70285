import type { SparkContext } from "../../../lib/mod.ts";

export default async function main(sc: SparkContext) {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  await sc.range(0, 1).map(() => listener.addr).collect();
}
