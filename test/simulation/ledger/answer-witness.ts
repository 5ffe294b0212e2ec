/**
 * Checks each answer when an allocator sends it: its position is committed, and at that position
 * the answer is true. Records what clients have received.
 */
import type { MessageInput } from '../../../proto/codec.ts';
import { IpamService, LedgerService, SubnetsService } from '../../../proto/generated/ipledger.ts';
import type * as api from '../../../proto/generated/ipledger.ts';
import type { World } from '../kernel/world.ts';
import type { Period } from './address-book.ts';
import type { LogWitness } from './log-witness.ts';

interface AnyUnary {
  readonly path: string;
  readonly kind: string;
  responseDeserialize(bytes: Buffer): object;
}

const methods = new Map(
  [IpamService, SubnetsService, LedgerService]
    .flatMap((service) => Object.values(service) as unknown as AnyUnary[])
    .filter(({ kind }) => kind === 'unary')
    .map((method) => [method.path, method]),
);

/** An Allocate request, as clients write it. */
export interface PodRequest {
  readonly pod: { readonly name: string; readonly uid: string };
  readonly attachments: readonly {
    readonly provider: string;
    readonly ordinal?: number;
    readonly candidates?: readonly { readonly addresses: readonly string[] }[];
  }[];
}

/** An address that no Subnet has. */
export const outsideAddress = '10.9.9.9';

export class AnswerWitness {
  readonly #world: World;
  readonly #log: LogWitness;
  /** The last event that any client has received an answer about. */
  acknowledged = 0;
  /**
   * By Pod uid: the last event that any request for it had seen; Infinity if one has no position.
   */
  readonly #lastSeen = new Map<string, number>();
  readonly #fenced = new Set<string>();
  /**
   * The requested sets of addresses of each NIC, by uid and NIC; "any" for a request without one.
   */
  readonly #candidates = new Map<string, Set<string>>();

  constructor(world: World, log: LogWitness) {
    this.#world = world;
    this.#log = log;
  }

  /**
   * Called when a client sends a request for a Pod.
   * @param seenSeq what it has seen; undefined: unknown
   */
  onRequested({ pod, attachments }: PodRequest, seenSeq = Infinity): void {
    this.#lastSeen.set(pod.uid, Math.max(this.#lastSeen.get(pod.uid) ?? 0, seenSeq));
    for (const { provider, ordinal = 0, candidates = [] } of attachments) {
      const nic = `${pod.uid} ${provider}/${ordinal}`;
      const sets = this.#candidates.get(nic) ?? new Set();
      this.#candidates.set(nic, sets);
      for (const { addresses } of candidates) sets.add(addresses.join());
      if (candidates.length === 0) sets.add('any');
    }
  }

  /** Whether a request for a Pod named these addresses for a NIC, "provider/ordinal". */
  hasRequested(uid: string, nic: string, addresses: readonly string[]): boolean {
    return this.#candidates.get(`${uid} ${nic}`)?.has(addresses.join()) ?? false;
  }

  /**
   * Called when another program writes a claim key, by "subnet/address": Release skips it for a
   * while.
   */
  onFenced(name: string): void {
    this.#fenced.add(name);
  }

  /** Called when a client has received a refusal. */
  onRefused(what: string, request: object, code: string): void {
    const { pod, podUid } = request as { readonly pod?: { readonly uid: string }; readonly podUid?: string };
    const uid = podUid ?? pod?.uid ?? '';
    if (code === 'POD_SUPERSEDED' && /^[0-9a-f]{32}$/.test(uid))
      this.#world.fail('static Pod', `"${what}" is refused, and the uid of a static Pod does not end`);
    if (code === 'BUG') this.#world.fail('bug', `"${what}" fails in the allocator`);
  }

