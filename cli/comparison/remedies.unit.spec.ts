import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { root } from '../../test/harness/paths.ts';
import { compareNodeSwitch } from '../ovn/node-switch.ts';
import { compareNorthbound } from '../ovn/northbound.ts';
import {
  allocation as ovnAllocation,
  nodeInterface,
  nodeSwitchWith,
  northboundWith,
  portWith,
  sandboxBinding,
  subnetOf,
} from '../ovn/testing/ovn-rows.fixture.ts';
import { restartWatcherCommand, formatRepairCommand } from '../shell-command.ts';
import { wrongKubectl } from '../testing/kubectl-flags.ts';
import { type CommandCheck, createCommandCheck, shellWords } from '../testing/verb-parser.ts';
import type { Disagreement, DisagreementKind } from './disagreement.ts';
import { findDisagreements } from './find-disagreements.ts';
import {
  allocation,
  attachmentOf,
  binding,
  type CheckInputParts,
  createCheckInput,
  ip,
  lan,
  podWithAnnotations,
  podWithoutAnnotations,
  reservedRecord,
  subnet,
  agentOn,
  web,
} from './testing/check-input.fixture.ts';

const bound = {
  attachment: attachmentOf('web'),
  subnet: 'lan',
  addresses: ['10.0.0.2'],
  binding,
  allocationSeq: allocation.seq,
};
const networkStatus = JSON.stringify([{ name: 'default/lan', interface: 'net1', ips: ['10.0.0.77'] }]);
const freeze = { known: { epoch: 1, seq: 50, hash: '' }, reportedBy: 'w', reportedAt: '', headAt: '' };
const userObject = (name: string, ipAddress: string) => ({ name, allocation: '', spec: { subnet: 'lan', ipAddress } });
const pool = { name: 'front', spec: { subnet: 'lan', ips: [], namespaces: [] }, usage: subnet.usage };

/** Inputs that cause the disagreements of each kind. */
const inputs: Partial<Record<DisagreementKind, readonly CheckInputParts[]>> = {
  frozen: [{ freeze }],
  'allocated twice': [{ allocations: [allocation, { ...allocation, seq: 8, attachment: attachmentOf('other') }] }],
  'Pod ended': [{ pods: [] }],
  'no address': [
    { allocations: [], pods: [{ ...podWithoutAnnotations, annotations: { 'k8s.v1.cni.cncf.io/networks': 'lan' } }] },
  ],
  annotation: [
    { pods: [podWithAnnotations({ [`${lan}/ip_address`]: '10.0.0.3' })] },
    { pods: [podWithAnnotations({ 'san.infra.kubernetes.io/allocated': 'true' })] },
    { allocations: [{ ...allocation, mac: '' }] },
  ],
  'other address in use': [{ pods: [podWithAnnotations({ 'k8s.v1.cni.cncf.io/network-status': networkStatus })] }],
  'IP object missing': [{ ips: [] }],
  'IP object without allocation': [
    { ips: [ip, userObject('soon.default', '10.0.0.9')] },
    { ips: [ip, { ...userObject('old.default', '10.0.0.9'), allocation: '5' }] },
  ],
  'IP object differs': [
    { ips: [{ ...ip, allocation: '6' }] },
    {
      ips: [{ ...ip, allocation: '7' }],
      reservations: [reservedRecord('pod/default/web/lan.default', 'IP object web.default.lan.default')],
    },
  ],
  'address in two IP objects': [{ ips: [ip, userObject('y', '10.0.0.2')] }],
  reservation: [
    { reservations: [reservedRecord('vip/front', 'Vip object front')] },
    { reservations: [reservedRecord('pod/default/soon/lan.default', 'IP object soon.default.lan.default')] },
  ],
  Vip: [{ vips: [{ name: 'front', subnet: 'lan', addresses: ['10.0.0.50'] }] }],
  'Subnet refused': [
    {
      status: {
        conditions: [{ type: 'Ready', status: 'False', reason: 'ValidateLogicalSwitchFailed', message: 'it overlaps' }],
      },
    },
  ],
  'Subnet status': [{ status: { v4usingIPs: 9 } }],
  'IPPool status': [{ pools: [pool], poolStatus: { v4UsingIPs: 9 } }],
  count: [{ subnets: [{ ...subnet, usage: subnet.usage.map((each) => ({ ...each, inUse: '5' })) }] }],
  'Node deleted': [{ bindings: [{ ...bound, allocationSeq: 3 }], nodes: ['node-2'] }],
  'no agent': [
    { pods: [web, agentOn('node-1', 'not ready')] },
    { pods: [web, agentOn('node-2')], nodes: ['node-1', 'node-2'] },
    { pods: [web, agentOn('node-1', 'not ready')], nodeFailures: new Map([['node-1', 'is NotReady since T']]) },
  ],
  'bound on two nodes': [
    { bindings: [bound, { ...bound, binding: { ...binding, node: 'node-2' } }], nodes: ['node-1', 'node-2'] },
  ],
  fenced: [{ subnets: [{ ...subnet, fenced: ['10.0.0.9'] }] }],
};

