import { assertEquals, assertThrows } from "@std/assert";
import { parseMasterUrl } from "../../lib/driver/master_url.ts";
import { InvalidAddressError } from "../../lib/messages/addresses.ts";

Deno.test("master URL: local, local[N] and local[*] run on threads of this process", () => {
  const threads = (text: string) => parseMasterUrl(text, 8);
  assertEquals(threads("local"), { type: "local", threads: 1 });
  assertEquals(threads("local[3]"), { type: "local", threads: 3 });
  assertEquals(threads("local[*]"), { type: "local", threads: 8 });
});

Deno.test("master URL: local-cluster tells workers, cores and memory of each", () => {
  assertEquals(parseMasterUrl("local-cluster[ 2, 1 ,512 ]", 8), {
    type: "local-cluster",
    workers: 2,
    cores: 1,
    memory: 512,
  });
});

Deno.test("master URL: spark:// names one master or several", () => {
  assertEquals(parseMasterUrl("spark://a:1,b:2", 8), {
    type: "spark",
    masters: [{ host: "a", port: 1 }, { host: "b", port: 2 }],
  });
});

Deno.test("master URL: anything else is refused with the forms that there are", () => {
  for (
    const text of [
      "",
      "yarn",
      "local[0]",
      "local[]",
      "local[-1]",
      "local[1025]",
      "local[2",
      "local[2,3]",
      "local-cluster[0,1,1]",
      "local-cluster[1,0,1]",
      "local-cluster[1,1]",
      "local-cluster[1,1,0]",
      "Spark://a:1",
    ]
  ) {
    const error = assertThrows(
      () => parseMasterUrl(text, 8),
      InvalidAddressError,
    );
    assertEquals(
      error.message,
      `Could not parse Master URL: '${text}'. Use local[N], local[*], local-cluster[workers,cores,memoryMiB] or spark://host:port.`,
    );
  }
  assertThrows(() => parseMasterUrl("spark://a", 8), InvalidAddressError);
});
