/**
 * Computes answers by a full scan of the log, from the first line to the last. It shares only the
 * text of the log with the code under test.
 */
import { EtcdLedger } from '../../ledger/log/store/etcd-ledger.ts';
import { connectEtcd } from '../../ledger/log/store/etcd-client.ts';

/** The fields of a stored event that the scan reads. */
export interface LogLine {
  readonly seq: number;
  readonly type: string;
  readonly subnet: string;
  readonly at: string;
  readonly before: Readonly<Record<string, number>>;
  readonly data: {
    readonly attachment?: { readonly namespace: string; readonly pod: string };
    readonly uid?: string;
    readonly owner?: { readonly kind: string; readonly name: string };
    readonly node?: string;
    readonly alloc?: number;
    readonly containerId?: string;
  };
}

/** Reads all events of the ledger, in order. */
export async function readLogLines(etcd: { readonly endpoint: string }, signal: AbortSignal): Promise<LogLine[]> {
  const client = connectEtcd([etcd.endpoint]);
  const lines: LogLine[] = [];
  try {
    for await (const page of new EtcdLedger(client).read(1, signal))
      for (const { text } of page) lines.push(JSON.parse(text) as LogLine);
    return lines;
  } finally {
    client.close();
  }
}

/** Returns the sequence numbers of the matching events, newest first. */
export const matchingSeqs = (lines: readonly LogLine[], matches: (line: LogLine) => boolean): number[] =>
  lines
    .filter(matches)
    .map(({ seq }) => seq)
    .toReversed();

/** Matches the events of all Pods with this name. */
export const isOfPod =
  (name: string) =>
  ({ data: { attachment } }: LogLine): boolean =>
    attachment !== undefined && `${attachment.namespace}/${attachment.pod}` === name;

/**
 * Matches the events of a node. An AddressUnbound has no node, so the AddressBound of its container
 * counts.
 */
export function isOnNode(lines: readonly LogLine[], node: string): (line: LogLine) => boolean {
  const containers = new Map<string, string | undefined>();
  for (const { type, data } of lines) if (type === 'AddressBound') containers.set(data.containerId ?? '', data.node);
  return ({ type, data }) => (type === 'AddressUnbound' ? containers.get(data.containerId ?? '') : data.node) === node;
}

/**
 * Matches the events of an owner: the allocations of its Pods, and all later events of those
 * allocations. Call it on each event in order.
 */
export function isOfOwner(kind: string, name: string): (line: LogLine) => boolean {
  const allocations = new Set<number>();
  const containers = new Set<string>();
  return ({ seq, type, data }) => {
    const { owner, alloc = 0, containerId = '' } = data;
    if (type === 'AddressAllocated' || type === 'AddressTransferred') {
      if (owner?.kind !== kind || owner.name !== name) return false;
      allocations.add(seq);
      return true;
    }
    if (type === 'AddressUnbound') return containers.has(containerId);
    if (!allocations.has(alloc)) return false;
    if (type === 'AddressBound') containers.add(containerId);
    return true;
  };
}

/** The Pod that has an address, and the containers that may answer on it. */
export interface AddressHolder {
  readonly pod: string;
  readonly uid: string;
  readonly containers: readonly string[];
}

/** An address without a Pod and without bindings. */
export const noHolder: AddressHolder = { pod: '', uid: '', containers: [] };

/** Finds each address with a holder or a binding after these events, by "subnet/address". */
export function holdersAfter(lines: readonly LogLine[]): Map<string, AddressHolder> {
  const holders = new Map<string, AddressHolder>();
  for (const line of lines)
    for (const address of Object.keys(line.before)) {
      const key = `${line.subnet}/${address}`;
      const after = holderAfter(holders.get(key) ?? noHolder, line);
      if (after.uid === '' && after.containers.length === 0) holders.delete(key);
      else holders.set(key, after);
    }
  return holders;
}

function holderAfter(before: AddressHolder, { type, data }: LogLine): AddressHolder {
  const { attachment, uid = '', containerId = '' } = data;
  const pod = `${attachment?.namespace}/${attachment?.pod}`;
  switch (type) {
    case 'AddressAllocated':
      return { pod, uid, containers: [] };
    case 'AddressTransferred':
      return { ...before, pod, uid };
    case 'AddressReleased':
      return { ...before, pod: '', uid: '' };
    case 'AddressBound':
      return { ...before, containers: [...before.containers, containerId] };
    case 'AddressUnbound':
      return { ...before, containers: before.containers.filter((each) => each !== containerId) };
    default:
      return before;
  }
}

/** Converts an address record of the API to a holder. */
export const holderOfRecord = (record: {
  readonly allocation?: {
    readonly podUid: string;
    readonly attachment?: { readonly namespace: string; readonly pod: string };
  };
  readonly bindings: readonly { readonly containerId: string }[];
}): AddressHolder => ({
  pod: record.allocation ? `${record.allocation.attachment?.namespace}/${record.allocation.attachment?.pod}` : '',
  uid: record.allocation?.podUid ?? '',
  containers: record.bindings.map(({ containerId }) => containerId),
});
