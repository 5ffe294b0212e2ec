/**
 * A kubelet with its container runtime: it runs the Pods of its node and its static Pods, whose
 * mirrors it keeps, and deletes a Pod from the API when its containers have ended. Its view of the
 * API is late.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { asNumber, asRecord, asText } from '../../../lib/kubernetes/untyped-json.ts';
import type { SeededRandom } from '../../faults/seeded-random.ts';
import type { Program } from '../kernel/program.ts';
import type { StoredObject } from './api-server.ts';
import {
  type ClusterUser,
  isDeleting,
  nameOf,
  namespace,
  networksAnnotation,
  nodeOf,
  phaseOf,
  podsPath,
  uidOf,
} from './cluster-user.ts';
import { type NicRequest, pluginAdd, pluginDel } from './cni-plugin.ts';
import type { SandboxRecord, SimulatedNode, StaticPodManifest } from './node.ts';
import { isLiving, machineOf, mirrorHashOf, usesHostNetwork } from './pod-identity.ts';

/** The view of the API is late by at most this time. */
const maxLagMs = 1_500;
const mirrorCheckMs = 30_000;
const maxBackoffMs = 20_000;
/** Attempts to end a sandbox that never started, before its DEL counts as lost. */
const maxUndoTries = 3;

/** A Pod that this node runs. A static Pod has the hash of its manifest as uid. */
interface RunnablePod {
  readonly name: string;
  readonly uid: string;
  readonly isStatic: boolean;
  readonly isEnding: boolean;
  readonly graceSeconds: number;
}

export class Kubelet {
  readonly #node: SimulatedNode;
  readonly #user: ClusterUser;
  readonly #macs: ReadonlyMap<string, string>;
  readonly #random: SeededRandom;
  readonly #reusesIds: boolean;
  readonly #workers = new Set<string>();
  #program: Program | undefined;
  #isSyncPlanned = false;
  #containers = 0;
  #startedBoot = 0;

  constructor(node: SimulatedNode, user: ClusterUser, macs: ReadonlyMap<string, string>) {
    this.#node = node;
    this.#user = user;
    this.#macs = macs;
    this.#random = node.world.random(`kubelet ${node.name}`);
    this.#reusesIds = node.world.random('container IDs').nextBoolean(0.3);
  }

  /** Starts it after a boot, or after it crashed with the runtime. */
  start(): void {
    this.#workers.clear();
    this.#isSyncPlanned = false;
    // Some runtimes give the same IDs again after a boot
    if (this.#startedBoot !== this.#node.boot && this.#reusesIds) this.#containers = 0;
    this.#startedBoot = this.#node.boot;
    const program = this.#node.machine.start(`kubelet ${this.#node.name}`, () => {
      this.#forgetUnfinished();
      const stop = this.#user.model.onChange(() => this.#planSync());
      program.ended.addEventListener('abort', stop);
      setInterval(() => this.#planSync(), mirrorCheckMs);
      this.#planSync();
    });
    this.#program = program;
    this.#node.kubelet = program;
  }

  /** A container that was being made when the runtime ended: sometimes no DEL follows. */
  #forgetUnfinished(): void {
    const { sandboxes } = this.#node;
    for (const sandbox of sandboxes.values()) {
      const isCurrent = sandbox.boot === this.#node.boot;
      if (sandbox.state !== 'creating' && (isCurrent || this.#random.nextBoolean(0.7))) continue;
      if (sandbox.state === 'creating' && this.#random.nextBoolean(0.5)) continue;
      if (isCurrent) this.#node.removeNamespace(sandbox.id);
      sandboxes.delete(sandbox.id);
    }
  }

  #planSync(): void {
    if (this.#isSyncPlanned) return;
    this.#isSyncPlanned = true;
    this.#node.world.after(this.#random.nextInt(maxLagMs), () => this.#sync(), this.#program, 'kubelet');
  }

  #sync(): void {
    this.#isSyncPlanned = false;
    this.#keepMirrors();
    const uids = [...this.#pods().map(({ uid }) => uid), ...[...this.#node.sandboxes.values()].map(({ uid }) => uid)];
    for (const uid of new Set(uids)) {
      if (this.#workers.has(uid)) continue;
      this.#workers.add(uid);
      void this.#work(uid).finally(() => this.#workers.delete(uid));
    }
  }

  #pods(): RunnablePod[] {
    const all = this.#objects()
      .filter((pod) => mirrorHashOf(pod) === '')
      .map((pod) => runnable(pod));
    const statics = [...this.#node.manifests.values()].map(({ name, hash }) => ({
      name: this.#mirrorName(name),
      uid: hash,
      isStatic: true,
      isEnding: false,
      graceSeconds: 30,
    }));
    return [...all, ...statics];
  }

