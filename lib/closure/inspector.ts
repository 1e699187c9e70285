import { Session } from "node:inspector";

/** Where V8 says a function begins (0-based), and the variables that it closes over, innermost scope first. */
export interface FunctionFacts {
  script: string;
  line: number;
  column: number;
  scopes: Readonly<Record<string, unknown>>[];
}

/** A script that V8 knows. */
export interface ScriptFacts {
  url: string;
  isModule: boolean;
  /** Position (0-based) at which the text begins in its file. */
  startLine: number;
  startColumn: number;
}

interface RemoteObject {
  objectId?: string;
  value?: unknown;
}
interface Property {
  name: string;
  value?: RemoteObject;
  get?: RemoteObject;
  set?: RemoteObject;
}
interface Properties {
  result: Property[];
  internalProperties?: Property[];
  privateProperties?: Property[];
}

/** How many event loop turns `script` waits for a notification that V8 sent already. */
const NOTIFICATION_TURNS = 1_000;

let nextSlot = 0;

/**
 * V8's inspector on this isolate. What a message does happens at once; only its answer comes later.
 * Live values go in and out through one hidden property of the global object, which exists while a call runs.
 */
export class Inspector {
  #session: Session | undefined;
  #scripts = new Map<string, ScriptFacts>();
  readonly #name = `__sparkts_inspect_${nextSlot++}`;
  readonly #group = `sparkts-${this.#name}`;

