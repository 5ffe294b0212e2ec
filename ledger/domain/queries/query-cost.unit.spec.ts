import { expect } from 'chai';
import type { ConfiguredSubnet, State } from '../state/state.ts';
import { restoreState } from '../state/snapshot.ts';
import { countVisits } from '../testing/count-visits.ts';
import { allocated, bound, released, subnetConfigured } from '../testing/event-fixtures.ts';
import { foldEvents, snapshotOf, startTime } from '../testing/given-when-then.ts';
import { listBindings } from './list-bindings.ts';
import { freeOf, listAllocations } from './queries.ts';

interface CountedPage {
  readonly result: ReturnType<typeof listAllocations>;
  readonly visits: number;
}

const nodes = 20;
const podsPerNode = 200;

/** 4,000 bound Pods. Pod i is on node i mod 20, in namespace "team-<i mod 40>". */
function manyPods(): State {
  const pods = Array.from({ length: nodes * podsPerNode }, (_, index) => index);
  const grants = pods.map((index) => {
    const address = `172.17.${1 + Math.floor(index / 250)}.${1 + (index % 250)}`;
    const event = allocated(`pod-${index}`, address);
    const attachment = { ...event.data.attachment, namespace: `team-${index % 40}` };
    return { ...event, data: { ...event.data, attachment, node: `node-${index % nodes}` } };
  });
  const binds = grants.map((event, index) =>
    bound(event, index + 2, { containerId: `container-${index}`, node: `node-${index % nodes}` }),
  );
  return foldEvents([subnetConfigured(), ...grants, ...binds]);
}

describe('A list costs its page', () => {
  const folded = manyPods();
  const states: [string, State][] = [
    ['folded', folded],
    ['restored', restoreState(snapshotOf(folded))],
  ];
  /** The claims that a page may read besides its items: one bucket of an index. */
  const surplus = 300;

  for (const [kind, state] of states) {
    it(`a list of bindings of a node with no Pods reads no claim of 4,000, in a ${kind} state`, () => {
      const { result, visits } = countVisits(() => listBindings(state, 'node-x', { after: undefined, size: 500 }));
      expect([result.bindings.length, result.next, visits]).to.deep.equal([0, undefined, 0]);
    });

    it(`a list of allocations of an unknown node or namespace reads none of 4,000, in a ${kind} state`, () => {
      for (const filter of [{ node: 'node-x' }, { namespace: 'team-x' }, { node: 'node-1', namespace: 'team-x' }]) {
        const { result, visits } = countVisits(() => listAllocations(state, filter, { afterSeq: 0, size: 500 }));
        expect([result.allocations.length, result.nextAfterSeq, visits]).to.deep.equal([0, undefined, 0]);
      }
    });

    for (const node of ['', 'node-3'])
      it(`a list of ten bindings of ${node || 'all nodes'} reads a bounded number of claims, in a ${kind} state`, () => {
        const pages: number[] = [];
        const seen: string[] = [];
        let after: ReturnType<typeof listBindings>['next'];
        do {
          const { result, visits } = countVisits(() => listBindings(state, node, { after, size: 10 }));
          pages.push(visits);
          seen.push(...result.bindings.map(({ binding }) => binding.containerId));
          after = result.next;
        } while (after);
        expect(new Set(seen).size).to.equal(seen.length);
        expect(seen).to.have.length(node === '' ? nodes * podsPerNode : podsPerNode);
        expect(Math.max(...pages)).to.be.below(10 + surplus);
      });

    for (const filter of [{}, { node: 'node-3' }, { namespace: 'team-7' }, { subnet: 'other' }, { pod: 'pod-3999' }])
      it(`a list of allocations with the filter ${JSON.stringify(filter)} reads a bounded number, in a ${kind} state`, () => {
        const pages: number[] = [];
        const seen: number[] = [];
        for (let afterSeq: number | undefined = 0; afterSeq !== undefined;) {
          const page: { afterSeq: number; size: number } = { afterSeq, size: 10 };
          const { result, visits }: CountedPage = countVisits(() => listAllocations(state, filter, page));
          pages.push(visits);
          seen.push(...result.allocations.map(({ seq }) => seq));
          afterSeq = result.nextAfterSeq;
        }
        const all = [...state.pods.after(0)].filter(
          ({ node, attachment, subnet }) =>
            (!('node' in filter) || node === filter.node) &&
            (!('namespace' in filter) || attachment.namespace === filter.namespace) &&
            (!('subnet' in filter) || subnet === filter.subnet) &&
            (!('pod' in filter) || attachment.pod === filter.pod),
        );
        expect(seen).to.deep.equal(all.map(({ seq }) => seq));
        // A filter without an index reads at most 1,000 for a page, each in two steps.
        expect(Math.max(...pages)).to.be.below('subnet' in filter || 'pod' in filter ? 2_500 : 40 + surplus);
      });
  }
});

describe('The number of free addresses of a Subnet', () => {
  it('The number of free addresses of a Subnet is counted without reading a claim, while half of the released addresses cool down', () => {
    const grants = Array.from({ length: 200 }, (_, index) => allocated(`pod-${index}`, `172.17.1.${1 + index}`));
    const ends = grants.map((event, index) => released(event, index + 2));
    const state = restoreState(snapshotOf(foldEvents([subnetConfigured(), ...grants, ...ends])));
    const configured = state.subnets.values().next().value as ConfiguredSubnet;
    const endOf100 = startTime + (grants.length + 100) * 1_000;
    const now = endOf100 + configured.subnet.spec.cooldownMs;
    const { result, visits } = countVisits(() => freeOf(configured, now));
    const [all] = freeOf(configured, Number.MAX_SAFE_INTEGER);
    expect([(all ?? 0n) - (result[0] ?? 0n), visits]).to.deep.equal([100n, 0]);
  });
});
