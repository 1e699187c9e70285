import { simulate } from "./simulation.ts";
Deno.test("simulation: smoke", () => {
  const kinds = new Map<string, number[]>();
  let steps = 0, launched = 0;
  const m = Number(Deno.env.get("SPARKTS_SIM_SEEDS") ?? 300);
  for (let s = 1; s <= m; s++) {
    try {
      const r = simulate(s, { fullTrace: false });
      steps += r.steps;
      launched += r.executorsLaunched;
    } catch (e) {
      const c = (e as Error).cause as Error;
      const k = c.name + ": " + c.message.replace(/\d+/g, "N").slice(0, 200);
      kinds.set(k, [...(kinds.get(k) ?? []), s]);
    }
  }
  console.log({ steps, launched }, performance.now());
  for (const [k, v] of kinds) console.log(v.length, k, v.slice(0, 5).join());
});
