/** The conditions of Subnet, IPPool and Vip objects, in Kube-OVN's types and reasons. Pure. */
import { type Raw, record, text } from '../../../lib/raw.ts';

/** What the ledger says to an object. */
export interface Verdict {
  readonly accepted: boolean;
  /** Why not, for a person. */
  readonly message: string;
  /** The object is being deleted, and the ledger cannot let go of it yet. */
  readonly inUse?: true;
}

/** Reasons, in CamelCase. */
export interface Reasons {
  readonly validated: string;
  readonly ready: string;
  readonly refused: string;
  readonly inUse: string;
}

export const subnetReasons: Reasons = {
  validated: 'ValidateLogicalSwitchSuccess',
  ready: 'SetNonOvnSubnetSuccess',
  refused: 'ValidateLogicalSwitchFailed',
  inUse: 'SubnetInUse',
};

export const poolReasons: Reasons = {
  validated: 'UpdateIPAMSucceeded',
  ready: 'UpdateIPAMSucceeded',
  refused: 'UpdateIPAMFailed',
  inUse: 'IPPoolInUse',
};

/** A judgement beside the verdict; '' clears it. An object about which it never was true has no such condition. */
export interface Warning {
  readonly type: string;
  /** While it is true, and once it is not. */
  readonly reasons: readonly [raised: string, cleared: string];
  readonly message: string;
}

/** On the same wire another network's Subnet gives the same addresses. */
export const addressOverlap: Omit<Warning, 'message'> = {
  type: 'AddressOverlap',
  reasons: ['OverlapOnSameWire', 'NoOverlap'],
};

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
  readonly lastUpdateTime: string;
  readonly lastTransitionTime: string;
}

type Judgement = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/** What an accepted spec asks for and does not get: a condition of its own, which is there as long as the spec asks. */
export interface Caution {
  readonly type: 'PrivateEnforced';
  readonly reason: string;
  readonly message: string;
}

const cautionTypes: readonly Caution['type'][] = ['PrivateEnforced'];

function judgements({ accepted, message, inUse }: Verdict, reasons: Reasons): Judgement[] {
  if (inUse) return [{ type: 'Ready', status: 'False', reason: reasons.inUse, message }];
  if (!accepted) {
    const reason = reasons.refused;
    return [
      { type: 'Validated', status: 'False', reason, message },
      { type: 'Ready', status: 'False', reason, message },
      { type: 'Error', status: 'True', reason, message },
    ];
  }
  const reason = reasons.ready;
  return [
    { type: 'Validated', status: 'True', reason: reasons.validated, message: '' },
    { type: 'Ready', status: 'True', reason, message: '' },
    { type: 'Error', status: 'False', reason, message: '' },
  ];
}

/**
 * The whole list of conditions after a verdict; undefined when nothing changes. Conditions of other types are kept; a time of
 * transition changes with the status only.
 */
export function conditionsAfter(
  present: unknown,
  verdict: Verdict,
  {
    reasons,
    generation,
    now,
    cautions = [],
    warnings = [],
  }: {
    readonly reasons: Reasons;
    readonly generation: number;
    readonly now: Date;
    readonly cautions?: readonly Caution[];
    readonly warnings?: readonly Warning[] | undefined;
  },
): Condition[] | undefined {
  const known = new Map((Array.isArray(present) ? present : []).map(record).map((each) => [text(each['type']), each]));
  const wanted = [
    ...judgements(verdict, reasons),
    ...judged(warnings, known),
    ...cautions.map((caution) => ({ ...caution, status: 'False' as const })),
  ];
  const ended = cautionTypes.filter((type) => known.has(type) && !cautions.some((caution) => caution.type === type));
  const same = wanted.every((judgement) => isSaid(known.get(judgement.type), judgement, generation));
  if (same && ended.length === 0) return undefined;
  for (const type of ended) known.delete(type);
  const at = now.toISOString().replace(/\.\d+Z$/, 'Z');
  for (const judgement of wanted) {
    const before = known.get(judgement.type);
    const since = before?.['status'] === judgement.status ? text(before['lastTransitionTime']) || at : at;
    known.set(judgement.type, {
      ...judgement,
      observedGeneration: generation,
      lastUpdateTime: at,
      lastTransitionTime: since,
    });
  }
  return [...known.values()] as unknown as Condition[];
}

function judged(warnings: readonly Warning[], known: ReadonlyMap<string, Raw>): Judgement[] {
  return warnings
    .filter(({ type, message }) => message !== '' || known.has(type))
    .map(({ type, message, reasons: [raised, cleared] }) =>
      message === ''
        ? { type, status: 'False', reason: cleared, message }
        : { type, status: 'True', reason: raised, message },
    );
}

function isSaid(known: Raw | undefined, { status, reason, message }: Judgement, generation: number): boolean {
  return (
    known?.['status'] === status &&
    known['reason'] === reason &&
    text(known['message']) === message &&
    known['observedGeneration'] === generation
  );
}
