/** A client of a history. It repeats a request without an answer, mostly at another replica. */
import type { Connection } from '../../lib/grpc/client.ts';
import {
  type AttachReply,
  type BindReply,
  IpamService,
  type Position,
  SubnetsService,
} from '../../proto/generated/ipledger.ts';
import { pickWeighted, type SeededRandom } from '../faults/seeded-random.ts';
import { type HistoryCall, type Input, toRecord, toRecordedAllocation } from './history.ts';
import {
  excludedIn,
  hotAddresses,
  type KnownSandbox,
  lan,
  lanAddresses,
  type Network,
  nodes,
  owners,
  podNames,
  type PodName,
  spares,
  type World,
} from './world.ts';

const namespace = 'default';
const cooldownMs = 1_000;
const timeoutMs = 1_500;
/** The timeout of a call: some reads outlast a pause of their replica, and then have an answer. */
const patientMs = 9_000;
const attachTimeoutMs = 500;
const maxAttempts = 4;
const keptSandboxes = 12;
/** The number of Pods of a name that send requests, among them late requests of earlier Pods. */
const generations = 4;

type Reply = { readonly position?: Position };
type Call<Request, Answer extends Reply> = Pick<HistoryCall<Request, Answer>, 'method' | 'request' | 'answerOf'> & {
  readonly input: Omit<Input, 'request' | 'client'>;
  /** The replica; by default a random one. */
  readonly replica?: Connection | undefined;
  /** The request id; by default a new id. */
  readonly id?: string;
};

export class Client {
  readonly #index: number;
  readonly #world: World;
  readonly #random: SeededRandom;
  /** The newest event that this client has seen. */
  #seen = 0;

  constructor(index: number, world: World, random: SeededRandom) {
    this.#index = index;
    this.#world = world;
    this.#random = random;
  }

