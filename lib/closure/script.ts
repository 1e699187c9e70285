import { parse } from "acorn";
import {
  analyze,
  type Reference,
  type Scope,
  type ScopeManager,
  type Variable,
} from "eslint-scope";
import type { ScriptFacts } from "./inspector.ts";

/** A node of the syntax tree, as acorn makes it. */
export interface AstNode {
  type: string;
  start: number;
  end: number;
  [field: string]: unknown;
}

/** A function or class of a script, with the member that it is the value of, if it is a method or accessor. */
export interface FunctionNode {
  node: AstNode;
  /** The method definition, or the property of an object literal. */
  member?: AstNode;
  /** The class around `member`. */
  ofClass?: AstNode;
  /** Names of the functions and classes around it, outermost first. */
  path: string[];
  /** Range of what `Function.prototype.toString` gives. */
  start: number;
  end: number;
}

/** Where an imported name comes from; `name` is undefined for a namespace. */
export interface ImportBinding {
  specifier: string;
  name: string | undefined;
}

const FUNCTION_TYPES = new Set([
  "FunctionDeclaration",
  "FunctionExpression",
  "ArrowFunctionExpression",
  "ClassDeclaration",
  "ClassExpression",
]);

/** A script: its functions by position, its variables, its imports. Parsed once. */
export class Script {
  readonly #imports = new Map<string, ImportBinding>();
  readonly #functions: FunctionNode[] = [];
  readonly #lines: number[] = [0];
  readonly #scopes = new Map<AstNode, Scope>();
  readonly #found = new Map<string, FunctionNode>();

  #analysed = false;

  constructor(
    readonly id: string,
    readonly facts: ScriptFacts,
    readonly text: string,
  ) {}

  /** Names that the module imports. */
  get imports(): ReadonlyMap<string, ImportBinding> {
    this.#analyse();
    return this.#imports;
  }

  /** Parsing waits until it is needed: scripts of the runtime never are. */
  #analyse(): void {
    if (this.#analysed) return;
    this.#analysed = true;
    const { text, facts } = this;
    for (
      let at = text.indexOf("\n");
      at !== -1;
      at = text.indexOf("\n", at + 1)
    ) this.#lines.push(at + 1);
    const { tree, sourceType } = parseScript(text, facts.isModule);
    const manager: ScopeManager = analyze(tree as never, {
      ecmaVersion: 2022,
      sourceType,
      ignoreEval: true,
    });
    for (const scope of manager.scopes) {
      const block = scope.block as unknown as AstNode;
      if (
        "functionExpressionScope" in scope &&
        scope.functionExpressionScope === true
      ) continue;
      if (!this.#scopes.has(block)) this.#scopes.set(block, scope);
    }
    this.#collect(tree);
    this.#readImports(tree);
  }

  /** Position (0-based) in the file of an offset of the text. */
  position(offset: number): { line: number; column: number } {
    let low = 0;
    let high = this.#lines.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#lines[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    const first = low === 0;
    return {
      line: low + this.facts.startLine,
      column: offset - this.#lines[low]! + (first ? this.facts.startColumn : 0),
    };
  }

  /** The function whose text is `source` and in which V8 places `line` and `column` (0-based). */
  find(line: number, column: number, source: string): FunctionNode | undefined {
    this.#analyse();
    const key = `${line}:${column}:${source.length}`;
    const cached = this.#found.get(key);
    if (cached !== undefined) return cached;
    const row = line - this.facts.startLine;
    const offset = (this.#lines[row] ?? 0) + column -
      (row === 0 ? this.facts.startColumn : 0);
    let best: FunctionNode | undefined;
    for (const candidate of this.#functions) {
      if (candidate.start > offset || candidate.end <= offset) continue;
      if (candidate.end - candidate.start !== source.length) continue;
      if (this.text.slice(candidate.start, candidate.end) !== source) continue;
      if (best === undefined || candidate.start >= best.start) best = candidate;
    }
    if (best !== undefined) this.#found.set(key, best);
    return best;
  }

  /** References of a function or class to variables that it does not declare itself. */
  freeReferences(node: AstNode): Reference[] {
    const scope = this.#scopes.get(node);
    return (scope?.through ?? []).filter(({ resolved }: Reference) =>
      resolved === null || !isInside(resolved, node)
    );
  }

  /** Whether the code of a node is strict. */
  isStrict(node: AstNode): boolean {
    return this.#scopes.get(node)?.isStrict ?? this.facts.isModule;
  }

  #collect(tree: AstNode): void {
    const stack: {
      node: AstNode;
      path: string[];
      member?: AstNode;
      ofClass?: AstNode;
      name?: string;
    }[] = [
      { node: tree, path: [] },
    ];
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      const { node, path, member, ofClass, name } = next;
      let inner = path;
      if (FUNCTION_TYPES.has(node.type)) {
        const own = (node.id as AstNode | null | undefined)?.name as
          | string
          | undefined;
        const label = own ?? name ?? "<anonymous>";
        inner = [...path, label];
        const start = member === undefined
          ? node.start
          : memberStart(member, this.text);
        this.#functions.push({
          node,
          path: inner,
          start,
          end: node.end,
          member,
          ofClass,
        });
      }
      for (const [field, child] of childNodes(node)) {
        const link: (typeof stack)[number] = { node: child, path: inner };
        if (field === "value" && isMember(node)) {
          link.member = node;
          link.name = keyName(node, this.text);
          if (node.type === "MethodDefinition") link.ofClass = ofClass;
        } else if (
          field === "value" &&
          (node.type === "Property" || node.type === "PropertyDefinition")
        ) {
          link.name = keyName(node, this.text);
        } else if (field === "init" && node.type === "VariableDeclarator") {
          link.name = (node.id as AstNode).name as string | undefined;
        }
        if (
          node.type === "ClassDeclaration" || node.type === "ClassExpression"
        ) link.ofClass = node;
        else if (node.type === "ClassBody") link.ofClass = ofClass;
        stack.push(link);
      }
    }
  }

  #readImports(tree: AstNode): void {
    for (const statement of tree.body as AstNode[]) {
      if (statement.type !== "ImportDeclaration") continue;
      const specifier = (statement.source as AstNode).value as string;
      for (const part of statement.specifiers as AstNode[]) {
        const local = (part.local as AstNode).name as string;
        const imported = part.imported as AstNode | undefined;
        const name = part.type === "ImportNamespaceSpecifier"
          ? undefined
          : part.type === "ImportDefaultSpecifier"
          ? "default"
          : (imported!.name ?? imported!.value) as string;
        this.#imports.set(local, { specifier, name });
      }
    }
  }
}

