/**
 * The Pods of a cluster in the rhythm of a day: rollouts of Deployments, restarts of StatefulSets,
 * Jobs, drains of nodes, and IPAMClaims. At the end of each hour the same Pods live.
 */
import { eventually } from '../e2e/support/eventually.ts';
import { networksAnnotation } from '../e2e/support/test-environment.ts';
import type { FaultEnvironment } from '../faults/fault-environment.ts';
import {
  type ChurnedPod,
  createPod,
  deletePod,
  type PodOptions,
  setUpSandboxes,
  waitForAddresses,
} from '../faults/pod-churn.ts';
import { completePod, createObject, deleteObject } from '../faults/retrying-api.ts';
import type { SeededRandom } from '../faults/seeded-random.ts';
import { forEachConcurrent } from '../scale/for-each-concurrent.ts';

const concurrency = 16;
const [deployments, replicas] = [12, 12];
const [statefulSets, members] = [4, 6];
const claims = 4;
/** Jobs in an hour of the night and of the working day. */
const jobs = { night: 40, day: 80 };
const networkChoices = [['lan'], ['lan'], ['dual'], ['lan', 'dual']];

/** What a Pod belongs to. */
interface Slot {
  readonly owner: string;
  /** Members of a StatefulSet and virtual machines keep their names. */
  readonly keepsName: boolean;
  readonly options: PodOptions;
  node: number;
  generation: number;
  life?: ChurnedPod;
}

/** How many Pods live at the end of each hour. */
export const livingPods = deployments * replicas + statefulSets * members + claims;

export class ClusterLife {
  /** Pods that were created. */
  created = 0;
  readonly #environment: FaultEnvironment;
  readonly #random: SeededRandom;
  readonly #slots: Slot[] = [];

  constructor(environment: FaultEnvironment, random: SeededRandom) {
    this.#environment = environment;
    this.#random = random;
  }

