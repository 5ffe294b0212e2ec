/** The conditions of Subnets, IPPools, Vips and IPAMClaims, in the form of their APIs. Pure. */
import type { ErrorCode } from '../../../../lib/errors.ts';
import { escapeUnprintable } from '../../../../lib/unprintable.ts';
import { type UntypedJson, asText, asRecords } from '../../../../lib/kubernetes/untyped-json.ts';

/** The allocator's answer to an object's spec. */
export interface Verdict {
  readonly accepted: boolean;
  /** Why it was rejected; "" if it was accepted. */
  readonly message: string;
  /** The error of a rejection. */
  readonly code?: ErrorCode;
  /** Whether the object is being deleted while the ledger still uses it. */
  readonly inUse?: true;
}

/** Reasons of conditions, in CamelCase. */
export interface ConditionReasons {
  readonly validated: string;
  readonly ready: string;
  readonly refused: string;
  readonly inUse: string;
  /** The only condition of the kind, if it has just one; absent: Validated, Ready and Error. */
  readonly onlyType?: string;
  /** Reasons of rejections that differ from `refused`. */
  readonly refusedBy?: Partial<Record<ErrorCode, string>>;
}

/** Returns the reason of a rejection. */
export const refusalReason = ({ refused, refusedBy }: ConditionReasons, { code }: Pick<Verdict, 'code'>): string =>
  (code && refusedBy?.[code]) ?? refused;

export const subnetReasons: ConditionReasons = {
  validated: 'ValidateLogicalSwitchSuccess',
  ready: 'SetNonOvnSubnetSuccess',
  refused: 'ValidateLogicalSwitchFailed',
  inUse: 'SubnetInUse',
};

export const poolReasons: ConditionReasons = {
  validated: 'UpdateIPAMSucceeded',
  ready: 'UpdateIPAMSucceeded',
  refused: 'UpdateIPAMFailed',
  inUse: 'IPPoolInUse',
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

type ConditionState = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/** A condition beside the verdict. An object for which it was never raised does not have it. */
export interface Warning {
  readonly type: string;
  /** `spec`: a part of the spec has no effect (also in an Event). `cluster`: a conflict. */
  readonly about: 'spec' | 'cluster';
  readonly raised: Pick<Condition, 'status' | 'reason'>;
  /** The condition after the warning has ended; absent: it is removed. */
  readonly cleared?: Pick<Condition, 'status' | 'reason'>;
  /** The text of the warning; "" if it is not raised. */
  readonly message: string;
}

/** Reports that a Subnet of another network in the same broadcast domain has the same addresses. */
export const addressOverlap: Omit<Warning, 'message'> = {
  type: 'AddressOverlap',
  about: 'cluster',
  raised: { status: 'True', reason: 'OverlapOnBroadcastDomain' },
  cleared: { status: 'False', reason: 'NoOverlap' },
};

/** Reports that the spec isolates a Subnet, which has no effect. */
export const privateNotEnforced: Omit<Warning, 'message'> = {
  type: 'PrivateEnforced',
  about: 'spec',
  raised: { status: 'False', reason: 'PrivateNotEnforced' },
};

/** Reports fields of the spec that have no effect. */
export const fieldsIgnored = ({ ignoredFields }: { readonly ignoredFields: readonly string[] }): Warning => ({
  type: 'FieldsIgnored',
  about: 'spec',
  raised: { status: 'True', reason: 'FieldsNotServed' },
  message: ignoredFields.length === 0 ? '' : `${ignoredFields.join(', ')}: no effect; remove it`,
});

function verdictConditions(verdict: Verdict, reasons: ConditionReasons): ConditionState[] {
  const { accepted, message, inUse } = verdict;
  if (reasons.onlyType !== undefined) {
    const reason = inUse ? reasons.inUse : accepted ? reasons.ready : refusalReason(reasons, verdict);
    const hasAddresses = accepted || inUse === true;
    return [{ type: reasons.onlyType, status: hasAddresses ? 'True' : 'False', reason, message }];
  }
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
 * Returns all conditions of an object after a verdict; undefined if nothing changes. Keeps
 * conditions of other types. A transition time changes only with the status.
 */
export function updatedConditions(
  present: unknown,
  verdict: Verdict,
  {
    reasons,
    generation,
    now,
    warnings = [],
  }: {
    readonly reasons: ConditionReasons;
    readonly generation: number;
    readonly now: Date;
    readonly warnings?: readonly Warning[] | undefined;
  },
): Condition[] | undefined {
  const conditions = new Map(asRecords(present).map((each) => [asText(each['type']), each]));
  const desired = [...verdictConditions(verdict, reasons), ...warningConditions(warnings, conditions)].map((state) => ({
    ...state,
    message: escapeUnprintable(state.message),
  }));
  const removed = warnings.filter(({ type, message, cleared }) => message === '' && !cleared && conditions.has(type));
  const isCurrent = desired.every((state) => isUnchanged(conditions.get(state.type), state, generation));
  if (isCurrent && removed.length === 0) return undefined;
  for (const { type } of removed) conditions.delete(type);
  const at = now.toISOString().replace(/\.\d+Z$/, 'Z');
  for (const state of desired) {
    const before = conditions.get(state.type);
    const since = before?.['status'] === state.status ? asText(before['lastTransitionTime']) || at : at;
    conditions.set(state.type, {
      ...state,
      observedGeneration: generation,
      lastUpdateTime: at,
      lastTransitionTime: since,
    });
  }
  return [...conditions.values()] as unknown as Condition[];
}

function warningConditions(warnings: readonly Warning[], present: ReadonlyMap<string, UntypedJson>): ConditionState[] {
  return warnings.flatMap(({ type, message, raised, cleared }) => {
    if (message !== '') return { type, ...raised, message };
    return cleared && present.has(type) ? { type, ...cleared, message } : [];
  });
}

function isUnchanged(
  present: UntypedJson | undefined,
  { status, reason, message }: ConditionState,
  generation: number,
): boolean {
  return (
    present?.['status'] === status &&
    present['reason'] === reason &&
    asText(present['message']) === message &&
    present['observedGeneration'] === generation
  );
}