/** The node's children with the name of the field that holds each. */
export function* childNodes(
  node: AstNode,
): Generator<[field: string, child: AstNode]> {
  for (const [field, value] of Object.entries(node)) {
    if (Array.isArray(value)) {
      for (const item of value) if (isNode(item)) yield [field, item];
    } else if (isNode(value)) {
      yield [field, value];
    }
  }
}

/** Whether a reference assigns to its variable after it was initialised. */
export function isAssignment(reference: Reference): boolean {
  return reference.isWrite() && reference.init !== true;
}

/** Whether a variable is declared inside a node. */
export function isInside(variable: Variable, node: AstNode): boolean {
  const block = variable.scope.block as unknown as AstNode;
  return block.start >= node.start && block.end <= node.end &&
    variable.scope.type !== "global" &&
    variable.scope.type !== "module";
}

/** Whether only one instance of a scope can exist: that of a module or script. */
export function isSingle(scope: Scope): boolean {
  return scope.type === "module" || scope.type === "global";
}

/** The written name of a member's key, `[…]` for a computed one. */
export function keyName(member: AstNode, text: string): string {
  const key = member.key as AstNode;
  if (member.computed === true) return `[${text.slice(key.start, key.end)}]`;
  if (key.type === "PrivateIdentifier") return `#${key.name}`;
  return String(key.name ?? key.value);
}

function isMember(node: AstNode): boolean {
  return node.type === "MethodDefinition" ||
    node.type === "Property" &&
      (node.method === true || node.kind === "get" || node.kind === "set");
}

/** V8's text of a static member begins after `static`. */
function memberStart(member: AstNode, text: string): number {
  if (member.static !== true) return member.start;
  const skipped = /^static(?:\s|\/\*[^]*?\*\/|\/\/.*)*/.exec(
    text.slice(member.start, member.end),
  );
  return member.start + (skipped?.[0].length ?? 0);
}

function isNode(value: unknown): value is AstNode {
  return typeof value === "object" && value !== null &&
    typeof (value as AstNode).type === "string";
}

function parseScript(
  text: string,
  isModule: boolean,
): { tree: AstNode; sourceType: "module" | "script" | "commonjs" } {
  const options = {
    ecmaVersion: "latest",
    ranges: true,
    allowHashBang: true,
  } as const;
  if (isModule) {
    return {
      tree: parse(text, {
        ...options,
        sourceType: "module",
      }) as unknown as AstNode,
      sourceType: "module",
    };
  }
  const tree = parse(text, {
    ...options,
    sourceType: "script",
    allowReturnOutsideFunction: true,
  });
  return { tree: tree as unknown as AstNode, sourceType: "script" };
}