  /** Creates the workloads and their Pods. */
  async start(): Promise<void> {
    for (let index = 0; index < deployments; index++)
      for (let replica = 0; replica < replicas; replica++) this.#addSlot(`deployment-${index}`, { keepsName: false });
    for (let index = 0; index < statefulSets; index++) await this.#addStatefulSet(`stateful-${index}`);
    for (let index = 0; index < claims; index++) await this.#addMachine(`machine-${index}`);
    await forEachConcurrent(this.#slots, concurrency, (slot) => this.#startPod(slot));
  }

  /** Runs the Pods of an hour. @param hour since the start */
  async runHour(hour: number): Promise<void> {
    const ofDay = hour % 24;
    const isDay = ofDay >= 8 && ofDay < 19;
    const replaced = new Set<Slot>();
    const replaceWhere = (isReplaced: (slot: Slot) => boolean): void => {
      for (const slot of this.#slots) if (isReplaced(slot)) replaced.add(slot);
    };
    if (isDay) replaceWhere(({ owner }) => owner === `deployment-${(ofDay + hour) % deployments}`);
    if (ofDay % 4 === 3) replaceWhere(({ owner }) => owner === `stateful-${((hour - 3) / 4) % statefulSets}`);
    if (ofDay === 20) replaceWhere(({ owner }) => owner.startsWith('machine'));
    const drained = drainedNodes(hour, this.#environment.stack.agents.length);
    replaceWhere(({ node }) => drained.includes(node));
    const work = [
      ...[...replaced].map((slot) => () => this.#replacePod(slot, drained)),
      ...Array.from({ length: isDay ? jobs.day : jobs.night }, (_, index) => () => this.#runJob(`${hour}-${index}`)),
    ];
    await forEachConcurrent(this.#random.shuffle(work), concurrency, (run) => run());
  }

  /**
   * A node loses power: its sandboxes are gone without a DEL. It boots, and its kubelet sets up
   * sandboxes for its Pods again.
   * @param boot ends the agent and starts it in a new boot
   */
  async rebootNode(node: number, boot: () => Promise<void>): Promise<void> {
    const lives = this.#slots.flatMap(({ life, ...slot }) => (life && slot.node === node ? [life] : []));
    for (const { sandboxes } of lives) sandboxes.splice(0);
    await boot();
    await forEachConcurrent(lives, concurrency, (life) => setUpSandboxes(this.#on(node), life));
  }

  /** Deletes all Pods, StatefulSets and IPAMClaims. */
  async end(): Promise<void> {
    await forEachConcurrent(this.#slots, concurrency, (slot) => this.#endPod(slot));
    const owners = new Set(this.#slots.map(({ owner }) => owner));
    for (const owner of owners) {
      if (owner.startsWith('stateful')) await deleteObject(this.#environment, 'StatefulSet', owner);
      if (owner.startsWith('machine')) await deleteObject(this.#environment, 'IPAMClaim', owner);
    }
  }

  #addSlot(owner: string, { keepsName, ...options }: PodOptions & Pick<Slot, 'keepsName'>): void {
    const networks = options.networks ?? this.#random.pick(networkChoices);
    this.#slots.push({ owner, keepsName, options: { ...options, networks }, node: this.#pickNode([]), generation: 0 });
  }

  async #addStatefulSet(name: string): Promise<void> {
    const networks = this.#random.pick(networkChoices);
    const template = {
      metadata: { labels: { app: name }, annotations: { [networksAnnotation]: networks.join(',') } },
      spec: { containers: [{ name: 'box', image: 'box' }] },
    };
    const spec = { replicas: members, serviceName: name, selector: { matchLabels: { app: name } }, template };
    const { metadata } = await createObject(this.#environment, { kind: 'StatefulSet', metadata: { name }, spec });
    const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name, uid: metadata.uid, controller: true };
    for (let ordinal = 0; ordinal < members; ordinal++)
      this.#addSlot(name, { keepsName: true, networks, ownerReferences: [owner] });
  }

  /** A Pod whose address belongs to an IPAMClaim. */
  async #addMachine(name: string): Promise<void> {
    await this.#createClaim(name);
    const selection = JSON.stringify([{ name: 'lan', 'ipam-claim-reference': name }]);
    this.#addSlot(name, { keepsName: true, networks: ['lan'], annotations: { [networksAnnotation]: selection } });
  }

  async #createClaim(name: string): Promise<void> {
    const spec = { network: 'lan', interface: '' };
    await createObject(this.#environment, { kind: 'IPAMClaim', metadata: { name }, spec });
  }

  async #startPod(slot: Slot): Promise<void> {
    const ordinal = this.#slots.filter(({ owner }) => owner === slot.owner).indexOf(slot);
    const name = slot.keepsName ? `${slot.owner}-${ordinal}` : `${slot.owner}-${ordinal}-${slot.generation++}`;
    const { node } = slot;
    slot.life = await this.#createPod(name, { ...slot.options, node: this.#nameOf(node) });
    await setUpSandboxes(this.#on(node), slot.life);
  }

  /** A Deployment starts the new Pod first; an owner that keeps the name ends the old one first. */
  async #replacePod(slot: Slot, drained: readonly number[]): Promise<void> {
    const { life, node } = slot;
    slot.node = this.#pickNode(drained);
    if (slot.keepsName && life) await this.#deletePod(life, node);
    if (slot.owner.startsWith('machine')) await this.#replaceClaim(slot.owner);
    await this.#startPod(slot);
    if (!slot.keepsName && life) await this.#deletePod(life, node);
  }

  async #replaceClaim(name: string): Promise<void> {
    await deleteObject(this.#environment, 'IPAMClaim', name);
    await eventually(async () => {
      if (await this.#environment.kubernetes.find('IPAMClaim', name)) throw new Error(`IPAMClaim ${name} exists`);
    });
    await this.#createClaim(name);
  }

  async #endPod(slot: Slot): Promise<void> {
    const { life, node } = slot;
    delete slot.life;
    if (life) await this.#deletePod(life, node);
  }

  /** A Pod that runs to its end. Some request a MAC, which only a sandbox can have. */
  async #runJob(name: string): Promise<void> {
    const node = this.#pickNode([]);
    const isStatic = this.#random.nextBoolean(0.1);
    const options = isStatic ? staticRequest(this.created) : { networks: this.#random.pick(networkChoices) };
    const life = await this.#createPod(`job-${name}`, { ...options, node: this.#nameOf(node) });
    if (isStatic) await waitForAddresses(this.#environment, life);
    else await setUpSandboxes(this.#on(node), life);
    if (this.#random.nextBoolean(0.7)) await completePod(this.#environment, life.name);
    await this.#deletePod(life, node);
  }

  #createPod(name: string, options: PodOptions): Promise<ChurnedPod> {
    this.created++;
    return createPod(this.#environment, name, this.#random, options);
  }

  #deletePod(life: ChurnedPod, node: number): Promise<void> {
    return deletePod(this.#on(node), life, { force: this.#random.nextBoolean(0.1) });
  }

  #pickNode(excluded: readonly number[]): number {
    const all = this.#environment.stack.agents.map((_, index) => index);
    return this.#random.pick(all.filter((index) => !excluded.includes(index)));
  }

  #nameOf(node: number): string {
    return this.#agentOf(node).node;
  }

  #agentOf(node: number) {
    const agent = this.#environment.stack.agents[node];
    if (!agent) throw new Error(`there is no node ${node}`);
    return agent;
  }

  /** The environment as a plugin on this node sees it. */
  #on(node: number): FaultEnvironment {
    const { stack } = this.#environment;
    return { ...this.#environment, stack: { ...stack, agents: [this.#agentOf(node)] } };
  }
}

/** A fifth of the nodes is upgraded in each hour from 1 to 5 of the night. */
export function drainedNodes(hour: number, nodes: number): number[] {
  const group = (hour % 24) - 1;
  if (group < 0 || group > 4 || nodes < 5) return [];
  return Array.from({ length: nodes }, (_, index) => index).filter((index) => index % 5 === group);
}

function staticRequest(number: number): PodOptions {
  const bytes = [number >> 16, number >> 8, number].map((byte) => (byte & 255).toString(16).padStart(2, '0'));
  return { networks: ['lan'], annotations: { 'lan.default.kubernetes.io/mac_address': `02:00:5e:${bytes.join(':')}` } };
}
