/** Samples of the programs and the stores of a soak, and the CSV file with all of them. */
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { compactEtcd, readEtcdStatus } from '../harness/etcd.ts';
import type { Server } from '../harness/processes/server.ts';
import type { FaultEnvironment } from '../faults/fault-environment.ts';
import type { enableHeapProbes } from '../scale/heap.ts';
import { printProgress } from '../harness/progress.ts';
import type { Sample } from './judgement.ts';

const everyMs = 5_000;
const keyPrefix = '/ipledger/v1/';

/** A program of ipledger, with the address of its metrics. */
export interface SampledProgram {
  readonly server: Server & { readonly health: string };
  /** Whether it leads, if it has a standby. A leader does, and keeps, more than a standby. */
  readonly isLeader?: () => Promise<boolean>;
}

export interface SamplerSettings {
  readonly environment: FaultEnvironment;
  readonly programs: readonly SampledProgram[];
  readonly probes: ReturnType<typeof enableHeapProbes>;
  /** The CSV file. */
  readonly file: string;
  /** Simulated hours and Pods so far. */
  readonly progress: () => Pick<Sample, 'hour' | 'pods'>;
}

export class Sampler {
  /** What is judged: without the hours in which a program changed its role. */
  readonly samples: Sample[] = [];
  readonly #settings: SamplerSettings;
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout;
  /** The roles at the end of the last hour, by program. */
  readonly #roles = new Map<string, string>();
  /** The samples of this hour. */
  #recent: (Sample & { readonly seconds: number })[] = [];

  constructor(settings: SamplerSettings) {
    this.#settings = settings;
    writeFileSync(settings.file, 'seconds,hour,pods,subject,life,quantity,value\n');
    this.#timer = setInterval(() => this.#sampleProcesses(), everyMs);
  }

  end(): void {
    clearInterval(this.#timer);
  }

  /** Samples what costs more, at the end of an hour. All programs have to run. */
  async sampleHour(): Promise<void> {
    const { programs, probes, environment } = this.#settings;
    this.#sampleProcesses();
    for (const { server } of programs) {
      const [heap, timers] = [await probes.liveBytes(server), await countTimers(server)];
      this.#record(server.name, server.pid, { heap, timers });
    }
    const { etcd, agents } = environment.stack;
    await compactEtcd(etcd, '--physical');
    const { dbSizeInUse } = await readEtcdStatus(etcd);
    this.#record('etcd', 0, { 'bytes in use': dbSizeInUse, ...(await countKeys(etcd)) });
    const count = (folders: readonly string[]): number => folders.flatMap(listFiles).length;
    const bindings = count(agents.map((agent) => agent.bindings));
    const pendingDels = count(agents.map((agent) => agent.pendingDels));
    this.#record('all nodes', 0, { 'files of bindings': bindings, 'files of DELs': pendingDels });
    await this.#addRoles();
  }

  /** Adds its role to each process, and leaves out the processes whose role is new. */
  async #addRoles(): Promise<void> {
    const settled = new Map<string, string>();
    for (const { server, isLeader } of this.#settings.programs) {
      const role = isLeader ? `${server.name} ${(await isLeader()) ? 'leader' : 'standby'}` : server.name;
      if (this.#roles.get(server.name) === role) settled.set(server.name, role);
      else settled.delete(server.name);
      this.#roles.set(server.name, role);
    }
    const lines: string[] = [];
    for (const { seconds, ...sample } of this.#recent) {
      const subject = this.#roles.has(sample.subject) ? settled.get(sample.subject) : sample.subject;
      if (subject !== undefined) this.samples.push({ ...sample, subject });
      const { hour, pods, life, quantity, value } = sample;
      const name = subject ?? `${sample.subject} changed`;
      lines.push(`${[seconds.toFixed(1), hour, pods, name, life, quantity, value].join()}\n`);
    }
    appendFileSync(this.#settings.file, lines.join(''));
    this.#recent = [];
  }

  #sampleProcesses(): void {
    for (const { server } of this.#settings.programs) {
      const { name, pid, isAlive } = server;
      if (!isAlive) continue;
      const read = readProcess(pid);
      if (read) this.#record(name, pid, read);
      else printProgress(`${name} ended while it was sampled`);
    }
  }

  #record(subject: string, life: number, values: Readonly<Record<string, number>>): void {
    const { hour, pods } = this.#settings.progress();
    const seconds = (performance.now() - this.#startedAt) / 1_000;
    for (const [quantity, value] of Object.entries(values))
      this.#recent.push({ seconds, hour, pods, subject, life, quantity, value });
  }
}

/** Reads what a process uses, in bytes and pieces; undefined if it has ended. */
export function readProcess(pid: number): Record<'resident' | 'threads' | 'descriptors', number> | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const field = (key: string): number => Number(new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
    const descriptors = readdirSync(`/proc/${pid}/fd`).length;
    // A process that ends has no memory
    if (!status.includes('VmRSS')) return undefined;
    return { resident: field('VmRSS') * 1_024, threads: field('Threads'), descriptors };
  } catch {
    return undefined;
  }
}

/** The timers of a program that are set. */
async function countTimers({ health }: SampledProgram['server']): Promise<number> {
  const page = await fetch(`http://${health}/metrics`, { signal: AbortSignal.timeout(30_000) });
  const [, count = '0'] = /^nodejs_active_resources\{type="Timeout"\} (\d+)$/m.exec(await page.text()) ?? [];
  return Number(count);
}

/** The keys of the ledger by the first part of their names, such as "keys log". */
async function countKeys({ etcdctl }: FaultEnvironment['stack']['etcd']): Promise<Record<string, number>> {
  const names = (await etcdctl(['get', '--prefix', '--keys-only', keyPrefix]))
    .split('\n')
    .filter((line) => line !== '');
  const kinds = Map.groupBy(names, (name) => `keys ${name.slice(keyPrefix.length).split('/')[0]}`);
  return Object.fromEntries([...kinds].map(([kind, { length }]) => [kind, length]));
}

/** The files of a folder, which may not exist yet. */
export const listFiles = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
        entry.isFile() ? entry.name : [],
      )
    : [];
