/**
 * Random creation and deletion of Pods. Records the addresses that each Pod got, for comparison
 * with the log.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../e2e/support/eventually.ts';
import type { KubeObject } from '../harness/kubernetes/kubernetes-client.ts';
import { networksAnnotation } from '../e2e/support/test-environment.ts';
import { completePod, createObject, getObject, deleteObject } from './retrying-api.ts';
import type { SeededRandom } from './seeded-random.ts';
import { type Sandbox, setUpSandbox, tearDownSandbox } from './simulated-kubelet.ts';
import { testSize } from './test-size.ts';
import type { FaultEnvironment } from './fault-environment.ts';

const concurrency = 16;
/** Addresses that several Pods request. */
const contested = ['10.16.77.1', '10.16.77.2', '10.16.77.3', '10.16.77.4', '10.16.77.5'];

/** A Pod of the test and its state. */
export interface ChurnedPod {
  readonly name: string;
  readonly uid: string;
  /** The networks of its attachments. */
  readonly networks: readonly string[];
  /** All addresses from annotations and plugin, by network. */
  readonly reportedAddresses: Map<string, Set<string>>;
  readonly sandboxes: Sandbox[];
  fate: 'lives' | 'completed' | 'deleted';
}

export interface ChurnOptions {
  readonly count: number;
  /** The longest pause between the steps of a Pod. */
  readonly paceMs: number;
}

/** Creates Pods and runs random steps on each. @param lives gets each new Pod */
export async function churnPods(
  environment: FaultEnvironment,
  random: SeededRandom,
  { count, paceMs }: ChurnOptions,
  lives: ChurnedPod[],
): Promise<void> {
  const names = Array.from({ length: count }, (_, index) => `pod-${index}`);
  const scripts = names.map((name) => ({ name, random: random.fork() }));
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      for (let script = scripts.shift(); script; script = scripts.shift())
        await runPodSteps(environment, script.name, { random: script.random, paceMs, lives });
    }),
  );
}

interface PodScript {
  readonly random: SeededRandom;
  readonly paceMs: number;
  /** Receives each new Pod. */
  readonly lives: ChurnedPod[];
  /** Whether an earlier Pod of its name requested a contested address, which may be transferred. */
  readonly mayInherit?: boolean;
}

async function runPodSteps(
  environment: FaultEnvironment,
  name: string,
  { random, paceMs, lives, mayInherit = false }: PodScript,
): Promise<void> {
  const pause = (): Promise<void> => sleep(random.nextInt(paceMs));
  const address = random.nextBoolean(0.15) ? random.pick(contested) : undefined;
  const contends = mayInherit || address !== undefined;
  const life = await createPod(environment, name, random, { address });
  lives.push(life);
  await pause();
  if (random.nextBoolean(0.25)) await setUpSandboxes(environment, life);
  else if (random.nextBoolean(0.7)) await waitForAddresses(environment, life);
  await pause();
  // A Pod with a contested address does not stay, because other Pods wait for it
  const choice = contends ? 20 + random.nextInt(80) : random.nextInt(100);
  if (choice < 20) return;
  if (choice < 35) {
    await completePod(environment, name);
    life.fate = 'completed';
    await tearDownSandboxes(environment, life);
    if (random.nextBoolean(0.5)) return;
    await pause();
  }
  await deletePod(environment, life, { force: random.nextBoolean(0.3) });
  // Creates a new Pod of its name, perhaps before the watcher has processed the deletion
  if (choice >= 85) await runPodSteps(environment, name, { random, paceMs, lives, mayInherit: contends });
}

export interface PodOptions {
  /** Requested on `lan`, the only network then. */
  readonly address?: string | undefined;
  /** Default: random. */
  readonly networks?: readonly string[];
  /** Default: `node-1`. */
  readonly node?: string;
  /** Further annotations, with full keys; one may replace that of the networks. */
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly object[];
}