  async doSomething(): Promise<void> {
    const random = this.#random;
    const act = pickWeighted<() => Promise<unknown>>(random, [
      [6, () => this.#allocate(true)],
      [5, () => this.#allocate(false)],
      [6, () => this.#release()],
      [6, () => this.#bind()],
      [3, () => this.#unbind()],
      [10, () => this.readAddress(random.pick(random.nextBoolean(0.5) ? hotAddresses : lanAddresses))],
      [5, () => this.list(random.pick(podNames))],
      [2, () => this.#reserve()],
      [3, () => this.#unreserve()],
      [2, () => this.#quarantine()],
      [4, () => this.#unquarantine()],
      [2, () => this.#changeSpare(random.pick(spares))],
      [1, () => this.applySubnet(lan, [random.pick(lanAddresses)])],
      [1, () => this.#retireSubnet()],
      [3, () => this.#readSubnet()],
    ]);
    await act();
  }

  /** Sends a request until it has an answer. Gives up at random, as a client that ends does. */
  async #call<Request, Answer extends Reply>(each: Call<Request, Answer>): Promise<Answer | undefined> {
    const { method, request, answerOf, input, replica, id = this.#nextId() } = each;
    const isRead = ['list', 'getAddress', 'getSubnet'].includes(input.kind);
    for (let attempt = 1; ; attempt++) {
      const reply = await this.#world.history.call({
        connection: replica ?? this.#random.pick(this.#world.replicas),
        method,
        request,
        input: { ...input, request: id, client: this.#index },
        ...(answerOf && { answerOf }),
        timeoutMs: isRead && this.#random.nextBoolean(0.3) ? patientMs : timeoutMs,
      });
      if (typeof reply === 'object') {
        this.#seen = Math.max(this.#seen, reply.position?.seq ?? 0);
        return reply;
      }
      if (reply === 'refused' || isRead || attempt === maxAttempts || this.#random.nextBoolean(0.2)) return undefined;
    }
  }

  #nextId(): string {
    return `request-${++this.#world.requests}`;
  }

  /** Chooses a Pod uid of a name: the newest, or one that is late. */
  #anyUid({ name }: PodName): string {
    const uids = this.#world.uids.get(name) ?? [];
    const recent = uids.slice(-generations);
    return (this.#random.nextBoolean(0.6) ? recent.at(-1) : this.#random.pick([...recent, ''])) ?? '';
  }

  async #allocate(isNew: boolean): Promise<void> {
    const pod = this.#random.pick(podNames);
    const uids = this.#world.uids.get(pod.name) ?? [];
    this.#world.uids.set(pod.name, uids);
    if (isNew) uids.push(`${pod.name}-${uids.length + 1}`);
    const uid = isNew ? (uids.at(-1) as string) : this.#anyUid(pod);
    if (uid === '') return;
    const isStatic = pod.networks.length === 1 && this.#random.nextBoolean(0.5);
    const address = isStatic ? this.#random.pick(hotAddresses) : '';
    const seenSeq = this.#random.nextBoolean(0.5) ? this.#seen : 0;
    const attachments = pod.networks.map(({ name, provider }) => ({
      provider,
      subnets: [name],
      candidates: isStatic ? [{ addresses: [address] }] : [],
    }));
    const known = { kind: 'allocate', pod: pod.name, uid, seenSeq } as const;
    await this.#call({
      input: isStatic ? { ...known, subnet: lan.name, address } : known,
      method: IpamService.allocate,
      request: {
        pod: { namespace, name: pod.name, uid },
        attachments,
        seenSeq,
        validMs: this.#random.nextBoolean(0.5) ? timeoutMs : 0,
      },
      answerOf: ({ allocations }) => ({ allocations: allocations.map(toRecordedAllocation) }),
    });
  }

  /**
   * Releases a Pod that was deleted; or, as an operator, one allocation, after which its Pod may
   * get another address.
   */
  async #release(): Promise<void> {
    const pod = this.#random.pick(podNames);
    const uid = this.#anyUid(pod);
    if (uid === '') return;
    const held = pod.networks.length === 1 && this.#random.nextBoolean(0.3) ? await this.list(pod) : undefined;
    const allocSeq = held?.find((each) => each.uid === uid)?.seq ?? 0;
    await this.#call({
      input: { kind: 'release', pod: pod.name, uid, allocSeq },
      method: IpamService.release,
      request: {
        namespace,
        pod: pod.name,
        podUid: uid,
        cause: allocSeq > 0 ? 'RELEASE_CAUSE_OPERATOR' : 'RELEASE_CAUSE_POD_DELETED',
        allocationSeq: allocSeq,
      },
      answerOf: ({ released }) => ({ count: released }),
    });
  }

  async #bind(): Promise<void> {
    const pod = this.#random.pick(podNames);
    const uid = this.#anyUid(pod);
    if (uid === '') return;
    const id = this.#nextId();
    const node = this.#random.pick(nodes);
    const sandbox = {
      namespace,
      pod: pod.name,
      podUid: uid,
      provider: lan.provider,
      containerId: id,
      interface: 'net1',
      node,
      bootId: `boot-of-${node}`,
    };
    const kind = this.#random.pick(['bind', 'attach'] as const);
    const known = { pod: pod.name, uid, container: id, node };
    const answerOf = ({ allocation }: BindReply | AttachReply) => ({
      allocations: allocation ? [toRecordedAllocation(allocation)] : [],
    });
    const reply =
      kind === 'bind'
        ? await this.#call({ id, input: { kind, ...known }, method: IpamService.bind, request: sandbox, answerOf })
        : await this.#call({
            id,
            input: { kind, ...known },
            method: IpamService.attach,
            request: { ...sandbox, timeoutMs: attachTimeoutMs },
            answerOf,
          });
    if (!reply) return;
    this.#world.sandboxes.push({ ...known, allocations: answerOf(reply).allocations });
    // A bound address is never allocated again, so the clients must not forget many containers
    if (this.#world.sandboxes.length > keptSandboxes) await this.#unbind(this.#world.sandboxes.shift());
  }

  async #unbind(sandbox: KnownSandbox | undefined = this.#world.sandboxes.shift()): Promise<void> {
    if (!sandbox) return;
    await this.#call({
      input: { kind: 'unbind', ...sandbox },
      method: IpamService.unbind,
      request: {
        namespace,
        pod: sandbox.pod,
        provider: lan.provider,
        containerId: sandbox.container,
        interface: 'net1',
      },
      answerOf: ({ unbound }) => ({ count: unbound }),
    });
  }

