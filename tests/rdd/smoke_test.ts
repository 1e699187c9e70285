import { localContext } from "./local_context.ts";
for (const n of [1,2,3]) Deno.test("smoke"+n, async () => {
    const t = performance.now();
  {
  await using context = await localContext();
    console.log("start", performance.now() - t);
  const { sc } = context;
  await sc.range(10).collect();
    console.log("collect", performance.now() - t);
  await sc.range(10).map((x)=>x).collect();
    console.log("collect", performance.now() - t);
  const u = performance.now();
  await sc.range(10).map((x)=>x).collect();
    console.log("collect", performance.now() - u);
  }
    console.log("end", performance.now() - t);
});
