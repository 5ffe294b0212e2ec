/** The steps of a selftest. */
import type { KubeConfig } from '@kubernetes/client-node';
import { errorMessage, IpledgerError } from '../../../lib/errors.ts';
import { pause } from '../../../lib/process/abortable.ts';
import { ipObjectNames } from '../../../lib/kubernetes/ip-object-name.ts';
import { asRecord, asText } from '../../../lib/kubernetes/untyped-json.ts';
import type { Allocation } from '../../../proto/generated/ipledger.ts';
import { CliError } from '../../cli-error.ts';
import type { KubernetesClient } from '../../clients/kubernetes-client.ts';
import type { LedgerClient } from '../../clients/ledger-client.ts';
import { listAllocations } from '../../clients/list-allocations.ts';
import { readHistory } from '../../clients/read-history.ts';
import { collectionPaths } from '../../cluster/read-cluster.ts';
import { formatAddresses } from '../../output/format.ts';
import { ping } from './ping.ts';
import {
  namespaceObject,
  namespaceOf,
  networkObject,
  networksPath,
  podObject,
  podsOf,
  podsPath,
  subnetObject,
  type TestPlan,
} from './test-objects.ts';

const readAgainMs = 500;

export interface Step {
  readonly step: string;
  readonly result: 'passed' | 'failed' | 'skipped';
  readonly detail: string;
}

export interface SelftestSources {
  readonly allocator: LedgerClient;
  readonly kubernetes: KubernetesClient;
  readonly config: KubeConfig;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Steps until the first that fails.
 * @param show gets each one as it ends.
 * @throws IpledgerError CANCELLED after an abort
 */
export async function runSteps(plan: TestPlan, sources: SelftestSources, show: (step: Step) => void): Promise<Step[]> {
  const steps: Step[] = [];
  const end = (...ended: readonly Step[]): void => {
    for (const step of ended) {
      steps.push(step);
      show(step);
    }
  };
  const run = async <T>(step: string, work: () => Promise<{ value: T; detail: string }>): Promise<T> => {
    try {
      const { value, detail } = await work();
      end({ step, result: 'passed', detail });
      return value;
    } catch (error) {
      if (sources.signal.aborted) throw IpledgerError.from(sources.signal.reason);
      end({ step, result: 'failed', detail: errorMessage(error) });
      throw new StepFailed();
    }
  };
  try {
    await run('make the namespace, the network and the Pods', () => makeObjects(plan, sources));
    const allocations = await run('each Pod has an address, and its container is bound', () =>
      waitForBound(plan, sources),
    );
    await run('annotations and IP objects show the addresses', () => compareObjects(plan, allocations, sources));
    end(...(await pingAll(plan, allocations, sources)));
    if (steps.some(({ result }) => result === 'failed')) return steps;
    await run('the addresses are released with the Pods', () => releaseAll(plan, sources));
    await run('the ledger has each event', () => proveEvents(plan, sources));
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
  }
  return steps;
}

class StepFailed extends Error {}

async function makeObjects(plan: TestPlan, sources: SelftestSources): Promise<{ value: void; detail: string }> {
  const { kubernetes } = sources;
  await kubernetes.create('/api/v1/namespaces', namespaceObject(plan));
  if (typeof plan.network !== 'string') {
    await kubernetes.create(networksPath(namespaceOf(plan)), networkObject(plan, plan.network));
    await kubernetes.create(collectionPaths.Subnet, subnetObject(plan, plan.network));
  }
  const account = `/api/v1/namespaces/${namespaceOf(plan)}/serviceaccounts/default`;
  await until(sources, async () => ((await kubernetes.get(account)) ? '' : 'the namespace has no ServiceAccount yet'));
  for (const { name, node } of podsOf(plan)) await kubernetes.create(podsPath(plan), podObject(plan, name, node));
  return { value: undefined, detail: `namespace ${namespaceOf(plan)}, ${plan.nodes.length} Pods` };
}

/**
 * Repeats a read until there is nothing to wait for.
 * @throws CliError with what is missing after the time
 */
async function until({ timeoutMs, signal }: SelftestSources, missing: () => Promise<string>): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const reason = await missing();
    if (reason === '') return;
    if (performance.now() > deadline) throw new CliError('refused', `${reason}, after ${timeoutMs / 1_000} s`);
    await pause(readAgainMs, signal);
    signal.throwIfAborted();
  }
}

const read = ({ allocator }: SelftestSources, plan: TestPlan): Promise<Allocation[]> =>
  listAllocations(allocator, { namespace: namespaceOf(plan) }).then(({ allocations }) => allocations);