  /** Called when an allocator sends an answer. */
  onSent(path: string, request: object, bytes: Buffer): void {
    const method = methods.get(path);
    if (!method) return;
    const reply = method.responseDeserialize(bytes) as { readonly position?: api.Position };
    if (!reply.position) return this.#world.fail('proof', `${path} is answered without a position`);
    const { seq, hash } = reply.position;
    if (this.#log.hashOf(seq) !== hash)
      return this.#world.fail('proof', `${path} is answered at event ${seq} (${hash}), which is not committed`);
    if (path === IpamService.allocate.path)
      this.#checkAllocated(request as api.AllocateRequest, reply as api.AllocateReply, seq);
    else if (path === IpamService.release.path) this.#checkReleased(request, reply as api.ReleaseReply, seq);
    else if (path === IpamService.quarantine.path && (request as api.QuarantineRequest).address === outsideAddress)
      this.#world.fail('true answer', `${outsideAddress} is quarantined, and no Subnet has it`);
    else if (path === IpamService.bind.path || path === IpamService.attach.path)
      this.#checkBound(request as api.BindRequest, (reply as api.BindReply).allocation, seq);
    else if (path === IpamService.listAllocations.path)
      this.#checkList(request as api.ListAllocationsRequest, reply as api.ListAllocationsReply, seq);
  }

  /**
   * Called when a client has received an answer.
   * @param before what was acknowledged when it sent the request
   */
  onReceived(what: string, position: api.Position | undefined, before: number): void {
    if (!position) return this.#world.fail('proof', `${what} is answered without a position`);
    if (position.seq < before)
      this.#world.fail('linearizable', `${what} is answered at event ${position.seq}, after event ${before}`);
    this.acknowledged = Math.max(this.acknowledged, position.seq);
  }

  #checkAllocated({ pod, attachments }: api.AllocateRequest, { allocations }: api.AllocateReply, seq: number): void {
    const who = `Pod ${pod?.name} (uid ${pod?.uid})`;
    const lastSeen = this.#lastSeen.get(pod?.uid ?? '') ?? Infinity;
    if (allocations.length !== attachments.length)
      return this.#world.fail('all or none', `${who} requested ${attachments.length} and got ${allocations.length}`);
    for (const each of allocations) {
      const period = this.#periodAt(each.seq, seq);
      const addresses = each.addresses.map(({ address }) => address).join();
      if (!period || each.podUid !== pod?.uid || period.uid !== pod.uid || period.addresses.join() !== addresses)
        this.#world.fail(
          'true answer',
          `${who} got the answer ${addresses} of event ${each.seq}, which it has not at event ${seq}`,
        );
      const sets = this.#candidates.get(`${pod?.uid} ${each.attachment?.provider}/${each.attachment?.ordinal}`);
      const isRequested = (set: string): boolean =>
        set === 'any' || set.split(',').every((one) => addresses.split(',').includes(one));
      if (sets && ![...sets].some(isRequested))
        this.#world.fail('true answer', `${who} requested only ${[...sets].join(' or ')}, and got ${addresses}`);
      const newer = [...this.#log.periods.values()].find(
        (other) => other.pod === pod?.name && other.uid !== pod.uid && other.seq > lastSeen && other.seq < each.seq,
      );
      if (newer && newer.end >= each.seq)
        this.#world.fail(
          'outdated request',
          `${who} was last requested at event ${lastSeen}, and got ${addresses} after uid ${newer.uid} got its address by event ${newer.seq}`,
        );
    }
  }

  #checkReleased(
    { pod, podUid, allocationSeq }: MessageInput<api.ReleaseRequest>,
    { released }: api.ReleaseReply,
    seq: number,
  ): void {
    if (allocationSeq && released > 1)
      this.#world.fail('true answer', `one allocation of uid ${podUid} is to be released, and ${released} were`);
    const left = [...this.#log.periods.values()].find(
      (each) =>
        each.pod === pod &&
        each.uid === podUid &&
        each.seq <= seq &&
        each.end > seq &&
        !each.addresses.some((address) => this.#fenced.has(`${each.subnet}/${address}`)) &&
        (!allocationSeq || each.seq === allocationSeq),
    );
    if (left)
      this.#world.fail(
        'true answer',
        `uid ${podUid} is released at event ${seq}, and still has ${left.addresses.join()}`,
      );
  }

  #checkBound(
    { podUid, containerId, interface: name, node, bootId }: api.BindRequest,
    allocation: api.Allocation | undefined,
    seq: number,
  ): void {
    const period = allocation && this.#periodAt(allocation.seq, seq);
    if (!period || period.uid !== podUid)
      this.#world.fail(
        'true answer',
        `uid ${podUid} is bound to event ${allocation?.seq}, which it has not at event ${seq}`,
      );
    else if (!this.#log.book.wasBound(period.seq, `${containerId}/${name}`, node, bootId))
      this.#world.fail('true answer', `container ${containerId} of uid ${podUid} is not bound on ${node} ${bootId}`);
  }

  /** A first page without a filter has all, or 250. */
  #checkList(
    { subnet, namespace, pod, node, pageToken }: api.ListAllocationsRequest,
    { allocations, nextPageToken }: api.ListAllocationsReply,
    seq: number,
  ): void {
    if (`${subnet}${namespace}${pod}${node}${pageToken}${nextPageToken}` !== '') return;
    const reported = allocations.map((each) => `${each.seq} ${each.podUid}`).toSorted();
    const inForce = [...this.#log.periods.values()].filter((each) => each.seq <= seq && each.end > seq);
    const expected = inForce.map((each) => `${each.seq} ${each.uid}`).toSorted();
    if (reported.join() !== expected.join())
      this.#world.fail(
        'true answer',
        `at event ${seq} the allocations are ${expected.join()}, and the answer has ${reported.join()}`,
      );
  }

  #periodAt(alloc: number, seq: number): Period | undefined {
    const period = this.#log.periods.get(alloc);
    return period && period.seq <= seq && period.end > seq ? period : undefined;
  }
}
