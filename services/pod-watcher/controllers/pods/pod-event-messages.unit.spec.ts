import { expect } from 'chai';
import { launcher, podNamed } from '../../testing/fakes.ts';
import { nameConflictProblem, planProblemEvent } from './pod-event-messages.ts';

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