async function waitForBound(
  plan: TestPlan,
  sources: SelftestSources,
): Promise<{ value: Allocation[]; detail: string }> {
  let found: Allocation[] = [];
  await until(sources, async () => {
    found = await read(sources, plan);
    const bound = new Set(found.filter(({ bindings }) => bindings.length > 0).map(({ attachment }) => attachment?.pod));
    const open = podsOf(plan).find(({ name }) => !bound.has(name));
    if (!open) return '';
    const why = `run: ipledger why ${namespaceOf(plan)}/${open.name}`;
    return `Pod ${open.name} on node ${open.node} has no address that a container uses (${why})`;
  });
  return { value: found, detail: found.map((each) => `${each.attachment?.pod}: ${formatAddresses(each)}`).join(', ') };
}

async function compareObjects(
  plan: TestPlan,
  allocations: readonly Allocation[],
  sources: SelftestSources,
): Promise<{ value: void; detail: string }> {
  const { kubernetes } = sources;
  const attached = allocations.flatMap(({ attachment }) => attachment ?? []);
  const names = ipObjectNames(attached, []);
  await until(sources, async () => {
    for (const [index, allocation] of allocations.entries()) {
      const { pod = '', provider = '' } = allocation.attachment ?? {};
      const object = await kubernetes.get(`${podsPath(plan)}/${pod}`);
      const shown = asRecord(asRecord(object?.['metadata'])['annotations'])[`${provider}.kubernetes.io/ip_address`];
      if (shown !== formatAddresses(allocation))
        return `Pod ${pod} has the annotation ip_address ${asText(shown) || 'not'}`;
      const ip = await kubernetes.get(`${collectionPaths.IP}/${names[index] ?? ''}`);
      if (asRecord(ip?.['spec'])['ipAddress'] !== shown) return `the IP object ${names[index]} does not have ${shown}`;
    }
    return '';
  });
  return { value: undefined, detail: names.join(', ') };
}

/**
 * Each Pod pings the next one. Without a ping in the image, or the right to exec, the pings are
 * skipped.
 */
async function pingAll(plan: TestPlan, allocations: readonly Allocation[], sources: SelftestSources): Promise<Step[]> {
  const step = 'Pods reach each other across nodes';
  if (allocations.length < 2) return [{ step, result: 'skipped', detail: 'there is one node only' }];
  const ready = async (): Promise<string> => {
    const pods = await sources.kubernetes.list(podsPath(plan));
    const waiting = pods.find((pod) => asRecord(pod['status'])['phase'] !== 'Running');
    return waiting ? `Pod ${asText(asRecord(waiting['metadata'])['name'])} does not run` : '';
  };
  try {
    await until(sources, ready);
  } catch (error) {
    if (sources.signal.aborted) throw IpledgerError.from(sources.signal.reason);
    return [{ step, result: 'failed', detail: errorMessage(error) }];
  }
  const details: string[] = [];
  let result: Step['result'] = 'passed';
  for (const [index, from] of allocations.entries()) {
    const address = allocations[(index + 1) % allocations.length]?.addresses[0]?.address ?? '';
    const pod = from.attachment?.pod ?? '';
    const answer = await ping(sources.config, { namespace: namespaceOf(plan), pod, address }, sources.signal);
    sources.signal.throwIfAborted();
    details.push(`${pod} to ${address}: ${answer.result}${answer.detail === '' ? '' : ` (${answer.detail})`}`);
    if (answer.result === 'silent') result = 'failed';
    else if (answer.result === 'not possible' && result === 'passed') result = 'skipped';
  }
  return [{ step, result, detail: details.join('; ') }];
}

async function releaseAll(plan: TestPlan, sources: SelftestSources): Promise<{ value: void; detail: string }> {
  const { kubernetes } = sources;
  for (const pod of await kubernetes.list(podsPath(plan))) {
    const { name, uid } = asRecord(pod['metadata']);
    await kubernetes.remove(`${podsPath(plan)}/${asText(name)}`, asText(uid));
  }
  await until(sources, async () => {
    const [first] = await read(sources, plan);
    return first ? `${formatAddresses(first)} of Pod ${first.attachment?.pod} is not released` : '';
  });
  return { value: undefined, detail: '' };
}

const expected = ['AddressAllocated', 'AddressBound', 'AddressReleased', 'AddressUnbound'];

async function proveEvents(plan: TestPlan, sources: SelftestSources): Promise<{ value: void; detail: string }> {
  const namespace = namespaceOf(plan);
  const details: string[] = [];
  for (const { name } of podsOf(plan))
    await until(sources, async () => {
      const events: string[] = [];
      const types = new Set<string>();
      for await (const page of readHistory(sources.allocator, { namespace, pod: name }, 1_000))
        for (const { seq, type } of page.events) {
          types.add(type);
          events.unshift(`${seq} ${type}`);
        }
      const missing = expected.find((type) => !types.has(type));
      if (missing !== undefined) return `the ledger has no ${missing} of Pod ${name}`;
      details.push(`${name}: ${events.join(', ')}`);
      return '';
    });
  return { value: undefined, detail: details.join('; ') };
}
