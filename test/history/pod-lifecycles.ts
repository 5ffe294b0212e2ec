/**
 * The commands of the history: the lifecycle of one Pod after another, each a few commands in
 * order.
 */
import type { Command, RequestedSubnet } from '../../ledger/domain/commands/command.ts';

/** A command with its actor. */
export interface ScriptedCommand {
  readonly actor: string;
  readonly command: (now: number) => Command;
  readonly mayBeRefused?: true;
}

const spec = (cidrBlock: string, provider: string): RequestedSubnet => ({
  cidrBlock,
  gateway: '',
  excludeIps: [],
  provider,
  protocol: '',
  // Without cooldown, a short history has long histories of addresses
  cooldownMs: 0,
});

export interface HistorySubnet {
  readonly name: string;
  readonly spec: RequestedSubnet;
  /** The first address. */
  readonly gateway: string;
}

const few: readonly HistorySubnet[] = [
  { name: 'narrow', spec: spec('10.10.0.0/20', 'narrow.default'), gateway: '10.10.0.1' },
  { name: 'wide', spec: spec('10.20.0.0/16', 'wide.default'), gateway: '10.20.0.1' },
];
const many: readonly HistorySubnet[] = [
  { name: 'narrow', spec: spec('10.0.0.0/12', 'narrow.default'), gateway: '10.0.0.1' },
  { name: 'wide', spec: spec('10.64.0.0/12', 'wide.default'), gateway: '10.64.0.1' },
];

/** Pods that exist at a time, unless the test needs more. */
export const defaultLivePods = 500;
/** The addresses of the narrow Subnet, of which two of three Pods have one. */
const fewAddresses = 4_000;

/** The Subnets with addresses for this number of Pods at a time. */
export const subnetsFor = (livePods: number): readonly HistorySubnet[] => (livePods < fewAddresses ? few : many);

const namespaces = 10;
const deployments = 200;
const sets = 20;
const nodes = 50;

interface Life {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly node: string;
  readonly subnet: string;
  readonly owner: { readonly kind: string; readonly name: string; readonly uid: string };
  readonly containerId: string;
}

/** Formats a number as an id of Kubernetes. */
const uidOf = (what: string, number: number): string =>
  `${what}-0000-4000-8000-${number.toString(16).padStart(12, '0')}`;

/**
 * Describes a Pod. A Pod of a Deployment has a unique name. A member of a StatefulSet has the name
 * of its predecessor, if few Pods exist.
 */
function lifeOf(number: number, livePods: number): Life {
  const namespace = `team-${number % namespaces}`;
  const isMember = number % 10 === 0 && livePods < fewAddresses;
  const group = isMember ? number % sets : number % deployments;
  const ownerName = isMember ? `db-${group}` : `web-${group}`;
  return {
    namespace,
    name: isMember ? `${ownerName}-${Math.floor(number / sets) % 20}` : `${ownerName}-${number.toString(36)}`,
    uid: uidOf('00000000', number),
    node: `node-${(number * 7) % nodes}`,
    subnet: number % 3 === 0 ? 'wide' : 'narrow',
    owner: { kind: isMember ? 'StatefulSet' : 'ReplicaSet', name: ownerName, uid: uidOf('11111111', group) },
    containerId: number.toString(16).padStart(64, '0'),
  };
}

/** Yields endless steps. Each creates a Pod and, beyond that number of Pods, deletes a Pod. */
export function* podLifecycles(livePods = defaultLivePods): Generator<readonly ScriptedCommand[], never> {
  for (let number = 1; ; number++) {
    const created = createPod(lifeOf(number, livePods));
    const deleted = number > livePods ? deletePod(lifeOf(number - livePods, livePods), number) : [];
    yield number % 100 === 0
      ? [...created, requestGateway(lifeOf(number, livePods), livePods), ...deleted]
      : [...created, ...deleted];
  }
}

function createPod({ namespace, name, uid, node, subnet, owner, containerId }: Life): ScriptedCommand[] {
  const provider = `${subnet}.default`;
  const request = { provider, ordinal: 0, interface: 'net1', subnets: [subnet], candidates: [], pool: '' } as const;
  const attachments = [{ ...request, ipFamily: '', reservation: '', mac: '', routes: [] }] as const;
  const pod = { namespace, name, uid, node, owner };
  const sandbox = { namespace, pod: name, uid, provider, containerId, interface: 'net1' };
  return [
    { actor: 'ipledger://watcher', command: (now) => ({ type: 'Allocate', now, pod, attachments }) },
    {
      actor: `ipledger://agent/${node}`,
      command: (now) => ({ type: 'Bind', now, ...sandbox, node, bootId: 'boot-1' }),
      // The next Pod of the StatefulSet member may exist already
      mayBeRefused: true,
    },
  ];
}

/** Deletes a Pod. Every fourth Pod is released before its container ends. */
function deletePod({ namespace, name, uid, node, containerId }: Life, number: number): ScriptedCommand[] {
  const unbind: ScriptedCommand = {
    actor: `ipledger://agent/${node}`,
    command: (now) => ({ type: 'Unbind', now, containerId, interface: 'net1', cause: 'container-deleted' }),
  };
  const release: ScriptedCommand = {
    actor: 'ipledger://watcher',
    command: (now) => ({ type: 'Release', now, namespace, pod: name, uid, cause: 'pod-deleted', evidence: '' }),
  };
  return number % 4 === 0 ? [release, unbind] : [unbind, release];
}

/** Requests the address of the gateway. */
function requestGateway({ namespace, name, subnet, containerId }: Life, livePods: number): ScriptedCommand {
  const gateway = subnetsFor(livePods).find((each) => each.name === subnet)?.gateway ?? '';
  const request = { provider: `${subnet}.default`, ordinal: 0, interface: '', subnets: [subnet], pool: '' } as const;
  const attachments = [
    { ...request, candidates: [[gateway]], ipFamily: '', reservation: '', mac: '', routes: [] },
  ] as const;
  const pod = { namespace, name: `${name}-unlucky`, uid: `unlucky-${containerId.slice(-12)}`, node: '' };
  return {
    actor: 'ipledger://watcher',
    command: (now) => ({ type: 'Allocate', now, pod, attachments }),
    mayBeRefused: true,
  };
}
