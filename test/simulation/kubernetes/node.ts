/**
 * A node: its boots, its static Pods, the sandboxes that its runtime knows, and its agent.
 * Power may fail at any time: then all containers end without a DEL.
 */
import type { Program } from '../kernel/program.ts';
import type { Machine } from '../kernel/machine.ts';
import type { World } from '../kernel/world.ts';
import type { LedgerEpoch } from '../../../services/node-agent/bindings/ledger-epoch.ts';
import type { RequestHandler } from '../../../services/node-agent/daemon/daemon-server.ts';
import type { BindingWitness, ContainerNic } from './binding-witness.ts';
import type { ForeignHosts } from './foreign-hosts.ts';
import type { NicsInUse } from './nics-in-use.ts';
import { makeVirtualFolder, removeVirtual, virtualRoot, writeVirtualFile } from './virtual-files.ts';

/** A sandbox of the runtime, which keeps it over its own restarts and those of the node. */
export interface SandboxRecord {
  readonly id: string;
  readonly namespace: string;
  readonly name: string;
  /** The uid that the runtime knows: a static Pod's hash. */
  readonly uid: string;
  readonly boot: number;
  /** Without those that are unplugged. */
  nics: readonly { readonly network: string; readonly interface: string }[];
  state: 'creating' | 'ready' | 'stopped';
}

export interface StaticPodManifest {
  readonly name: string;
  /** kubelet's hash of the manifest, which is the uid of the static Pod. */
  readonly hash: string;
  readonly annotations: Readonly<Record<string, string>>;
}

interface NodeSurroundings {
  readonly nics: NicsInUse;
  readonly bindings: BindingWitness;
  readonly foreignHosts: ForeignHosts;
  /** Absent: its own. */
  readonly stateFolder: string | undefined;
}

export class SimulatedNode {
  readonly name: string;
  readonly world: World;
  readonly machine: Machine;
  readonly nics: NicsInUse;
  readonly bindings: BindingWitness;
  readonly foreignHosts: ForeignHosts;
  boot = 0;
  isOn = false;
  /** The folder of the agent's files, which agents of a test machine may share. */
  readonly stateFolder: string;
  readonly sandboxes = new Map<string, SandboxRecord>();
  /** By name. They are files, which stay. */
  readonly manifests = new Map<string, StaticPodManifest>();
  /** The DELs that were saved, by the name of their file, until it is removed. */
  readonly pendingDels = new Map<string, ContainerNic>();
  /** The next sandboxes that fail after their NICs are added, as by an error of the runtime. */
  failingSandboxes = 0;
  agent: Program | undefined;
  /** What the agent knows of the epoch of the ledger. */
  epoch: LedgerEpoch | undefined;
  /** What the agent's socket serves; undefined until it listens. */
  handler: RequestHandler | undefined;
  kubelet: Program | undefined;

  constructor(world: World, name: string, { nics, bindings, foreignHosts, stateFolder }: NodeSurroundings) {
    this.world = world;
    this.name = name;
    this.nics = nics;
    this.bindings = bindings;
    this.foreignHosts = foreignHosts;
    this.stateFolder = stateFolder ?? `${virtualRoot}/${name}`;
    this.machine = world.machine(name);
  }

  get folder(): string {
    return `${virtualRoot}/${this.name}`;
  }

  /** The folders of binding files and of pending DELs. */
  get bindingFiles(): string {
    return `${this.stateFolder}/bindings`;
  }

  get pendingDelFiles(): string {
    return `${this.stateFolder}/pending-dels`;
  }

  get bootId(): string {
    return `boot-${this.name}-${this.boot}`;
  }

  namespacePath(containerId: string): string {
    return `${this.folder}/run/netns-${this.boot}/${containerId}`;
  }

  makeNamespace(containerId: string): void {
    writeVirtualFile(this.namespacePath(containerId), '');
  }

  /** The network namespace ends, and its links with it. */
  removeNamespace(containerId: string): void {
    removeVirtual(this.namespacePath(containerId));
    this.nics.remove((nic) => nic.node === this.name && nic.containerId === containerId);
  }

  powerOn(): void {
    this.boot++;
    this.isOn = true;
    makeVirtualFolder(`${this.folder}/run/netns-${this.boot}`);
    this.world.trace(`${this.name} boots`);
  }

  /** Ends all programs and containers at once. Files of /run are lost. */
  powerOff(): void {
    this.world.trace(`${this.name} loses power`);
    this.isOn = false;
    this.kubelet?.crash();
    this.agent?.crash();
    this.handler = undefined;
    removeVirtual(`${this.folder}/run`);
    this.nics.remove(({ node }) => node === this.name);
  }
}
