import { expect } from 'chai';
import { mirrorOf, podNamed } from '../../../testing/fakes.ts';
import { restrictMirror } from './plan.ts';
import type { PodPlan } from './request-addresses.ts';
import { planOf } from './testing/plan.fixture.ts';

const mirror = mirrorOf('a', 'd41d8cd98f00b204e9800998ecf8427e');
const requestsOf = (...attachments: PodPlan['attachments']): PodPlan => ({
  attachments,
  requestedProviders: new Set(),
  detached: [],
  problems: [],
  ipamClaims: [],
  unserved: [],
  warnings: [],
  topics: new Set(),
});
/** A cluster in which the namespace of the mirror has another Pod only on node-2. */
const access = {
  hasOtherPod: (node: string) => node === 'node-2',
  subnets: {
    restrictionOf: (name: string) =>
      ({
        closed: { namespaces: ['default'], selectors: [] },
        selected: { namespaces: [], selectors: [{ matchLabels: {}, matchExpressions: [] }] },
        open: { namespaces: [], selectors: [] },
      })[name],
  },
  pools: { namespacesOf: (name: string) => (name === 'of-default' ? ['default'] : []) },
};
const provider = 'lan.default';
const refusal = {
  about: 'cluster',
  text: 'provider lan.default: a static Pod gets no address that is restricted to namespaces, because namespace default has no other Pod on node node-1: use a Subnet without namespaces',
};

describe('the mirror of a static Pod', () => {
  it('the mirror of a static Pod gets addresses only of Subnets for all namespaces', () => {
    const plan = requestsOf({ provider, subnets: ['closed', 'open', 'selected', 'unknown'], pool: 'of-all' });
    expect(restrictMirror(plan, mirror, access).attachments).to.deep.equal([
      { provider, subnets: ['open', 'unknown'], pool: 'of-all' },
    ]);
  });

  for (const [what, request] of [
    ['a Subnet', { provider, subnets: ['closed'] }],
    ['an IPPool', { provider, subnets: ['open'], pool: 'of-default' }],
    ['an IPAMClaim or a Vip', { provider, subnets: ['open'], reservation: 'ipamclaim/default/vm1' }],
  ] as const)
    it(`the mirror of a static Pod gets no address of ${what} for its namespace`, () => {
      const { attachments, problems } = restrictMirror(
        requestsOf({ provider, subnets: ['open'] }, request),
        mirror,
        access,
      );
      expect([attachments, problems]).to.deep.equal([[], [refusal]]);
    });

  it('the mirror of a static Pod gets what other Pods get if its namespace has another Pod on the node', () => {
    const plan = requestsOf({ provider, subnets: ['closed'] });
    const elsewhere = {
      ...mirror,
      node: 'node-2',
      controller: mirror.controller && { ...mirror.controller, name: 'node-2' },
    };
    expect(restrictMirror(plan, elsewhere, access)).to.equal(plan);
    expect(restrictMirror(plan, podNamed('a', { spec: { nodeName: 'node-1' } }), access)).to.equal(plan);
  });

  it('the mirror of a static Pod is restricted in every plan', () => {
    expect(planOf('default/closed', {}, { namespace: 'web' }).problems).to.deep.equal([]);
    expect(planOf('default/closed', {}, { namespace: 'web', mirrorOn: 'shared-node' }).problems).to.deep.equal([]);
    const { problems } = planOf('default/closed', {}, { namespace: 'web', mirrorOn: 'node-1' });
    expect(problems.map(({ text }) => text)).to.deep.equal([
      refusal.text.replace('lan.default', 'closed.default').replace('namespace default', 'namespace web'),
    ]);
  });
});
