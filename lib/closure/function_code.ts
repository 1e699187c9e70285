import type { Reference, Scope, Variable } from "eslint-scope";
import {
  type AstNode,
  childNodes,
  type FunctionNode,
  isAssignment,
  type Script,
} from "./script.ts";
import { type ClassEdit, readClass } from "./class_code.ts";

/** A variable that a function uses and does not declare. */
export interface FreeVariable {
  name: string;
  /** The declaration; undefined for a global. */
  variable: Variable | undefined;
  /** The function (or one inside it) assigns to it. */
  assigned: boolean;
  /** Needed while a class is being made, not only when it is used. */
  eager: boolean;
  /** When every use is `name.member`: the members. */
  members: string[] | undefined;
}

/** A change to a function's text: what stands from `from` to `to` is replaced. */
export interface Edit {
  from: number;
  to: number;
  text: string;
}

/** What the text of one function needs to be made again elsewhere. */
export interface FunctionCode {
  script: Script;
  source: FunctionNode;
  as: "arrow" | "function" | "class" | "method" | "get" | "set";
  strict: boolean;
  free: FreeVariable[];
  /** Same-length replacements for `import.meta` and `import(…)`, by the name that stands there now. */
  meta: { name: string; members: (string | undefined)[] } | undefined;
  importer: string | undefined;
  edits: Edit[];
  usesThis: boolean;
  usesArguments: boolean;
  usesSuper: boolean;
  /** Names of private members that are used but declared by a class around the function. */
  outerPrivate: string | undefined;
  /** Why it can't be captured whatever it closes over. */
  refusal: string | undefined;
  class: ClassEdit | undefined;
}

const codes = new WeakMap<FunctionNode, FunctionCode>();

/** Analyses a function once. */
export function functionCode(
  script: Script,
  source: FunctionNode,
): FunctionCode {
  let code = codes.get(source);
  if (code === undefined) codes.set(source, code = analyse(script, source));
  return code;
}

function analyse(script: Script, source: FunctionNode): FunctionCode {
  const { node, member } = source;
  const as = node.type.startsWith("Class")
    ? "class"
    : node.type === "ArrowFunctionExpression"
    ? "arrow"
    : member === undefined
    ? "function"
    : member.kind === "get" || member.kind === "set"
    ? member.kind
    : "method";
  const uses = readUses(node, as);
  const text = script.text.slice(source.start, source.end);
  const edits: Edit[] = [];
  let meta: FunctionCode["meta"];
  if (uses.metas.length > 0) {
    const name = unusedName("import_meta", text);
    meta = { name, members: uses.metas.map((use) => use.member) };
    for (const { at } of uses.metas) {
      edits.push({
        from: at.start,
        to: at.end,
        text: name.padEnd(at.end - at.start),
      });
    }
  }
  let importer: string | undefined;
  if (uses.imports.length > 0) {
    importer = unusedName("import", text, "_mport");
    for (const at of uses.imports) {
      edits.push({ from: at.start, to: at.start + 6, text: importer });
    }
  }
  const free = readFree(script, node);
  const usesArguments = as === "arrow" && free.delete("arguments");
  const code: FunctionCode = {
    script,
    source,
    as,
    strict: script.isStrict(node),
    free: [...free.values()],
    meta,
    importer,
    edits,
    usesThis: uses.lexicalThis && !isTopLevel(script, source),
    usesArguments,
    usesSuper: uses.memberSuper,
    outerPrivate: uses.outerPrivate,
    refusal: uses.refusal,
    class: undefined,
  };
  if (as === "class") {
    code.class = readClass(node, script.text);
    code.refusal ??= code.class.refusal;
    edits.push(...code.class.edits);
    // Names that only the removed parts used are not captured; those of computed keys must exist at once.
    code.free = code.free.filter((variable) => {
      const places = references(script, node, variable.name);
      const inside = (at: number, ranges: { from: number; to: number }[]) =>
        ranges.some(({ from, to }) => at >= from && at < to);
      variable.eager = places.some((at) => inside(at, code.class!.keys));
      return places.some((at) => !inside(at, code.class!.removed));
    });
  }
  // A function declaration made again as an expression binds its own name.
  if (node.type === "FunctionDeclaration") {
    code.free = code.free.filter(({ variable }) =>
      variable === undefined || variable.defs.length !== 1 ||
      variable.defs[0]!.node as unknown !== node ||
      variable.references.some((reference: Reference) => reference.isWrite())
    );
  }
  edits.sort((a, b) => a.from - b.from);
  return code;
}

/** `this` at the top of a module is undefined: such an arrow function has nothing to hold. */
function isTopLevel(script: Script, source: FunctionNode): boolean {
  return source.path.length === 1 && script.facts.isModule;
}

function references(script: Script, node: AstNode, name: string): number[] {
  return script.freeReferences(node).filter(({ identifier }) =>
    identifier.name === name
  )
    .map(({ identifier }) => (identifier as unknown as AstNode).start);
}

