import type { SparkContext } from "../../../lib/mod.ts";

/** Allocates in a loop that outruns the limit of its thread's heap. */
export default async function main(sc: SparkContext) {
  await sc.range(1).foreach(() => {
    const all: unknown[] = [];
    for (let i = 0;; i++) all.push(new Array(1000).fill(i));
  });
}
