import { type AstNode, keyName } from "./script.ts";

/** A method or accessor that a class's text defines. */
export interface ClassMember {
  of: "static" | "prototype";
  /** Undefined when computed. */
  key: string | undefined;
  part: "value" | "get" | "set";
  text: string;
}

/** How a class's text changes so that making it runs nothing of the application. */
export interface ClassEdit {
  edits: { from: number; to: number; text: string }[];
  /** Edits that let instances be filled without running constructors or initialisers. */
  stampEdits: { from: number; to: number; text: string }[];
  /** Ranges whose code does not run any more. */
  removed: { from: number; to: number }[];
  /** Ranges of computed keys, which are evaluated when the class is made. */
  keys: { from: number; to: number }[];
  members: ClassMember[];
  /** Those of `members` with a computed key, which is given to the text as a value. */
  computed: ClassMember[];
  /** Names (with `#`) of private fields, and whether instances carry any private member at all. */
  instanceFields: string[];
  staticFields: string[];
  hasPrivateInstance: boolean;
  /** Names (with `#`) of all private members. */
  privates: Set<string>;
  hasHeritage: boolean;
  refusal: string | undefined;
}

/** Names of the variables that the changed text uses. */
export interface ClassNames {
  heritage: string;
  guard: string;
  tools: string;
  params: string;
  /** Before the number of a computed key. */
  key: string;
}

/** Stand-ins in the edits for the names of {@link ClassNames}. */
export const HERITAGE = "\u0000heritage\u0000";
export const GUARD = "\u0000guard\u0000";
/** Where the makers of functions that use private members of the class stand. */
export const MAKE = "\u0000make\u0000";
export const TOOLS = "\u0000tools\u0000";
export const KEY = "\u0000key\u0000";
export const PARAMS = "\u0000params\u0000";

const PURE = new Set([
  "Identifier",
  "Literal",
  "MemberExpression",
  "TemplateLiteral",
  "TemplateElement",
  "BinaryExpression",
]);

/** Reads the text of a class. */
export function readClass(node: AstNode, text: string): ClassEdit {
  const heritage = node.superClass as AstNode | null;
  const body = node.body as AstNode;
  const result: ClassEdit = {
    edits: [],
    stampEdits: [],
    removed: [],
    keys: [],
    members: [],
    computed: [],
    instanceFields: [],
    staticFields: [],
    hasPrivateInstance: false,
    privates: new Set(),
    hasHeritage: heritage !== null,
    refusal: undefined,
  };
  if (
    heritage !== null && text.slice(heritage.start, heritage.end) !== "null"
  ) {
    const { start, end } = outerParentheses(heritage, node, body, text);
    result.edits.push({ from: start, to: end, text: ` ${HERITAGE}\n` });
    result.removed.push({ from: start, to: end });
  }
  for (const element of body.body as AstNode[]) {
    readElement(element, text, result);
  }
  readConstructor(body, result);
  const assign = (names: string[]) =>
    names.map((name) => `${JSON.stringify(name)}(o,v){o.${name}=v}`).join(",");
  if (result.privates.size > 0) {
    const setters = [
      ...new Set([...result.instanceFields, ...result.staticFields]),
    ];
    const tools = `{guard(){${GUARD}=arguments[0]},set:{${
      assign(setters)
    }},make:{${MAKE}}}`;
    result.stampEdits.push({
      from: body.end - 1,
      to: body.end - 1,
      text: `;static{${TOOLS}=${tools}}\n`,
    });
  }
  return result;
}