function readFree(script: Script, node: AstNode): Map<string, FreeVariable> {
  const free = new Map<string, FreeVariable>();
  const memberOf = memberUses(node);
  for (const reference of script.freeReferences(node)) {
    const { name } = reference.identifier;
    let known = free.get(name);
    if (known === undefined) {
      known = {
        name,
        variable: reference.resolved ?? undefined,
        assigned: false,
        eager: false,
        members: [],
      };
      free.set(name, known);
    }
    if (isAssignment(reference)) known.assigned = true;
    const member = memberOf.get(
      (reference.identifier as unknown as AstNode).start,
    );
    if (member === undefined) known.members = undefined;
    else if (known.members !== undefined && !known.members.includes(member)) {
      known.members.push(member);
    }
  }
  return free;
}

/** Member names by the offset of the identifier before the dot, for `name.member`. */
function memberUses(root: AstNode): Map<number, string> {
  const uses = new Map<number, string>();
  const stack = [root];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (node.type === "MemberExpression") {
      const object = node.object as AstNode;
      const property = node.property as AstNode;
      if (object.type === "Identifier") {
        if (node.computed !== true && property.type === "Identifier") {
          uses.set(object.start, property.name as string);
        } else if (
          property.type === "Literal" && typeof property.value === "string"
        ) {
          uses.set(object.start, property.value);
        }
      }
    }
    for (const [, child] of childNodes(node)) stack.push(child);
  }
  return uses;
}

interface Uses {
  lexicalThis: boolean;
  memberSuper: boolean;
  outerPrivate: string | undefined;
  refusal: string | undefined;
  metas: { at: AstNode; member: string | undefined }[];
  imports: AstNode[];
}

/** Finds what a text needs of the functions around it. */
function readUses(root: AstNode, as: FunctionCode["as"]): Uses {
  const uses: Uses = {
    lexicalThis: false,
    memberSuper: false,
    outerPrivate: undefined,
    refusal: undefined,
    metas: [],
    imports: [],
  };
  interface Visit {
    node: AstNode;
    /** Whether `this`, `super` and `new.target` here are those of the root's surroundings, the root's own, or an inner function's. */
    owner: "outside" | "root" | "inner";
    privates: ReadonlySet<string>;
    parent?: AstNode;
  }
  const first = as === "arrow" || as === "class" ? "outside" : "root";
  const stack: Visit[] = [{ node: root, owner: first, privates: new Set() }];
  for (let visit = stack.pop(); visit !== undefined; visit = stack.pop()) {
    const { node, owner, privates, parent } = visit;
    let inner = privates;
    switch (node.type) {
      case "ThisExpression":
        if (owner === "outside") uses.lexicalThis = true;
        break;
      case "Super":
        if (owner === "root") uses.memberSuper = true;
        else if (owner === "outside") {
          uses.refusal ??= 'it uses "super" of a method around it';
        }
        break;
      case "MetaProperty":
        if ((node.meta as AstNode).name === "import") {
          const member =
            parent?.type === "MemberExpression" && parent.object === node &&
              parent.computed !== true
              ? (parent.property as AstNode).name as string
              : undefined;
          uses.metas.push({ at: node, member });
        } else if (owner === "outside") {
          uses.refusal ??= 'it uses "new.target" of a function around it';
        }
        break;
      case "ImportExpression":
        uses.imports.push(node);
        break;
      case "CallExpression":
        if (
          (node.callee as AstNode).type === "Identifier" &&
          (node.callee as AstNode).name === "eval"
        ) {
          uses.refusal ??= 'it calls "eval", which may use any variable';
        }
        break;
      case "PrivateIdentifier":
        if (!privates.has(node.name as string)) {
          uses.outerPrivate ??= `#${node.name}`;
        }
        break;
      case "ClassBody": {
        const names = new Set(privates);
        for (const element of node.body as AstNode[]) {
          const key = element.key as AstNode | undefined;
          if (key?.type === "PrivateIdentifier") names.add(key.name as string);
        }
        inner = names;
        break;
      }
    }
    for (const [field, child] of childNodes(node)) {
      let childOwner = owner;
      if (
        child.type === "FunctionExpression" ||
        child.type === "FunctionDeclaration" || child.type === "StaticBlock"
      ) {
        childOwner = "inner";
      } else if (node.type === "PropertyDefinition" && field === "value") {
        childOwner = "inner";
      }
      // A class evaluates its heritage outside itself; the root's is replaced.
      if (node === root && as === "class" && field === "superClass") continue;
      stack.push({
        node: child,
        owner: childOwner,
        privates: inner,
        parent: node,
      });
    }
  }
  if (as === "class" && uses.lexicalThis) {
    uses.refusal ??= 'its computed keys use "this"';
  }
  return uses;
}

/** A name as long as `wanted` that does not occur in the text. */
export function unusedName(
  wanted: string,
  text: string,
  alternative = wanted,
): string {
  let name = alternative;
  for (let tries = 0; text.includes(name); tries++) {
    const tail = tries.toString(36);
    name = `$${wanted.slice(1, wanted.length - tail.length)}${tail}`;
  }
  return name;
}

/** The scopes around a scope, itself first. */
export function* enclosing(scope: Scope): Generator<Scope> {
  for (
    let current: Scope | null = scope;
    current !== null;
    current = current.upper
  ) yield current;
}
