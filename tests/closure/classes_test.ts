import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { roundTrip } from "./round_trip.ts";

let initialised = 0;

Deno.test("closure: a class with inheritance, statics and super calls", async () => {
  class Base {
    static made = 0;
    static create(n: number) {
      return new this(n);
    }
    constructor(readonly n: number) {
      Base.made++;
    }
    describe() {
      return `base ${this.n}`;
    }
  }
  class Derived extends Base {
    label = "derived";
    override describe() {
      return `${this.label} of ${super.describe()}`;
    }
    static override create(n: number) {
      return super.create(n + 1);
    }
  }
  new Derived(1);
  const restored = await roundTrip({ Derived, Base });
  const made = restored.Derived.create(4);
  assertEquals(made.describe(), "derived of base 5");
  assert(made instanceof restored.Derived && made instanceof restored.Base);
  assertEquals(
    restored.Base.made,
    2,
    "the static field had its current value and is live",
  );
  assertEquals([restored.Derived.name, restored.Derived.length], [
    "Derived",
    0,
  ]);
  assertStrictEquals(Object.getPrototypeOf(restored.Derived), restored.Base);
});

Deno.test("closure: static blocks and initialisers do not run again", async () => {
  initialised = 0;
  class Once {
    static list: number[] = [++initialised];
    static table = new Map([["a", 1]]);
    static {
      initialised++;
      this.list.push(2);
    }
    static read() {
      return [...Once.list, Once.table.get("a")];
    }
  }
  Once.list.push(3);
  assertEquals(initialised, 2);
  const restored = await roundTrip(Once);
  assertEquals(initialised, 2);
  assertEquals(restored.read(), [1, 2, 3, 1]);
});

Deno.test("closure: private fields, methods, accessors and statics", async () => {
  class Account {
    static #opened = 0;
    #balance = 0;
    owner: string;
    constructor(owner: string) {
      this.owner = owner;
      Account.#opened++;
    }
    #add(amount: number) {
      this.#balance += amount;
    }
    get #double() {
      return this.#balance * 2;
    }
    deposit(amount: number) {
      this.#add(amount);
      return this;
    }
    get report() {
      return [this.owner, this.#balance, this.#double, Account.#opened];
    }
    static isAccount(value: object) {
      return #balance in value;
    }
  }
  const account = new Account("ada").deposit(5);
  const restored = await roundTrip({ Account, account });
  assertEquals(restored.account.report, ["ada", 5, 10, 1]);
  assertEquals(restored.account.deposit(2).report, ["ada", 7, 14, 1]);
  assert(restored.Account.isAccount(restored.account));
  assertEquals(new restored.Account("bob").report, ["bob", 0, 0, 2]);
  assertEquals(account.report, ["ada", 5, 10, 1]);
});