function readElement(element: AstNode, text: string, result: ClassEdit): void {
  if (element.type === "StaticBlock") {
    result.edits.push({ from: element.start, to: element.end, text: ";\n" });
    result.removed.push({ from: element.start, to: element.end });
    return;
  }
  const key = element.key as AstNode;
  const isPrivate = key.type === "PrivateIdentifier";
  const isStatic = element.static === true;
  if (isPrivate) result.privates.add(`#${key.name}`);
  if (
    element.computed === true && element.type === "PropertyDefinition" &&
    !isStatic
  ) {
    if (!isPure(key)) {
      result.refusal ??= `its computed key ${keyName(element, text)} runs code`;
    }
    result.keys.push({ from: key.start, to: key.end });
  }
  if (element.type === "MethodDefinition") {
    if (isPrivate && !isStatic) result.hasPrivateInstance = true;
    if (element.kind === "constructor" || isPrivate) return;
    const start = isStatic
      ? element.start +
        /^static(?:\s|\/\*[^]*?\*\/)*/.exec(text.slice(element.start))![0]
          .length
      : element.start;
    const member: ClassMember = {
      of: isStatic ? "static" : "prototype",
      key: element.computed === true ? undefined : keyName(element, text),
      part: element.kind === "get" || element.kind === "set"
        ? element.kind
        : "value",
      text: text.slice(start, element.end),
    };
    result.members.push(member);
    if (member.key === undefined) {
      result.edits.push({
        from: key.start,
        to: key.end,
        text: `${KEY}${result.computed.length}\n`,
      });
      result.removed.push({ from: key.start, to: key.end });
      result.computed.push(member);
    }
    return;
  }
  const value = element.value as AstNode | null;
  if (isStatic) {
    if (isPrivate) {
      result.staticFields.push(`#${key.name}`);
      if (value !== null) {
        result.edits.push({ from: key.end, to: element.end, text: ";\n" });
        result.removed.push({ from: key.end, to: element.end });
      }
    } else {
      result.edits.push({ from: element.start, to: element.end, text: ";\n" });
      result.removed.push({ from: element.start, to: element.end });
    }
    return;
  }
  if (isPrivate) {
    result.hasPrivateInstance = true;
    result.instanceFields.push(`#${key.name}`);
  }
  if (value !== null) {
    const { start, end } = { start: value.start, end: value.end };
    result.stampEdits.push({
      from: start,
      to: start,
      text: `${GUARD}?void 0:(\n`,
    });
    result.stampEdits.push({ from: end, to: end, text: ")\n" });
  }
}

/** Lets the constructor return before its own code while an instance is being filled. */
function readConstructor(body: AstNode, result: ClassEdit): void {
  const method = (body.body as AstNode[]).find((element) =>
    element.type === "MethodDefinition" && element.kind === "constructor"
  );
  if (method === undefined) return;
  const { params, body: block } = method.value as unknown as {
    params: AstNode[];
    body: AstNode;
  };
  const leave = `if(${GUARD}){${result.hasHeritage ? "super();" : ""}return}`;
  const last = params.at(-1);
  if (params.every(({ type }) => type === "Identifier")) {
    result.stampEdits.push({
      from: block.start + 1,
      to: block.start + 1,
      text: `${leave}\n`,
    });
  } else {
    // Defaults and patterns run before the body does: take the arguments apart only after the guard.
    result.stampEdits.push({
      from: params[0]!.start,
      to: params[0]!.start,
      text: `...${PARAMS}){${leave}var[\n`,
    });
    result.stampEdits.push({
      from: last!.end,
      to: block.start + 1,
      text: `]=${PARAMS};\n`,
    });
  }
}

function isPure(node: AstNode): boolean {
  if (!PURE.has(node.type)) return false;
  return Object.values(node).flat().every((child) =>
    typeof child !== "object" || child === null ||
    typeof (child as AstNode).type !== "string" || isPure(child as AstNode)
  );
}

/** The range of a heritage expression with the parentheses around it. */
function outerParentheses(
  heritage: AstNode,
  node: AstNode,
  body: AstNode,
  text: string,
): { start: number; end: number } {
  const from = Math.max(
    node.start,
    ((node.id as AstNode | null)?.end) ?? node.start,
  );
  const before = text.slice(from, heritage.start);
  const word = before.lastIndexOf("extends");
  return { start: from + word + "extends".length, end: body.start };
}

/** Puts names in the place of the stand-ins. */
export function nameEdit(text: string, names: ClassNames): string {
  return text.replaceAll(HERITAGE, names.heritage).replaceAll(
    GUARD,
    names.guard,
  ).replaceAll(TOOLS, names.tools)
    .replaceAll(PARAMS, names.params).replaceAll(KEY, names.key);
}
