/** The connections that the NetworkPolicies of the chart permit. */
import { expect } from 'chai';
import { type Manifest, parseManifests, renderChart } from './render-chart.ts';

interface Egress {
  readonly policyTypes: readonly string[];
  readonly egress: readonly { readonly ports: readonly { readonly port: number }[]; readonly to?: readonly object[] }[];
}

describe('The NetworkPolicy of the console', () => {
  it('The NetworkPolicy of the console permits connections to the allocators, the read model and DNS only', async () => {
    const text = await renderChart([], ['--set=console.enabled=true', '--set=readModel.enabled=true']);
    const policy = parseManifests(text).find(
      ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === 'ipledger-console',
    );
    expect(policy).to.not.equal(undefined);
    const { policyTypes, egress } = (policy as Manifest).spec as unknown as Egress;
    expect(policyTypes).to.deep.equal(['Ingress', 'Egress']);
    const componentOf = (to: readonly object[] = []): string =>
      /"app.kubernetes.io\/component":"([a-z-]+)"/.exec(JSON.stringify(to))?.[1] ?? 'any';
    const reached = egress.flatMap(({ ports, to }) => ports.map(({ port }) => `${port} ${componentOf(to)}`));
    expect(reached).to.deep.equal(['7411 allocator', '7412 read-model', '53 any', '53 any']);
  });
});