Deno.test("closure: private fields through inheritance, without running constructors", async () => {
  let ran = 0;
  const touch = (value: unknown) => {
    ran++;
    return value;
  };
  class Root {
    #secret = touch("root");
    constructor(options: { tag: string } = { tag: touch("none") as string }) {
      touch(options.tag);
    }
    rootSecret() {
      return this.#secret;
    }
  }
  class Middle extends Root {
    shared = touch([1]);
  }
  class Leaf extends Middle {
    #secret = touch("leaf");
    #cycle: Leaf;
    constructor({ tag }: { tag: string }, ...rest: number[]) {
      super({ tag });
      this.#cycle = this;
      touch(rest);
    }
    secrets() {
      return [this.rootSecret(), this.#secret, this.#cycle === this];
    }
  }
  const leaf = new Leaf({ tag: "x" }, 1, 2);
  const before = ran;
  const restored = await roundTrip({ leaf, Leaf, count: () => ran });
  assertEquals(ran, before);
  assertEquals(restored.count(), before);
  assertEquals(restored.leaf.secrets(), ["root", "leaf", true]);
  assertEquals(restored.leaf.shared, [1]);
  assertEquals(restored.Leaf.length, 1);
  assertEquals(new restored.Leaf({ tag: "y" }).secrets(), [
    "root",
    "leaf",
    true,
  ]);
});

Deno.test("closure: classes that extend Error, Map and Array", async () => {
  class Failure extends Error {
    override name = "Failure";
    #code: number;
    constructor(message: string, code: number) {
      super(message);
      this.#code = code;
    }
    get code() {
      return this.#code;
    }
  }
  class Counter extends Map<string, number> {
    add(key: string) {
      this.set(key, (this.get(key) ?? 0) + 1);
      return this;
    }
    override get size() {
      return super.size;
    }
  }
  class Stack extends Array<number> {
    top() {
      return this.at(-1);
    }
  }
  const stack = new Stack();
  stack.push(1, 9);
  const restored = await roundTrip({
    Failure,
    failure: new Failure("no", 7),
    counter: new Counter().add("a").add("a"),
    stack,
  });
  assert(
    restored.failure instanceof restored.Failure &&
      restored.failure instanceof Error,
  );
  assertEquals([
    restored.failure.message,
    restored.failure.code,
    restored.failure.name,
  ], ["no", 7, "Failure"]);
  assertEquals([
    restored.counter.get("a"),
    restored.counter.size,
    restored.counter.add("a").get("a"),
  ], [2, 1, 3]);
  assertEquals([
    restored.stack.top(),
    restored.stack.length,
    Array.isArray(restored.stack),
  ], [9, 2, true]);
  assertEquals(new restored.Failure("x", 1).code, 1);
});

Deno.test("closure: instances share one class, and functions that use it too", async () => {
  class Point {
    constructor(readonly x: number, readonly y: number) {}
    plus(other: Point) {
      return new Point(this.x + other.x, this.y + other.y);
    }
  }
  const origin = new Point(0, 0);
  const restored = await roundTrip({
    origin,
    one: new Point(1, 1),
    add: (p: Point) => p.plus(origin),
    Point,
  });
  const sum = restored.add(restored.one);
  assert(sum instanceof restored.Point);
  assertStrictEquals(
    Object.getPrototypeOf(restored.origin),
    restored.Point.prototype,
  );
  assertEquals([sum.x, sum.y], [1, 1]);
  assertEquals(Object.keys(sum), ["x", "y"]);
});

Deno.test("closure: accessors, computed members and methods added later", async () => {
  const name = "dynamic";
  class Rich {
    #v = 1;
    get v() {
      return this.#v;
    }
    set v(value: number) {
      this.#v = value;
    }
    [name]() {
      return "computed";
    }
    *[Symbol.iterator]() {
      yield this.#v;
    }
    static async later() {
      return await Promise.resolve("static");
    }
    gone() {}
    replaced() {
      return "old";
    }
  }
  Object.defineProperty(Rich.prototype, "added", {
    value: () => "added",
    configurable: true,
  });
  Rich.prototype.replaced = () => "new";
  Reflect.deleteProperty(Rich.prototype, "gone");
  const restored = await roundTrip(Rich);
  const rich = new restored() as Rich & { added(): string };
  rich.v = 4;
  assertEquals(
    [rich.v, rich.dynamic(), ...rich, rich.added(), rich.replaced()],
    [4, "computed", 4, "added", "new"],
  );
  assertEquals(await restored.later(), "static");
  assert(!("gone" in rich));
});

Deno.test("closure: a method taken from its class", async () => {
  class Plain {
    n = 3;
    #p = 4;
    free(x: number) {
      return x * 2;
    }
    read() {
      return this.n + this.#p;
    }
  }
  const { free } = Plain.prototype;
  assertEquals((await roundTrip(free))(4), 8);
  const plain = new Plain();
  assertEquals((await roundTrip(plain.read.bind(plain)))(), 7);
});

Deno.test("closure: class expressions, mixins and a singleton that its class uses", async () => {
  const Named = (parent: new () => object) =>
    class extends parent {
      title() {
        return "mixed";
      }
    };
  class Single {
    static get() {
      return single;
    }
    value = 3;
  }
  const single = new Single();
  const Mixed = Named(Single);
  const restored = await roundTrip({ Mixed, Single });
  assertEquals(new restored.Mixed().title(), "mixed");
  assertEquals(restored.Single.get().value, 3);
  assert(restored.Single.get() instanceof restored.Single);
});

Deno.test("closure: an arrow function that uses private members of the class around it", async () => {
  class Secret {
    static #made = 1;
    #factor = 3;
    #twice(x: number) {
      return x * 2;
    }
    mapper() {
      return (x: number) => this.#twice(x) * this.#factor + Secret.#made;
    }
  }
  assertEquals((await roundTrip(new Secret().mapper()))(5), 31);
});

Deno.test("closure: a static field called name, and accessors taken from their class", async () => {
  class Named {
    static name = "custom";
    get x() {
      return 5;
    }
    static *[Symbol.iterator]() {
      yield 1;
    }
  }
  const getter = Object.getOwnPropertyDescriptor(Named.prototype, "x")!.get!;
  const restored = await roundTrip({ Named, getter });
  assertEquals(restored.Named.name, "custom");
  assertEquals([restored.getter.call({}), restored.getter.name], [5, "get x"]);
  const iterate = await roundTrip(Named[Symbol.iterator]);
  assertEquals([[...iterate()], iterate.name], [[1], "[Symbol.iterator]"]);
});

Deno.test("closure: a frozen instance with private fields", async () => {
  class Fixed {
    #value = 4;
    constructor() {
      Object.freeze(this);
    }
    read() {
      return this.#value;
    }
  }
  const restored = await roundTrip(new Fixed());
  assert(Object.isFrozen(restored));
  assertEquals(restored.read(), 4);
});