/** Creates a Pod with an attachment to one network, or to both. */
export async function createPod(
  environment: FaultEnvironment,
  name: string,
  random: SeededRandom,
  { address, networks, node = 'node-1', annotations, ownerReferences = [] }: PodOptions = {},
): Promise<ChurnedPod> {
  const chosen =
    networks ?? (address === undefined ? random.pick([['lan'], ['lan'], ['dual'], ['lan', 'dual']]) : ['lan']);
  const request = address === undefined ? {} : { 'lan.default.kubernetes.io/ip_address': address };
  const { metadata } = await createObject(environment, {
    kind: 'Pod',
    metadata: {
      name,
      annotations: { [networksAnnotation]: chosen.join(','), ...request, ...annotations },
      ownerReferences,
    },
    spec: { nodeName: node, restartPolicy: 'Never', containers: [{ name: 'box', image: 'box' }] },
  });
  return { name, uid: metadata.uid, networks: chosen, reportedAddresses: new Map(), sandboxes: [], fate: 'lives' };
}

/** Waits until a Pod has its addresses in annotations. */
export async function waitForAddresses(environment: FaultEnvironment, life: ChurnedPod): Promise<void> {
  const annotated = await eventually(async () => {
    const pod = await getObject(environment, 'Pod', life.name);
    const found = readAddresses(pod, life.networks);
    if (!found) throw new Error(`Pod ${life.name} has no address: ${JSON.stringify(pod.metadata.annotations)}`);
    return found;
  }, testSize.patienceMs);
  for (const [network, addresses] of annotated) recordAddresses(life, network, addresses);
}

/** Waits until all Pods have their addresses, with one list request per poll. */
export async function waitForAllAddresses(
  { kubernetes }: FaultEnvironment,
  lives: readonly ChurnedPod[],
): Promise<void> {
  await eventually(async () => {
    const pods = new Map((await kubernetes.list('Pod')).map((pod) => [pod.metadata.uid, pod]));
    for (const life of lives) {
      const pod = pods.get(life.uid);
      const annotated = pod && readAddresses(pod, life.networks);
      if (annotated) for (const [network, addresses] of annotated) recordAddresses(life, network, addresses);
    }
    const waiting = lives.filter(({ reportedAddresses }) => reportedAddresses.size === 0);
    if (waiting.length === 0) return;
    await sleep(500);
    throw new Error(`${waiting.length} Pods have no address, for example ${waiting[0]?.name}`);
  }, testSize.patienceMs);
}

/** The addresses by network; undefined when one is missing. */
function readAddresses(
  { metadata: { annotations = {} } }: KubeObject,
  networks: readonly string[],
): Map<string, string[]> | undefined {
  const found = new Map<string, string[]>();
  for (const network of networks) {
    const key = `${network}.default.kubernetes.io`;
    const addresses = annotations[`${key}/ip_address`];
    if (annotations[`${key}/allocated`] !== 'true' || addresses === undefined) return undefined;
    found.set(network, addresses.split(','));
  }
  return found;
}

function recordAddresses({ reportedAddresses }: ChurnedPod, network: string, addresses: readonly string[]): void {
  const known = reportedAddresses.get(network) ?? new Set();
  reportedAddresses.set(network, known);
  known.add(addresses.join(','));
}

/** Sets up a sandbox for each network of a Pod. */
export async function setUpSandboxes(environment: FaultEnvironment, life: ChurnedPod): Promise<void> {
  for (const network of life.networks) {
    const sandbox = await setUpSandbox(environment, life, network);
    life.sandboxes.push(sandbox);
    recordAddresses(
      life,
      network,
      sandbox.addresses.map((address) => address.replace(/\/\d+$/, '')),
    );
  }
}

/** Tears down all sandboxes of a Pod. */
export async function tearDownSandboxes(environment: FaultEnvironment, life: ChurnedPod): Promise<void> {
  for (const sandbox of life.sandboxes.splice(0)) await tearDownSandbox(environment, sandbox);
}

/** Deletes a Pod; with `force` before its sandboxes are torn down. */
export async function deletePod(
  environment: FaultEnvironment,
  life: ChurnedPod,
  { force }: { force: boolean },
): Promise<void> {
  if (!force) await tearDownSandboxes(environment, life);
  await deleteObject(environment, 'Pod', life.name);
  life.fate = 'deleted';
  if (force) await tearDownSandboxes(environment, life);
}
