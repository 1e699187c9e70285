import { assertEquals } from "@std/assert";
import { roundTrip } from "./round_trip.ts";

let moduleCount = 5;
function increase() {
  return ++moduleCount;
}

function counter(start: number) {
  let n = start;
  return { up: () => ++n, read: () => n };
}

Deno.test("closure: functions of one scope share its variables after the restore", async () => {
  const restored = await roundTrip(counter(1));
  restored.up();
  restored.up();
  assertEquals(restored.read(), 3);
});

Deno.test("closure: a module's variable is one for all functions that were captured together", async () => {
  const restored = await roundTrip({ increase, read: () => moduleCount });
  assertEquals(restored.increase(), 6);
  assertEquals(restored.read(), 6);
  assertEquals(moduleCount, 5, "the driver's own is untouched");
});

Deno.test("closure: two scopes of one function stay apart, though their values are equal", async () => {
  const restored = await roundTrip([counter(0), counter(0), counter(0)]);
  restored[0]!.up();
  restored[0]!.up();
  restored[2]!.up();
  assertEquals(restored.map(({ read }) => read()), [2, 0, 1]);
});

Deno.test("closure: nested scopes share each their own variables", async () => {
  function outer() {
    let total = 0;
    const inner = (step: number) => {
      let own = 0;
      return () => {
        own += step;
        total += step;
        return [own, total];
      };
    };
    return { one: inner(1), ten: inner(10), total: () => total };
  }
  const restored = await roundTrip(outer());
  assertEquals(restored.one(), [1, 1]);
  assertEquals(restored.ten(), [10, 11]);
  assertEquals(restored.one(), [2, 12]);
  assertEquals(restored.total(), 12);
});

Deno.test("closure: a variable that only the driver assigns travels at its value of now", async () => {
  let limit = 1;
  limit += 4;
  const restored = await roundTrip(() => limit);
  limit = 100;
  assertEquals(restored(), 5);
});

Deno.test("closure: two captures do not share", async () => {
  const shared = counter(0);
  const up = await roundTrip(shared.up);
  const read = await roundTrip(shared.read);
  up();
  assertEquals(read(), 0);
});

Deno.test("closure: a thousand scopes of one place stay apart", async () => {
  const restored = await roundTrip(
    Array.from({ length: 1_000 }, () => counter(0).up),
  );
  restored[5]!();
  assertEquals([restored[5]!(), restored[6]!()], [2, 1]);
});
