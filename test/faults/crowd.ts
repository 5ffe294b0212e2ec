/** Pods that come and go, as dice have it; and what each was told, so that it can be compared with the record. */
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../e2e/eventually.ts';
import type { KubeObject } from '../e2e/kubernetes.ts';
import { networksAnnotation } from '../e2e/scene.ts';
import { complete, create, get, remove } from './api.ts';
import type { Dice } from './dice.ts';
import { type Sandbox, setUp, tearDown } from './kubelet.ts';
import { scale } from './scale.ts';
import type { Stage } from './stage.ts';

const atOnce = 16;
/** Addresses that several Pods want for themselves. */
const contested = ['10.16.77.1', '10.16.77.2', '10.16.77.3', '10.16.77.4', '10.16.77.5'];

/** A Pod that was made, and what became of it. */
export interface Life {
  readonly name: string;
  readonly uid: string;
  /** The networks that it is attached to. */
  readonly networks: readonly string[];
  /** By network: the addresses that it was shown or told, at any time. */
  readonly told: Map<string, Set<string>>;
  readonly sandboxes: Sandbox[];
  fate: 'lives' | 'completed' | 'deleted';
}

export interface Coming {
  readonly count: number;
  /** How long one lingers at most between its steps. */
  readonly paceMs: number;
}

/** Makes so many Pods and does to each what dice say. @param lives all that there ever were, added to as they come. */
export async function comeAndGo(stage: Stage, dice: Dice, { count, paceMs }: Coming, lives: Life[]): Promise<void> {
  const names = Array.from({ length: count }, (_, index) => `pod-${index}`);
  const scripts = names.map((name) => ({ name, dice: dice.fork() }));
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let script = scripts.shift(); script; script = scripts.shift())
        await liveOne(stage, script.name, { dice: script.dice, paceMs, lives });
    }),
  );
}

interface Script {
  readonly dice: Dice;
  readonly paceMs: number;
  /** Added to. */
  readonly lives: Life[];
  /** One before it under its name wanted what others wait for, and may have left it to this one. */
  readonly inherits?: boolean;
}

async function liveOne(stage: Stage, name: string, { dice, paceMs, lives, inherits = false }: Script): Promise<void> {
  const linger = (): Promise<void> => sleep(dice.below(paceMs));
  const wanted = dice.chance(0.15) ? dice.pick(contested) : undefined;
  const contends = inherits || wanted !== undefined;
  const life = await begin(stage, name, dice, wanted);
  lives.push(life);
  await linger();
  if (dice.chance(0.25)) await attach(stage, life);
  else if (dice.chance(0.7)) await untilShown(stage, life);
  await linger();
  // Who has what others wait for does not stay.
  const what = contends ? 20 + dice.below(80) : dice.below(100);
  if (what < 20) return;
  if (what < 35) {
    await complete(stage, name);
    life.fate = 'completed';
    await detach(stage, life);
    if (dice.chance(0.5)) return;
    await linger();
  }
  await end(stage, life, { force: dice.chance(0.3) });
  // Made again under its name, perhaps before anybody saw that it was gone.
  if (what >= 85) await liveOne(stage, name, { dice, paceMs, lives, inherits: contends });
}

/**
 * Makes a Pod that wants an address of one network, or of both.
 * @param wanted this very address of `lan`, and nothing else.
 */
export async function begin(stage: Stage, name: string, dice: Dice, wanted?: string): Promise<Life> {
  const networks = wanted === undefined ? dice.pick([['lan'], ['lan'], ['dual'], ['lan', 'dual']]) : ['lan'];
  const asked = wanted === undefined ? {} : { 'lan.default.kubernetes.io/ip_address': wanted };
  const { metadata } = await create(stage, {
    kind: 'Pod',
    metadata: { name, annotations: { [networksAnnotation]: networks.join(','), ...asked } },
    spec: { nodeName: 'node-1', restartPolicy: 'Never', containers: [{ name: 'box', image: 'box' }] },
  });
  return { name, uid: metadata.uid, networks, told: new Map(), sandboxes: [], fate: 'lives' };
}

/** Waits until a Pod shows its addresses. */
export async function untilShown(stage: Stage, life: Life): Promise<void> {
  const shown = await eventually(async () => {
    const pod = await get(stage, 'Pod', life.name);
    const found = shownBy(pod, life.networks);
    if (!found) throw new Error(`Pod ${life.name} shows no address: ${JSON.stringify(pod.metadata.annotations)}`);
    return found;
  }, scale.patienceMs);
  for (const [network, addresses] of shown) tell(life, network, addresses);
}

/** Waits until all of many Pods show their addresses, without asking for each. */
export async function untilAllShown({ kubernetes }: Stage, lives: readonly Life[]): Promise<void> {
  await eventually(async () => {
    const pods = new Map((await kubernetes.list('Pod')).map((pod) => [pod.metadata.uid, pod]));
    for (const life of lives) {
      const pod = pods.get(life.uid);
      const shown = pod && shownBy(pod, life.networks);
      if (shown) for (const [network, addresses] of shown) tell(life, network, addresses);
    }
    const waiting = lives.filter(({ told }) => told.size === 0);
    if (waiting.length === 0) return;
    await sleep(500);
    throw new Error(`${waiting.length} Pods show no address, the first is ${waiting[0]?.name}`);
  }, scale.patienceMs);
}

/** By network; undefined unless it shows all. */
function shownBy(
  { metadata: { annotations = {} } }: KubeObject,
  networks: readonly string[],
): Map<string, string[]> | undefined {
  const shown = new Map<string, string[]>();
  for (const network of networks) {
    const key = `${network}.default.kubernetes.io`;
    const addresses = annotations[`${key}/ip_address`];
    if (annotations[`${key}/allocated`] !== 'true' || addresses === undefined) return undefined;
    shown.set(network, addresses.split(','));
  }
  return shown;
}

function tell({ told }: Life, network: string, addresses: readonly string[]): void {
  const known = told.get(network) ?? new Set();
  told.set(network, known);
  known.add(addresses.join(','));
}

/** Sets up the sandbox of each of its networks. */
export async function attach(stage: Stage, life: Life): Promise<void> {
  for (const network of life.networks) {
    const sandbox = await setUp(stage, life, network);
    life.sandboxes.push(sandbox);
    tell(
      life,
      network,
      sandbox.addresses.map((address) => address.replace(/\/\d+$/, '')),
    );
  }
}

/** Its containers have ended: takes the sandboxes down. */
export async function detach(stage: Stage, life: Life): Promise<void> {
  for (const sandbox of life.sandboxes.splice(0)) await tearDown(stage, sandbox);
}

/** Deletes a Pod; `force`: before its sandboxes are taken down. */
export async function end(stage: Stage, life: Life, { force }: { force: boolean }): Promise<void> {
  if (!force) await detach(stage, life);
  await remove(stage, 'Pod', life.name);
  life.fate = 'deleted';
  if (force) await detach(stage, life);
}