  /** Facts of each function, or undefined where V8 has no script for it (native code, bound functions). */
  async functions(
    values: readonly unknown[],
  ): Promise<(FunctionFacts | undefined)[]> {
    const ids = await this.#ids(values);
    return await this.#releasing(async () => {
      const properties = await Promise.all(
        ids.map((id) => this.#properties(id)),
      );
      return await Promise.all(
        properties.map(async ({ internalProperties = [] }) => {
          const location = internalProperties.find(({ name }) =>
            name === "[[FunctionLocation]]"
          )?.value?.value;
          const scopes = internalProperties.find(({ name }) =>
            name === "[[Scopes]]"
          )?.value?.objectId;
          if (location === undefined || scopes === undefined) return undefined;
          const { scriptId, lineNumber, columnNumber } = location as {
            scriptId: string;
            lineNumber: number;
            columnNumber: number;
          };
          const list = await this.#live(scopes) as {
            object: Record<string, unknown>;
          }[];
          return {
            script: scriptId,
            line: lineNumber,
            column: columnNumber,
            scopes: Array.from(list, ({ object }) => object),
          };
        }),
      );
    });
  }

  /** Target, `this` and arguments of a bound function; undefined for any other. */
  async bound(
    value: unknown,
  ): Promise<{ target: unknown; self: unknown; args: unknown[] } | undefined> {
    const [id] = await this.#ids([value]);
    return await this.#releasing(async () => {
      const { internalProperties = [] } = await this.#properties(id!);
      const find = (name: string) =>
        internalProperties.find((property) => property.name === name)?.value;
      const target = find("[[TargetFunction]]");
      if (target?.objectId === undefined) return undefined;
      return {
        target: await this.#live(target.objectId),
        self: await this.#value(find("[[BoundThis]]")),
        args: Array.from(await this.#value(find("[[BoundArgs]]")) as unknown[]),
      };
    });
  }

  /** Private fields of an object in the order in which they were defined; methods and accessors are left out. */
  async privateFields(
    value: object,
  ): Promise<[name: string, value: unknown][]> {
    const [id] = await this.#ids([value]);
    return await this.#releasing(async () => {
      const { privateProperties = [] } = await this.#properties(id!);
      const fields: [string, unknown][] = [];
      for (const { name, value: field, get, set } of privateProperties) {
        if (get === undefined && set === undefined) {
          fields.push([name, await this.#value(field)]);
        }
      }
      return fields;
    });
  }

  /** What V8 knows of a script, and its text. The debugger is on only while this runs. */
  async script(id: string): Promise<ScriptFacts & { text: string }> {
    await this.#post("Debugger.enable");
    try {
      const { scriptSource } = await this.#post("Debugger.getScriptSource", {
        scriptId: id,
      }) as {
        scriptSource: string;
      };
      for (
        let turn = 0;
        turn < NOTIFICATION_TURNS && !this.#scripts.has(id);
        turn++
      ) {
        await new Promise((resolve) => setTimeout(resolve, 0));
      }
      const facts = this.#scripts.get(id);
      if (facts === undefined) throw new Error(`V8 has no script ${id}.`);
      return { ...facts, text: scriptSource };
    } finally {
      await this.#post("Debugger.disable");
    }
  }

  /** V8's ids of live objects in heap snapshots. */
  async heapIds(values: readonly unknown[]): Promise<number[]> {
    const ids = await this.#ids(values);
    return await this.#releasing(() =>
      Promise.all(ids.map(async (objectId) => {
        const answer = await this.#post("HeapProfiler.getHeapObjectId", {
          objectId,
        });
        return Number(
          (answer as { heapSnapshotObjectId: string }).heapSnapshotObjectId,
        );
      }))
    );
  }

  /** The live object of an id of a heap snapshot. */
  async heapObject(id: number): Promise<unknown> {
    return await this.#releasing(async () => {
      const answer = await this.#post("HeapProfiler.getObjectByHeapObjectId", {
        objectId: String(id),
        objectGroup: this.#group,
      });
      return await this.#live(
        (answer as { result: { objectId: string } }).result.objectId,
      );
    });
  }

  /** A heap snapshot, as the chunks of its JSON text. */
  async heapSnapshot(): Promise<string[]> {
    const chunks: string[] = [];
    const session = this.#connected();
    const collect = (message: { params: { chunk: string } }) =>
      void chunks.push(message.params.chunk);
    session.on("HeapProfiler.addHeapSnapshotChunk", collect);
    // V8 takes the snapshot in a task of its own, which alone does not keep the event loop turning.
    const awake = setInterval(() => {}, 50);
    try {
      await this.#post("HeapProfiler.takeHeapSnapshot", {
        reportProgress: false,
      });
    } finally {
      clearInterval(awake);
      session.off("HeapProfiler.addHeapSnapshotChunk", collect);
    }
    return chunks;
  }

  close(): void {
    this.#session?.disconnect();
    this.#session = undefined;
  }

  #connected(): Session {
    if (this.#session === undefined) {
      this.#session = new Session();
      this.#session.connect();
      this.#session.on("Debugger.scriptParsed", ({ params }) => {
        const { scriptId, url, startLine, startColumn } = params;
        const isModule = params.isModule === true;
        this.#scripts.set(scriptId, { url, isModule, startLine, startColumn });
      });
    }
    return this.#session;
  }

  #post(method: string, params: object = {}): Promise<unknown> {
    const session = this.#connected();
    return new Promise((resolve, reject) => {
      session.post(method, params, (error: unknown, result?: unknown) => {
        if (error === null || error === undefined) resolve(result);
        else {reject(
            new Error(`The inspector refused ${method}: ${describe(error)}.`, {
              cause: error,
            }),
          );}
      });
    });
  }

  /** Runs `act` while the global object has the slot, which is over before this returns. */
  #withSlot<T>(slot: unknown, act: () => T): T {
    Object.defineProperty(globalThis, this.#name, {
      value: slot,
      configurable: true,
      enumerable: false,
    });
    try {
      return act();
    } finally {
      Reflect.deleteProperty(globalThis, this.#name);
    }
  }

  /** Remote ids of live values (objects and functions). */
  async #ids(values: readonly unknown[]): Promise<string[]> {
    const answers = this.#withSlot(
      values,
      () =>
        values.map((_, index) =>
          this.#post("Runtime.evaluate", {
            expression: `globalThis.${this.#name}[${index}]`,
            objectGroup: this.#group,
            silent: true,
          })
        ),
    );
    return (await Promise.all(answers)).map((answer) =>
      (answer as { result: { objectId: string } }).result.objectId
    );
  }

  /** The live value of a remote id. */
  async #live(objectId: string): Promise<unknown> {
    const box: { value?: unknown } = {};
    const answer = this.#withSlot(
      box,
      () =>
        this.#post("Runtime.callFunctionOn", {
          objectId,
          functionDeclaration:
            `function () { globalThis.${this.#name}.value = this; }`,
          silent: true,
        }),
    );
    await answer;
    return box.value;
  }

  /** The live value of a remote value: objects by id; primitives too, boxed through an argument. */
  async #value(
    remote:
      | (RemoteObject & { unserializableValue?: string; type?: string })
      | undefined,
  ): Promise<unknown> {
    if (remote === undefined) return undefined;
    if (remote.objectId !== undefined && remote.type !== "symbol") {
      return await this.#live(remote.objectId);
    }
    const box: { value?: unknown } = {};
    const argument = remote.objectId !== undefined
      ? { objectId: remote.objectId }
      : remote.unserializableValue !== undefined
      ? { unserializableValue: remote.unserializableValue }
      : { value: remote.value };
    const { result } = await this.#post("Runtime.evaluate", {
      expression: "globalThis",
      objectGroup: this.#group,
    }) as { result: { objectId: string } };
    const answer = this.#withSlot(
      box,
      () =>
        this.#post("Runtime.callFunctionOn", {
          objectId: result.objectId,
          arguments: [argument],
          functionDeclaration:
            `function (value) { globalThis.${this.#name}.value = value; }`,
          silent: true,
        }),
    );
    await answer;
    return box.value;
  }

  async #properties(objectId: string): Promise<Properties> {
    return await this.#post("Runtime.getProperties", {
      objectId,
      ownProperties: true,
    }) as Properties;
  }

  async #releasing<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } finally {
      await this.#post("Runtime.releaseObjectGroup", {
        objectGroup: this.#group,
      });
    }
  }
}

function describe(error: unknown): string {
  if (error instanceof Error) return error.message;
  return JSON.stringify(error);
}