/**
 * Commands that read, add, or write what the ledger has. None deletes, releases or ends anything.
 */
const harmless = [
  /^ipledger (recover|verify|check --keys)$/,
  /^ipledger (why|history|reserve) /,
  /^kubectl (get|describe) /,
  /^kubectl annotate pod /,
  /^kubectl rollout restart /,
  /^etcdctl (get|put|snapshot save) /,
  /^ovn-nbctl list /,
  /^ovs-vsctl list /,
];
const commandOf = (remedy: string): string => remedy.split('  # ', 1)[0] ?? '';
let check: CommandCheck;
function expectHarmless(remedy: string): void {
  const command = commandOf(remedy);
  const [program, ...words] = shellWords(command);
  if (program === 'ipledger') expect(check(words), command).to.equal(undefined);
  if (program === 'kubectl') expect(wrongKubectl(words), command).to.equal(undefined);
  expect(
    harmless.some((pattern) => pattern.test(command)),
    command,
  ).to.equal(true);
  // An annotation with a value that the ledger has, or a MAC that it does not have; never the claim
  // of an address
  if (command.startsWith('kubectl annotate')) expect(command).to.not.match(/\/(allocated|ip_address)\S*-$/);
  expect(remedy).to.match(/ {2}# ./);
}

describe('A remedy of check', () => {
  before(async () => {
    check = await createCommandCheck({ prose: false });
  });

  for (const [kind, all] of Object.entries(inputs))
    it(`A remedy of check gives no address away, for: ${kind}`, () => {
      for (const parts of all) {
        const found = findDisagreements(createCheckInput(parts));
        expect(found.map((each) => each.kind)).to.include(kind);
        for (const { remedy } of found) expectHarmless(remedy);
      }
    });

  it('A remedy of check gives no address away, for OVN and the switch of a node', () => {
    const subnets = [subnetOf('net', 'net.default.ovn')];
    const found: Pick<Disagreement, 'kind' | 'remedy'>[] = [
      ...compareNorthbound({ allocations: [ovnAllocation], subnets }, { switches: [], ports: [] }, 'ipam'),
      ...compareNorthbound({ allocations: [], subnets }, northboundWith(portWith()), 'ipam'),
      ...compareNorthbound(
        { allocations: [ovnAllocation], subnets },
        northboundWith(portWith({ switch: 'other' })),
        'ipam',
      ),
      ...compareNorthbound(
        { allocations: [ovnAllocation], subnets },
        { switches: [{ name: 'net', isOurs: false }], ports: [portWith({ isOurs: false })] },
        'ipam',
      ),
      ...compareNodeSwitch({ allocations: [ovnAllocation], bindings: [sandboxBinding] }, nodeSwitchWith()),
      ...compareNodeSwitch({ allocations: [ovnAllocation], bindings: [] }, nodeSwitchWith(nodeInterface)),
    ];
    expect(new Set(found.map(({ kind }) => kind))).to.have.property('size', 7);
    for (const { remedy } of found) expectHarmless(remedy);
  });

  it('A remedy of check names the Deployment of the manifests and of the chart', () => {
    const command = restartWatcherCommand('ipledger-system', 'it does that');
    const [, namespace = '', name = ''] = /^kubectl rollout restart -n (\S+) deployment\/(\S+) /.exec(command) ?? [];
    for (const manifests of ['single', 'ha']) {
      const text = readFileSync(join(root, 'deploy', manifests, 'ipledger.yaml'), 'utf8');
      expect(text).to.match(new RegExp(`kind: Deployment\nmetadata:\n  name: ${name}\n  namespace: ${namespace}\n`));
    }
  });

  it('A remedy of check names the namespace and the API group of the installation', () => {
    const parts = { besideKubeOvn: true, namespace: 'ipam' };
    const kinds = ['Subnet refused', 'address in two IP objects', 'IP object missing'] as const;
    const remedies = kinds.map((kind) => {
      const found = findDisagreements(createCheckInput({ ...inputs[kind]?.[0], ...parts }));
      return found.find((each) => each.kind === kind)?.remedy;
    });
    expect(remedies.map((remedy = '') => commandOf(remedy))).to.deep.equal([
      'kubectl describe subnets.ipam.ipledger.io lan',
      'kubectl get ips.ipam.ipledger.io web.default.lan.default y -o yaml',
      'kubectl rollout restart -n ipam deployment/ipledger-pod-watcher',
    ]);
  });

  it('A remedy of check never deletes a freeze or an event, and deletes only keys that the log does not imply', () => {
    for (const key of ['frozen', 'head', 'log/0000000000000007'])
      expectHarmless(formatRepairCommand({ key: `/ipledger/v1/${key}` }));
    const claim = '/ipledger/v1/addr/lan/10.0.0.2';
    expectHarmless(formatRepairCommand({ key: claim, expected: '{}' }));
    expect(commandOf(formatRepairCommand({ key: claim }))).to.equal(`etcdctl del ${claim}`);
  });
});
