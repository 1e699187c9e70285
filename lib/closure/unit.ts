import type { Scope, Variable } from "eslint-scope";
import { MAKE, nameEdit } from "./class_code.ts";
import {
  type Edit,
  enclosing,
  type FunctionCode,
  unusedName,
} from "./function_code.ts";
import type { Unit } from "./recipe.ts";
import { markedFilename, type Segment } from "./stack.ts";

/** One way of making a function: its text, and what its maker takes. */
export interface MakerPlan {
  code: FunctionCode;
  /** Names of the parameters, in order. */
  params: string[];
  /** Indexes of params that are set afterwards. */
  late: number[];
  /** The variable that holds the function itself. */
  selfName: string | undefined;
  /** The text is a class whose private members are to be filled. */
  stamps: boolean;
  /** Innermost scope with shared variables. */
  scope: ScopePlan | undefined;
  /** Makers of functions that use private members of the class. */
  inner: (readonly [name: string, plan: MakerPlan])[];
}

/** A scope of the source whose variables captured functions assign. */
export interface ScopePlan {
  scope: Scope;
  parent: ScopePlan | undefined;
  variables: Variable[];
}

/** Writes the texts to compile; the names of makers are `f<n>` and `s<n>`. */
export class UnitWriter {
  #out = "";
  #line = 0;
  readonly #segments: Segment[] = [];

  /** One unit of makers that share the scopes of one script, or a single maker that shares none. */
  static write(
    makers: readonly (readonly [name: string, plan: MakerPlan])[],
    scopes: readonly (readonly [name: string, plan: ScopePlan])[],
  ): Unit {
    const writer = new UnitWriter();
    writer.#put("({");
    writer.#members(undefined, makers, scopes);
    writer.#put("})");
    return {
      text: writer.#out,
      filename: markedFilename(
        makers[0]![1].code.script.facts.url || "anonymous:script",
        writer.#segments,
      ),
    };
  }

  #members(
    parent: ScopePlan | undefined,
    makers: readonly (readonly [string, MakerPlan])[],
    scopes: readonly (readonly [string, ScopePlan])[],
  ): void {
    for (const [name, plan] of makers) {
      if (plan.scope === parent) this.#maker(name, plan);
    }
    for (const [name, plan] of scopes) {
      if (plan.parent !== parent) continue;
      const names = plan.variables.map((variable) => variable.name).join(",");
      this.#put(
        `${name}(){let ${names};return{put(){[${names}]=arguments[0]},`,
      );
      this.#members(plan, makers, scopes);
      this.#put("}},\n");
    }
  }

  #maker(name: string, plan: MakerPlan): void {
    const { code, params, late, selfName, stamps } = plan;
    const { script, source } = code;
    const text = script.text.slice(source.start, source.end);
    const fresh = (wanted: string) => unusedName(wanted, text + params.join());
    const names = {
      heritage: fresh("$heritage"),
      guard: fresh("$guard"),
      tools: fresh("$tools"),
      params: fresh("$params"),
      key: fresh("$key"),
    };
    const extra: string[] = [];
    if (code.class?.hasHeritage === true) extra.push(names.heritage);
    for (const index of code.class?.computed.keys() ?? []) {
      extra.push(`${names.key}${index}`);
    }
    const argumentsName = fresh("$arguments");
    if (code.usesArguments) extra.push(argumentsName);
    this.#put(
      `${name}(${[...extra, ...params].join(",")}){${
        code.strict ? '"use strict";' : ""
      }`,
    );
    const tuple = late.length > 0 || stamps;
    if (stamps) this.#put(`let ${names.guard}=false,${names.tools};`);
    const result = selfName ?? fresh("$value");
    this.#put(`const ${result}=`);
    if (code.usesArguments) this.#put("(function(){return");
    const wrapped = code.as === "method" || code.as === "get" ||
      code.as === "set";
    this.#put(wrapped ? "({" : "(");
    const edits = [...code.edits, ...(stamps ? code.class!.stampEdits : [])]
      .sort((a, b) => a.from - b.from)
      .map((edit) => ({ ...edit, text: nameEdit(edit.text, names) }));
    this.#source(plan, wrapped ? [...keyEdit(code), ...edits] : edits);
    this.#put(wrapped ? "\n})" : "\n)");
    if (code.usesArguments) this.#put(`}).apply(this,${argumentsName})`);
    this.#put(";");
    if (!tuple) {
      this.#put(`return ${result}},\n`);
      return;
    }
    const assigned = late.map((index) => params[index]).join(",");
    this.#put(
      `return[${result},function(){${
        assigned === "" ? "" : `[${assigned}]=arguments[0]`
      }}`,
    );
    this.#put(`${stamps ? `,${names.tools}` : ""}]},\n`);
  }

  /** The function's text on lines of its own, with a segment for each piece that begins one. */
  #source({ code, inner }: MakerPlan, edits: Edit[]): void {
    const { script, source } = code;
    let at = source.start;
    this.#break(script.position(at));
    for (const { from, to, text } of edits) {
      this.#put(script.text.slice(at, from));
      const [before, after] = text.split(MAKE) as [string, string | undefined];
      this.#put(before);
      if (after !== undefined) {
        for (const [name, plan] of inner) this.#maker(name, plan);
        this.#put(after);
      }
      at = to;
      if (text.endsWith("\n")) {
        this.#segments.push({ out: this.#line, ...script.position(at) });
      }
    }
    this.#put(script.text.slice(at, source.end));
  }

  #break(position: { line: number; column: number }): void {
    this.#put("\n");
    this.#segments.push({ out: this.#line, ...position });
  }

  #put(text: string): void {
    this.#out += text;
    for (
      let at = text.indexOf("\n");
      at !== -1;
      at = text.indexOf("\n", at + 1)
    ) this.#line++;
  }
}

/** Computed and private keys of a method that is made alone give way to a plain one. */
function keyEdit({ source, script }: FunctionCode): Edit[] {
  const { member } = source;
  const key = member!.key as { start: number; end: number; type: string };
  if (member!.computed === true) {
    const open = script.text.lastIndexOf("[", key.start);
    const close = script.text.indexOf("]", key.end);
    return [{ from: open, to: close + 1, text: "method\n" }];
  }
  return key.type === "PrivateIdentifier"
    ? [{ from: key.start, to: key.end, text: "method\n" }]
    : [];
}

/** The scopes with shared variables around a variable's own, outermost first. */
export function planChain(
  innermost: Scope,
  shared: ReadonlyMap<Scope, Variable[]>,
): Scope[] {
  return [...enclosing(innermost)].filter((scope) => shared.has(scope))
    .reverse();
}
