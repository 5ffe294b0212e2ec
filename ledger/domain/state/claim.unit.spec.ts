import { expect } from 'chai';
import { type Binding, continuesAfterBind } from './claim.ts';

describe('A binding', () => {
  const binding: Binding = {
    alloc: 3,
    attachment: { namespace: 'default', pod: 'a', provider: 'lan.default', ordinal: 0 },
    containerId: 'c1',
    interface: 'net1',
    node: 'node-1',
    bootId: 'boot-1',
    at: 0,
  };

  it('A binding continues when another container is bound, on the same boot or on another node', () => {
    expect(continuesAfterBind(binding, { ...binding, containerId: 'c2' })).to.equal(true);
    expect(continuesAfterBind(binding, { ...binding, interface: 'net2' })).to.equal(true);
    expect(continuesAfterBind(binding, { ...binding, containerId: 'c2', node: 'node-2', bootId: 'x' })).to.equal(true);
  });

  it('A binding ends when the same container interface is bound again, on any node', () => {
    expect(continuesAfterBind(binding, binding)).to.equal(false);
    expect(continuesAfterBind(binding, { ...binding, node: 'node-2' })).to.equal(false);
  });

  it('A binding ends when a container of a later boot of its node is bound', () => {
    expect(continuesAfterBind(binding, { ...binding, containerId: 'c2', bootId: 'boot-2' })).to.equal(false);
  });
});
