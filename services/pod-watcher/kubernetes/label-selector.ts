/** Kubernetes' label selectors. */
import { type Raw, record, text } from '../../../lib/raw.ts';

export interface LabelSelector {
  readonly matchLabels: Readonly<Record<string, string>>;
  readonly matchExpressions: readonly Requirement[];
}

interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

export const selectorsOf = (raw: unknown): LabelSelector[] => (Array.isArray(raw) ? raw.map(toSelector) : []);

/** Whether something is written as a label selector: nothing of another type in it would be left out. */
export function isSelector(raw: unknown): boolean {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return false;
  const { matchLabels = {}, matchExpressions = [], ...rest } = raw as Raw;
  const isText = (value: unknown): boolean => typeof value === 'string';
  return (
    Object.keys(rest).length === 0 &&
    typeof matchLabels === 'object' &&
    Object.values(record(matchLabels)).every(isText) &&
    Array.isArray(matchExpressions) &&
    matchExpressions.map(record).every(({ key, operator, values = [] }) => {
      return isText(key) && isText(operator) && Array.isArray(values) && values.every(isText);
    })
  );
}

/** What is of another type than it should be reads as empty. */
export function toSelector(raw: unknown): LabelSelector {
  const { matchLabels, matchExpressions } = record(raw);
  const expressions = Array.isArray(matchExpressions) ? matchExpressions.map(record) : [];
  return {
    matchLabels: toLabels(matchLabels),
    matchExpressions: expressions.map(({ key, operator, values }) => ({
      key: text(key),
      operator: text(operator),
      values: Array.isArray(values) ? values.map(text) : [],
    })),
  };
}

export const toLabels = (raw: unknown): Record<string, string> =>
  Object.fromEntries(Object.entries(record(raw)).map(([key, value]) => [key, text(value)]));

/** Whether it selects who has these labels; an empty one selects everybody. */
export const selects = ({ matchLabels, matchExpressions }: LabelSelector, labels: Readonly<Record<string, string>>) =>
  Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
  matchExpressions.every((requirement) => holds(requirement, labels[requirement.key]));

function holds({ operator, values }: Requirement, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return false;
  }
}
