/**
 * The answers, found the plain way: every stored line is read and looked at, from the first to the last. It shares nothing with what it
 * is compared with but the ledger's own text.
 */
import { EtcdLedger } from '../../services/allocator/ledger/etcd.ts';
import { connectEtcd } from '../../services/allocator/ledger/etcd-client.ts';

/** What is read of a stored event. */
export interface Line {
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

/** All of them. */
export async function readLines(etcd: { readonly endpoint: string }, signal: AbortSignal): Promise<Line[]> {
  const client = connectEtcd([etcd.endpoint]);
  const lines: Line[] = [];
  try {
    for await (const page of new EtcdLedger(client).read(1, signal))
      for (const { text } of page) lines.push(JSON.parse(text) as Line);
    return lines;
  } finally {
    client.close();
  }
}

/** The numbers of those that match, newest first. */
export const newestFirst = (lines: readonly Line[], matches: (line: Line) => boolean): number[] =>
  lines
    .filter(matches)
    .map(({ seq }) => seq)
    .toReversed();

/** Whether an event is of a Pod of that name. */
export const ofPod =
  (name: string) =>
  ({ data: { attachment } }: Line): boolean =>
    attachment !== undefined && `${attachment.namespace}/${attachment.pod}` === name;

/** What names a node; the end of a binding goes by where that began. */
export function onNode(lines: readonly Line[], node: string): (line: Line) => boolean {
  const containers = new Map<string, string | undefined>();
  for (const { type, data } of lines) if (type === 'AddressBound') containers.set(data.containerId ?? '', data.node);
  return ({ type, data }) => (type === 'AddressUnbound' ? containers.get(data.containerId ?? '') : data.node) === node;
}

/** What belongs to an owner: what was given to its Pods, and what became of that. */
export function ofOwner(kind: string, name: string): (line: Line) => boolean {
  const grants = new Set<number>();
  const containers = new Set<string>();
  return ({ seq, type, data }) => {
    const { owner, alloc = 0, containerId = '' } = data;
    if (type === 'AddressAllocated' || type === 'AddressTransferred') {
      if (owner?.kind !== kind || owner.name !== name) return false;
      grants.add(seq);
      return true;
    }
    if (type === 'AddressUnbound') return containers.has(containerId);
    if (!grants.has(alloc)) return false;
    if (type === 'AddressBound') containers.add(containerId);
    return true;
  };
}

/** Who has an address, and which containers may answer on it. */
export interface Standing {
  readonly pod: string;
  readonly uid: string;
  readonly containers: readonly string[];
}

/** By "subnet/address": every address that somebody has or may answer on, after these events. */
export function standingAfter(lines: readonly Line[]): Map<string, Standing> {
  const nobody: Standing = { pod: '', uid: '', containers: [] };
  const standing = new Map<string, Standing>();
  for (const line of lines)
    for (const address of Object.keys(line.before)) {
      const key = `${line.subnet}/${address}`;
      const after = next(standing.get(key) ?? nobody, line);
      if (after.uid === '' && after.containers.length === 0) standing.delete(key);
      else standing.set(key, after);
    }
  return standing;
}

function next(before: Standing, { type, data }: Line): Standing {
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

/** What an address record of the API says, in the same words. */
export const standingOf = (record: {
  readonly allocation?: {
    readonly podUid: string;
    readonly attachment?: { readonly namespace: string; readonly pod: string };
  };
  readonly bindings: readonly { readonly containerId: string }[];
}): Standing => ({
  pod: record.allocation ? `${record.allocation.attachment?.namespace}/${record.allocation.attachment?.pod}` : '',
  uid: record.allocation?.podUid ?? '',
  containers: record.bindings.map(({ containerId }) => containerId),
});
