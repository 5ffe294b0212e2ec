/** Mutants of a source: one small change each, at every place where a mistake is likely. */
import { parsers } from 'prettier/plugins/babel';

export interface Mutant {
  /** Path from the root of the project. */
  readonly file: string;
  readonly line: number;
  /** The replaced range, and its replacement. */
  readonly start: number;
  readonly end: number;
  readonly from: string;
  readonly to: string;
}

/** Mutants that change nothing that a spec could observe. */
export interface Equivalent {
  readonly file: string;
  /** A text that occurs once in the file, with the mutant inside: a line may have other ones. */
  readonly text: string;
  readonly from: string;
  readonly to: string;
  readonly why: string;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

/** Maps, not objects: a source also calls `toString`, which each object has. */
type Replacements = ReadonlyMap<string, string>;

const binaries: Replacements = new Map([
  ['<', '<='],
  ['<=', '<'],
  ['>', '>='],
  ['>=', '>'],
  ['===', '!=='],
  ['!==', '==='],
  ['+', '-'],
  ['-', '+'],
  ['*', '/'],
  ['/', '*'],
  ['%', '*'],
]);
const logicals: Replacements = new Map([
  ['&&', '||'],
  ['||', '&&'],
]);
const methods: Replacements = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['min', 'max'],
  ['max', 'min'],
]);

/** The methods of the log, however a class reaches it, also one that is chosen by a condition. */
const logMethod = /(^|[.#])log(\??\.(debug|info|warn|error)|\[[^\]]*\])$/;
/** Names of constants that hold a time. */
const timeName = /(Ms|_ms|Seconds)$/;
/** One unit of a longer time than this is less than 1 % of it. */
const longTime = 100;

/** Finds the mutants of a TypeScript source, by their place. Texts and types are not changed. */
export function mutantsOf(file: string, source: string): Mutant[] {
  const mutants: Mutant[] = [];
  const add = (start: number, end: number, to: string): void => {
    const line = source.slice(0, start).split('\n').length;
    const from = source.slice(start, end);
    if (to !== from) mutants.push({ file, line, start, end, from, to });
  };
  const text = ({ start, end }: Node): string => source.slice(start, end);
  /** Replaces the operator between two operands. */
  const swapOperator = ({ left, right, operator }: Node, table: Replacements): void => {
    const to = table.get(String(operator));
    const from = (left as Node).end;
    const at = source.indexOf(String(operator), from);
    if (to !== undefined && at >= 0 && at < (right as Node).start) add(at, at + String(operator).length, to);
  };
  const visit = (node: Node, parent?: Node): void => {
    if (/^TS(?!AsExpression|NonNull|Satisfies)/.test(node.type) || node.type === 'ImportDeclaration') return;
    if (isLogCall(node, text) || isLogCondition(node, text) || isLongTime(node)) return;
    if (!isOnlyStatementOfLoop(node, parent)) mutateNode(node, { add, text, swapOperator });
    for (const [field, value] of Object.entries(node)) {
      // A loop that counts the other way does not end, which takes minutes and shows nothing
      if (node.type === 'ForStatement' && field === 'update') continue;
      if (field === 'typeAnnotation' || field === 'typeParameters' || field === 'typeArguments') continue;
      for (const each of Array.isArray(value) ? (value as unknown[]) : [value]) if (isNode(each)) visit(each, node);
    }
  };
  visit(parsers['babel-ts'].parse(source, {} as never) as Node);
  return mutants.sort((one, other) => one.start - other.start || one.end - other.end);
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Partial<Node>).type === 'string' && 'start' in value;

/**
 * Whether a node writes a line of the log, or is a statement that does. Such a line is read by
 * people, and is no interface: no program and no spec depends on it.
 */
function isLogCall(node: Node, text: (node: Node) => string): boolean {
  const call = node.type === 'ExpressionStatement' ? (node['expression'] as Node) : node;
  return /^(Optional)?CallExpression$/.test(call.type) && logMethod.test(text(call['callee'] as Node));
}

/**
 * Whether a node is all that a loop does. Without it, the loop does not end, which shows nothing.
 */
const isOnlyStatementOfLoop = ({ type }: Node, parent: Node | undefined): boolean =>
  parent?.type === 'WhileStatement' && type === 'ExpressionStatement';

/**
 * Whether a node is a condition with nothing but a line of the log, such as `if (a) log.info()`.
 */
function isLogCondition({ type, consequent, alternate }: Node, text: (node: Node) => string): boolean {
  return type === 'IfStatement' && !isNode(alternate) && isLogCall(consequent as Node, text);
}

/**
 * Whether a node gives a constant, or a field of one, a time of at least a hundred units. A mutant
 * adds one of them. Timers are later than that, and a spec that notices it would fix a value that
 * may be tuned.
 */
function isLongTime(node: Node): boolean {
  const [name, value] = node.type === 'ObjectProperty' ? [node['key'], node['value']] : [node['id'], node['init']];
  if (!isNode(name) || !isNode(value) || value.type !== 'NumericLiteral') return false;
  return timeName.test(String(name['name'] ?? name['value'])) && Number(value['value']) >= longTime;
}

interface Editor {
  readonly add: (start: number, end: number, to: string) => void;
  readonly text: (node: Node) => string;
  readonly swapOperator: (node: Node, table: Replacements) => void;
}

function mutateNode(node: Node, { add, text, swapOperator }: Editor): void {
  const { type, start, end } = node;
  switch (type) {
    case 'IfStatement':
    case 'ConditionalExpression':
    case 'WhileStatement': {
      const test = node['test'] as Node;
      // The operators inside of a condition have their own mutants
      if (!['BinaryExpression', 'UnaryExpression'].includes(test.type)) add(test.start, test.end, `!(${text(test)})`);
      return;
    }
    case 'BinaryExpression':
      return swapOperator(node, binaries);
    case 'LogicalExpression':
      if (node['operator'] === '??') add(start, end, text(node['left'] as Node));
      return swapOperator(node, logicals);
    case 'UnaryExpression':
      if (node['operator'] === '!') add(start, end, `(${text(node['argument'] as Node)})`);
      return;
    case 'UpdateExpression':
      return add(
        start,
        end,
        text(node).replace(/\+\+|--/, (operator) => (operator === '++' ? '--' : '++')),
      );
    case 'BooleanLiteral':
      return add(start, end, String(node['value'] !== true));
    case 'NumericLiteral':
      return add(start, end, String(Number(node['value']) + 1));
    case 'ExpressionStatement': {
      const expression = node['expression'] as Node;
      if (['CallExpression', 'AssignmentExpression', 'AwaitExpression', 'UnaryExpression'].includes(expression.type))
        if (!text(expression).startsWith('super(')) add(start, end, ';');
      return;
    }
    case 'ReturnStatement':
      if (isNode(node['argument']) && node['argument'].type === 'ArrayExpression') add(start, end, 'return [];');
      return;
    case 'MemberExpression': {
      const property = node['property'] as Node;
      const to = node['computed'] === true ? undefined : methods.get(text(property));
      if (to !== undefined) add(property.start, property.end, to);
      return;
    }
    default:
  }
}