  async readAddress(address: string, { replica }: { readonly replica?: Connection } = {}): Promise<void> {
    const local = replica === undefined && this.#random.nextBoolean(0.3);
    const minSeq = local ? this.#seen : 0;
    await this.#call({
      input: { kind: 'getAddress', subnet: lan.name, address, minSeq, local },
      method: IpamService.getAddress,
      request: {
        subnet: lan.name,
        address,
        minSeq,
        consistency: local ? 'CONSISTENCY_LOCAL' : 'CONSISTENCY_LINEARIZABLE',
      },
      answerOf: ({ record }) => (record ? { record: toRecord(record) } : {}),
      replica,
    });
  }

  async list({ name }: PodName, replica?: Connection) {
    const reply = await this.#call({
      input: { kind: 'list', pod: name },
      method: IpamService.listAllocations,
      request: { namespace, pod: name },
      answerOf: ({ allocations }) => ({ allocations: allocations.map(toRecordedAllocation) }),
      replica,
    });
    return reply?.allocations.map(toRecordedAllocation);
  }

  async #reserve(): Promise<void> {
    const [id, address, owner] = [this.#nextId(), this.#random.pick(hotAddresses), this.#random.pick(owners)];
    await this.#call({
      id,
      input: { kind: 'reserve', subnet: lan.name, address, owner },
      method: IpamService.reserve,
      request: { subnet: lan.name, addresses: [address], reservedFor: owner, reason: id },
    });
  }

  async #unreserve(): Promise<void> {
    const [id, address] = [this.#nextId(), this.#random.pick(hotAddresses)];
    const owner = this.#random.pick([...owners, '']);
    await this.#call({
      id,
      input: { kind: 'unreserve', subnet: lan.name, address, owner },
      method: IpamService.unreserve,
      request: { subnet: lan.name, addresses: [address], reservedFor: owner, reason: id },
    });
  }

  async #quarantine(): Promise<void> {
    const [id, address] = [this.#nextId(), this.#random.pick(hotAddresses)];
    await this.#call({
      id,
      input: { kind: 'quarantine', subnet: lan.name, address },
      method: IpamService.quarantine,
      request: { subnet: lan.name, address, reason: id },
    });
  }

  async #unquarantine(): Promise<void> {
    const [id, address] = [this.#nextId(), this.#random.pick(hotAddresses)];
    await this.#call({
      id,
      input: { kind: 'unquarantine', subnet: lan.name, address },
      method: IpamService.unquarantine,
      request: { subnet: lan.name, address, reason: id },
    });
  }

  async #changeSpare(spare: Network): Promise<void> {
    await this.applySubnet(spare, [excludedIn(spare, ++this.#world.requests)]);
  }

  async applySubnet({ name, provider, cidrBlock }: Network, excludeIps: readonly string[]): Promise<void> {
    const value = excludeIps.join();
    await this.#call({
      input: { kind: 'apply', subnet: name, value },
      method: SubnetsService.applySubnet,
      request: {
        name,
        spec: { cidrBlock, provider, excludeIps: [...excludeIps], cooldownMs },
        source: { uid: value, generation: 1 },
      },
    });
  }

  async #retireSubnet(): Promise<void> {
    const { name } = this.#random.pick(spares);
    await this.#call({
      input: { kind: 'retire', subnet: name },
      method: SubnetsService.deleteSubnet,
      request: { name },
    });
  }

  async #readSubnet(): Promise<void> {
    const { name } = this.#random.pick(spares);
    await this.#call({
      input: { kind: 'getSubnet', subnet: name },
      method: SubnetsService.getSubnet,
      request: { name },
      answerOf: ({ subnet }) => ({ value: subnet?.source?.uid ?? '' }),
    });
  }
}
