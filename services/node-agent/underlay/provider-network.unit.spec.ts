import { expect } from 'chai';
import { parseProviderNetwork } from './provider-network.ts';

const parse = (spec: object, name = 'net1') => parseProviderNetwork({ metadata: { name }, spec }, 'node-1');

describe('A ProviderNetwork', () => {
  it('A ProviderNetwork has its default NIC on each node', () => {
    expect(parse({ defaultInterface: 'eth1' })).to.deep.equal({ name: 'net1', nic: 'eth1' });
  });

  it('A ProviderNetwork has another NIC on the nodes of a custom interface', () => {
    const customInterfaces = [
      { interface: 'eth2', nodes: ['node-2'] },
      { interface: 'eth3', nodes: ['node-3', 'node-1'] },
    ];
    expect(parse({ defaultInterface: 'eth1', customInterfaces })).to.deep.equal({ name: 'net1', nic: 'eth3' });
  });

  it('A ProviderNetwork has no NIC on excluded nodes, and none without a default interface', () => {
    const customInterfaces = [{ interface: 'eth2', nodes: ['node-1'] }];
    const excludeNodes = ['node-1'];
    expect(parse({ defaultInterface: 'eth1', customInterfaces, excludeNodes })).to.include({ nic: undefined });
    expect(parse({})).to.deep.equal({ name: 'net1', nic: undefined });
  });

  it('A ProviderNetwork with a setting that the agent does not support is refused, with an alternative', () => {
    for (const [field, value] of [
      ['exchangeLinkName', true],
      ['nodeSelector', { matchLabels: { a: 'b' } }],
      ['preserveVlanInterfaces', true],
      ['vlanInterfaces', ['eth1.10']],
      ['autoCreateVlanSubinterfaces', true],
    ] as const) {
      const { nic, problem } = parse({ defaultInterface: 'eth1', [field]: value });
      expect(nic).to.equal(undefined);
      expect(problem).to.match(new RegExp(`^spec\\.${field} is not supported: [^.]+`));
    }
    const defaults = { exchangeLinkName: false, vlanInterfaces: [], nodeSelector: null };
    expect(parse({ defaultInterface: 'eth1', ...defaults })).to.deep.equal({ name: 'net1', nic: 'eth1' });
  });

  it('A ProviderNetwork is refused if the name of its bridge or NIC is invalid', () => {
    expect(parse({ defaultInterface: 'eth1' }, 'twelve-chars')).to.not.have.property('problem');
    expect(parse({ defaultInterface: 'eth1' }, 'thirteen-char').problem).to.contain('more than 12 characters');
    for (const nic of ['a/b', '-x', 'eth1,eth2', 'a'.repeat(16), 'a'.repeat(1_000_000)])
      expect(parse({ defaultInterface: nic }).problem)
        .to.match(/is no name of a NIC$/)
        .and.have.length.below(100);
  });

  it('A ProviderNetwork is refused if it names more nodes than a cluster has', () => {
    const nodes = Array.from({ length: 10_001 }, (_, index) => `node-${index}`);
    expect(parse({ excludeNodes: nodes }).problem).to.contain('10000 nodes');
    expect(parse({ customInterfaces: [{ interface: 'eth1', nodes }] }).problem).to.contain('10000 nodes');
  });

  it('A ProviderNetwork without valid fields includes no node', () => {
    for (const object of [
      undefined,
      7,
      { metadata: { name: 'net1' }, spec: { customInterfaces: 'x', excludeNodes: 3 } },
    ])
      expect(parseProviderNetwork(object, 'node-1')).to.include({ nic: undefined }).and.not.have.property('problem');
  });
});
