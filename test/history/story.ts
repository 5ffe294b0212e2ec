/** What happens in it: one Pod's doings after another's, each a few commands that must come in their order. */
import type { Command, RequestedSubnet } from '../../services/allocator/domain/command.ts';

/** One command, by whom. */
export interface Act {
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
  // An address may come back at once: a short story has long histories of addresses, too.
  cooldownMs: 0,
});

export const subnets: readonly { readonly name: string; readonly spec: RequestedSubnet }[] = [
  { name: 'narrow', spec: spec('10.10.0.0/20', 'narrow.default') },
  { name: 'wide', spec: spec('10.20.0.0/16', 'wide.default') },
];

const namespaces = 10;
const deployments = 200;
const sets = 20;
const nodes = 50;
/** So many Pods of each kind live at a time. */
const living = 500;

interface Life {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly node: string;
  readonly subnet: string;
  readonly owner: { readonly kind: string; readonly name: string; readonly uid: string };
  readonly containerId: string;
}

/** The number as an id of Kubernetes' form. */
const uidOf = (what: string, number: number): string =>
  `${what}-0000-4000-8000-${number.toString(16).padStart(12, '0')}`;

/** A Pod of a Deployment has a name of its own; a member of a StatefulSet has that of the one before it. */
function lifeOf(number: number): Life {
  const namespace = `team-${number % namespaces}`;
  const isMember = number % 10 === 0;
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

/** Without end. Each step is one Pod that comes, and one that goes. */
export function* story(): Generator<readonly Act[], never> {
  for (let number = 1; ; number++) {
    const comes = comesUp(lifeOf(number));
    const goes = number > living ? goesAway(lifeOf(number - living), number) : [];
    yield number % 100 === 0 ? [...comes, unlucky(lifeOf(number)), ...goes] : [...comes, ...goes];
  }
}

function comesUp({ namespace, name, uid, node, subnet, owner, containerId }: Life): Act[] {
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
      // Its member's next one may have come already
      mayBeRefused: true,
    },
  ];
}

/** Some are released before their container is gone. */
function goesAway({ namespace, name, uid, node, containerId }: Life, number: number): Act[] {
  const unbind: Act = {
    actor: `ipledger://agent/${node}`,
    command: (now) => ({ type: 'Unbind', now, containerId, interface: 'net1', cause: 'container-deleted' }),
  };
  const release: Act = {
    actor: 'ipledger://watcher',
    command: (now) => ({ type: 'Release', now, namespace, pod: name, uid, cause: 'pod-deleted', evidence: '' }),
  };
  return number % 4 === 0 ? [release, unbind] : [unbind, release];
}

/** Wants what the subnet's gateway has. */
function unlucky({ namespace, name, subnet, containerId }: Life): Act {
  const gateway = subnet === 'wide' ? '10.20.0.1' : '10.10.0.1';
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
