import { expect } from 'chai';
import { planProblemEvent } from './pod-event-messages.ts';

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

  it('The Event of a Pod that requests nothing is a fault of the Pod only if all its problems are', () => {
    const mixed = [{ about: 'request', text: 'a' } as const, { about: 'cluster', text: 'b' } as const];
    expect(event('a').reason).to.equal('ValidatePodNetworkFailed');
    expect(planProblemEvent({ problems: mixed }).reason).to.equal('PodNetworkUpdateFailed');
  });
});