  #objects(): readonly StoredObject[] {
    return this.#user.pods().filter((pod) => nodeOf(pod) === this.#node.name);
  }

  #mirrorName(manifest: string): string {
    return `${manifest}-${this.#node.name}`;
  }

  /** Deletes mirrors that are being deleted, or are of another manifest, and makes missing ones. */
  #keepMirrors(): void {
    const expected = new Map([...this.#node.manifests.values()].map((each) => [this.#mirrorName(each.name), each]));
    for (const pod of this.#objects()) {
      const hash = mirrorHashOf(pod);
      const isRight = expected.get(nameOf(pod))?.hash === hash && !isDeleting(pod);
      if (hash !== '' && !isRight) this.#deleteNow(pod);
    }
    for (const [name, manifest] of expected) this.#createMirror(name, manifest);
  }

  #createMirror(name: string, { hash, annotations }: StaticPodManifest): void {
    const { name: node } = this.#node;
    const registered = this.#user.try('GET', `/api/v1/nodes/${node}`);
    if (!registered) return;
    const { uid } = asRecord(registered['metadata']);
    const owner = { apiVersion: 'v1', kind: 'Node', name: node, uid, controller: true };
    const marks = { 'kubernetes.io/config.mirror': hash, 'kubernetes.io/config.hash': hash };
    const meta = { name, namespace, annotations: { ...annotations, ...marks }, ownerReferences: [owner] };
    this.#user.try('POST', podsPath, { metadata: meta, spec: { nodeName: node } });
  }

  #deleteNow(pod: StoredObject): void {
    const body = { gracePeriodSeconds: 0, preconditions: { uid: uidOf(pod) } };
    this.#user.try('DELETE', `${podsPath}/${nameOf(pod)}`, body);
  }

  /** Brings one Pod to what the API or its manifest demands. */
  async #work(uid: string): Promise<void> {
    for (let failures = 0; ;) {
      const pod = this.#pods().find((each) => each.uid === uid);
      const sandboxes = [...this.#node.sandboxes.values()].filter((each) => each.uid === uid);
      const ready = sandboxes.find(({ state, boot }) => state === 'ready' && boot === this.#node.boot);
      if (!pod || pod.isEnding) {
        for (const sandbox of sandboxes) await this.#stop(sandbox, pod?.graceSeconds ?? 30);
        const object = this.#objects().find((each) => uidOf(each) === uid);
        if (object && isDeleting(object)) this.#deleteNow(object);
        return;
      }
      if (ready) return this.#setRunning(pod);
      for (const sandbox of sandboxes) await this.#stop(sandbox, 0);
      if (pod.isStatic && this.#runsOther(pod)) await sleep(500);
      else if (!(await this.#create(pod))) await sleep(Math.min(maxBackoffMs, 500 * 2 ** failures++));
    }
  }

  /** A static Pod of the same name has to end first. */
  #runsOther({ name, uid }: RunnablePod): boolean {
    return [...this.#node.sandboxes.values()].some((each) => each.name === name && each.uid !== uid);
  }

  async #create({ name, uid }: RunnablePod): Promise<boolean> {
    const object = this.#objects().find((each) => nameOf(each) === name);
    if (!object) return false;
    const annotation = usesHostNetwork(object)
      ? ''
      : asText(asRecord(object.metadata['annotations'])[networksAnnotation]);
    const networks = annotation.split(',').filter(Boolean);
    const nics = networks.map((network, index) => ({ network, interface: `net${index + 1}` }));
    const number = `${++this.#containers}${this.#reusesIds ? '' : `-${this.#node.boot}`}`;
    const id = `${uid.slice(0, 12)}-${number}`;
    const sandbox: SandboxRecord = { id, namespace, name, uid, boot: this.#node.boot, nics, state: 'creating' };
    this.#node.sandboxes.set(id, sandbox);
    this.#node.makeNamespace(id);
    for (const nic of nics) if (!(await this.#add(sandbox, nic, object))) return this.#undo(sandbox);
    if (this.#node.failingSandboxes > 0) {
      this.#node.failingSandboxes--;
      return this.#undo(sandbox);
    }
    sandbox.state = 'ready';
    return true;
  }

  async #undo(sandbox: SandboxRecord): Promise<false> {
    for (let tries = 0; tries < maxUndoTries && !(await this.#delAll(sandbox)); tries++) await sleep(1_000);
    this.#end(sandbox);
    return false;
  }

  #add(sandbox: SandboxRecord, nic: NicRequest, pod: StoredObject): Promise<boolean> {
    const machine = machineOf(pod);
    const ledger = { name: sandbox.name, uid: sandbox.uid, ...machine, isMachine: machine !== undefined };
    return pluginAdd(this.#node, sandbox, nic, { ledger, macs: this.#macs });
  }

  /** Removes a NIC of a running container, and adds it again, as tools for hot-plugging do. */
  replug(random: SeededRandom): void {
    const running = [...this.#node.sandboxes.values()].filter(
      ({ state, boot, nics, uid }) =>
        state === 'ready' && boot === this.#node.boot && nics.length > 0 && !this.#workers.has(uid),
    );
    if (running.length === 0 || !this.#program?.isAlive) return;
    const sandbox = random.pick(running);
    this.#workers.add(sandbox.uid);
    this.#program.run(() => {
      void this.#replug(sandbox, random.pick(sandbox.nics)).finally(() => {
        this.#workers.delete(sandbox.uid);
        this.#planSync();
      });
    });
  }

  async #replug(sandbox: SandboxRecord, nic: NicRequest): Promise<void> {
    const before = sandbox.nics;
    if (!(await pluginDel(this.#node, sandbox, nic))) return;
    sandbox.nics = before.filter((each) => each !== nic);
    for (let tries = 0; tries < maxUndoTries; tries++) {
      const pod = this.#objects().find(({ metadata }) => metadata['name'] === sandbox.name);
      if (!pod || !(await this.#add(sandbox, nic, pod))) continue;
      sandbox.nics = before;
      return;
    }
    await pluginDel(this.#node, sandbox, nic);
  }

  /** Ends the containers, then the sandbox. The runtime repeats a DEL that failed. */
  async #stop(sandbox: SandboxRecord, graceSeconds: number): Promise<void> {
    if (sandbox.state === 'ready' && sandbox.boot === this.#node.boot)
      await sleep(this.#random.nextInt(graceSeconds * 500 + 1));
    sandbox.state = 'stopped';
    while (!(await this.#delAll(sandbox))) await sleep(2_000);
    if (this.#random.nextBoolean(0.2)) await this.#delAll(sandbox);
    this.#end(sandbox);
  }

  async #delAll(sandbox: SandboxRecord): Promise<boolean> {
    for (const nic of sandbox.nics.toReversed()) if (!(await pluginDel(this.#node, sandbox, nic))) return false;
    return true;
  }

  #end(sandbox: SandboxRecord): void {
    this.#node.removeNamespace(sandbox.id);
    this.#node.sandboxes.delete(sandbox.id);
  }

  #setRunning({ name, uid, isStatic }: RunnablePod): void {
    const object = this.#objects().find((each) => nameOf(each) === name);
    if (!object || phaseOf(object) !== 'Pending') return;
    if (!isStatic && uidOf(object) !== uid) return;
    const body = { metadata: { uid: uidOf(object) }, status: { phase: 'Running' } };
    this.#user.try('PATCH', `${podsPath}/${name}/status`, body);
  }
}

function runnable(pod: StoredObject): RunnablePod {
  const graceSeconds = asNumber(pod.metadata['deletionGracePeriodSeconds']) ?? 30;
  return { name: nameOf(pod), uid: uidOf(pod), isStatic: false, isEnding: !isLiving(pod), graceSeconds };
}
