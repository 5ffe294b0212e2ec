/** Label selectors of Kubernetes: validation, parsing and matching. */
import { type UntypedJson, asRecord, asText, asRecords } from '../../../../lib/kubernetes/untyped-json.ts';

export interface LabelSelector {
  readonly matchLabels: Readonly<Record<string, string>>;
  readonly matchExpressions: readonly Requirement[];
}

interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

export const toSelectors = (raw: unknown): LabelSelector[] => (Array.isArray(raw) ? raw.map(toSelector) : []);

/**
 * Whether a value is a valid label selector: a selector of which a field is ignored would match
 * more objects.
 */
export function isLabelSelector(raw: unknown): boolean {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return false;
  const { matchLabels = {}, matchExpressions = [], ...rest } = raw as UntypedJson;
  const isText = (value: unknown): boolean => typeof value === 'string';
  return (
    Object.keys(rest).length === 0 &&
    typeof matchLabels === 'object' &&
    Object.values(asRecord(matchLabels)).every(isText) &&
    Array.isArray(matchExpressions) &&
    matchExpressions.map(asRecord).every(({ key, operator, values = [] }) => {
      return isText(key) && isText(operator) && Array.isArray(values) && values.every(isText);
    })
  );
}

/** Parses a selector. A field of another type counts as empty. */
export function toSelector(raw: unknown): LabelSelector {
  const { matchLabels, matchExpressions } = asRecord(raw);
  const expressions = asRecords(matchExpressions);
  return {
    matchLabels: toLabels(matchLabels),
    matchExpressions: expressions.map(({ key, operator, values }) => ({
      key: asText(key),
      operator: asText(operator),
      values: Array.isArray(values) ? values.map(asText) : [],
    })),
  };
}

export const toLabels = (raw: unknown): Record<string, string> =>
  Object.fromEntries(Object.entries(asRecord(raw)).map(([key, value]) => [key, asText(value)]));

/** Whether a selector matches labels. An empty selector matches all labels. */
export const matchesLabels = (
  { matchLabels, matchExpressions }: LabelSelector,
  labels: Readonly<Record<string, string>>,
) =>
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
