import { expect } from 'chai';
import type { Allocation } from '../../../../proto/generated/ipledger.ts';
import { type ErrorCode, IpledgerError } from '../../../../lib/errors.ts';
import { launcher, mirrorOf, podNamed } from '../../testing/fakes.ts';
import { planOf } from './planning/testing/plan.fixture.ts';
import {
  allocatedEvent,
  budgetEvent,
  kindOf,
  macWarningEvent,
  nameConflictProblem,
  otherKindProblem,
  planProblemEvent,
  refusalEvent,
  unservedEvent,
} from './pod-event-messages.ts';

describe('The Event of a Pod that requests nothing', () => {
  const event = (...texts: readonly string[]) =>
    planProblemEvent({ problems: texts.map((text) => ({ about: 'request' as const, text })) });

  it('The Event of a Pod that requests nothing has a single problem alone, and several problems, each once, with their number', () => {
    expect(event('a is no address').message).to.equal('stage=validatePodNetwork error=a is no address');
    expect(event('a', 'a').message).to.equal('stage=validatePodNetwork error=a');
    expect(event('a', 'b').message).to.equal(
      'stage=validatePodNetwork error=a; b; nothing is allocated until all 2 are solved',
    );
  });

  it('The Event of a Pod that requests nothing names the Pod or virtual machine that has the addresses of its name', () => {
    const holderOf = (conflict: ReturnType<typeof podNamed>): string | undefined =>
      nameConflictProblem(podNamed('vm1'), conflict).problems[0]?.text;
    expect(holderOf(podNamed('vm1'))).to.match(/^the name vm1 belongs to a Pod \(Pod vm1\), which has addresses/);
    expect(holderOf(launcher('abc'))).to.match(
      /^the name vm1 belongs to a virtual machine \(Pod virt-launcher-vm1-abc\), which has addresses/,
    );
  });

  it('The Event of a Pod that requests nothing is a fault of the Pod only if all its problems are', () => {
    const mixed = [{ about: 'request', text: 'a' } as const, { about: 'cluster', text: 'b' } as const];
    expect(event('a').reason).to.equal('ValidatePodNetworkFailed');
    expect(planProblemEvent({ problems: mixed }).reason).to.equal('PodNetworkUpdateFailed');
  });
});

describe('The Event of a Pod that is not served', () => {
  const hash = 'd41d8cd98f00b204e9800998ecf8427e';
  const refusal = (code: ErrorCode, message = 'the reason') =>
    refusalEvent(new IpledgerError(code, message), planOf('macvlan,macvlan')).message;

  it('The Event of a Pod that is not served has its networks, the reason, and the remedy for that kind of reason', () => {
    const start = 'stage=acquireAddress provider=macvlan.default,macvlan.default#1 error=the reason; ';
    expect(refusal('UNAVAILABLE')).to.equal(`${start}the watcher tries again`);
    expect(refusal('ADDRESS_OUT_OF_RANGE')).to.equal(`${start}correct the annotations, or the Subnet`);
    expect(refusal('ADDRESS_IN_USE')).to.equal(`${start}the Pod waits until that changes; or request another address`);
    expect(refusal('SUBNET_FULL')).to.equal(`${start}the Pod waits until one is free`);
    expect(refusal('NAMESPACE_QUOTA_EXCEEDED')).to.equal(`${start}the Pod waits until then`);
    expect(refusal('BUG')).to.equal(`${start}an operator must read the log of the allocator`);
  });

  it('The Event of a Pod that is not served keeps the remedy behind a reason of any length', () => {
    const message = refusal('SUBNET_FULL', 'r'.repeat(5_000));
    expect(message)
      .to.have.length.below(1_024)
      .and.match(/; the Pod waits until one is free$/);
    expect(refusal('SUBNET_FULL', 'r'.repeat(800))).to.contain('r'.repeat(800));
    expect(refusal('SUBNET_FULL', 'r'.repeat(801))).to.contain('r … r');
  });

  it('The Event of a Pod that is not served names the kind that has the addresses of its name, and that of the Pod', () => {
    const problemOf = (pod: ReturnType<typeof podNamed>, uid: string, isMachine = false) =>
      otherKindProblem(pod, { uid, kind: kindOf(uid, isMachine) }).problems[0]?.text;
    expect(problemOf(podNamed('a'), hash))
      .to.contain('of a static Pod (uid d41d')
      .and.contain('not passed on to a Pod:');
    expect(problemOf(mirrorOf('a', hash), 'u'))
      .to.contain('of a Pod (uid u)')
      .and.contain('to a static Pod:');
    expect(problemOf(podNamed('vm1'), 'u', true)).to.contain('of a virtual machine (uid u)');
    expect(problemOf(launcher('abc'), 'u')).to.contain('not passed on to a virtual machine: wait for their release');
  });

  it('The Event of a Pod that requests too often has the sentence about that', () => {
    expect(budgetEvent('too often')).to.deep.equal({
      type: 'Warning',
      reason: 'AcquireAddressFailed',
      message: 'stage=acquireAddress error=too often',
    });
  });

  it('The Event about networks that are not served has warnings first, and is normal without any', () => {
    const [normal, warning] = [
      { type: 'Normal', text: 'of another plugin' } as const,
      { type: 'Warning', text: 'empty' } as const,
    ];
    expect(unservedEvent({ unserved: [normal, warning] })).to.include({
      type: 'Warning',
      message: 'empty; of another plugin',
    });
    expect(unservedEvent({ unserved: [normal] })).to.include({ type: 'Normal', message: 'of another plugin' });
  });

  it('The Event about a MAC that the CNI result will not show has the warning of each network', () => {
    const plan = { ...planOf('macvlan'), warnings: ['one', 'two'] };
    expect(macWarningEvent(plan)).to.include({ reason: 'PodNetworkMacNotInResult', message: 'one; two' });
  });
});

describe('The Event of a Pod that is served after a wait', () => {
  it('The Event of a Pod that is served after a wait has all its addresses, each with its Subnet, MAC and provider', () => {
    const addresses = ['10.0.0.2', 'fd00::2'].map((address) => ({ address, cidr: '', gateway: '' }));
    const attachment = { namespace: 'default', pod: 'a', provider: 'lan.default', ordinal: 0 };
    const allocations = [{ subnet: 'lan', addresses, mac: '02:00:00:00:00:01', attachment }] as unknown as Allocation[];
    expect(allocatedEvent([...allocations, ...allocations])).to.deep.equal({
      type: 'Normal',
      reason: 'PodNetworkAllocated',
      message: Array(2).fill('subnet=lan ip=10.0.0.2,fd00::2 mac=02:00:00:00:00:01 provider=lan.default').join('; '),
    });
  });
});
