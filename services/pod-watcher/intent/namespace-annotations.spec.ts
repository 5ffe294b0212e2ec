import { expect } from 'chai';
import { subnetNamed } from '../fakes.ts';
import { namespaces } from '../kubernetes/objects.ts';
import { isFor, namespacePatch } from './namespace-annotations.ts';

const namespace = (annotations: Record<string, string> = {}, labels: Record<string, string> = {}) =>
  namespaces.parse({ metadata: { name: 'shop', uid: 'u', annotations, labels } });

const specs: Record<string, { cidrBlock: string; excludeIps: string[] }> = {
  blue: { cidrBlock: '10.1.0.0/24', excludeIps: ['10.1.0.1', '10.1.0.9'] },
  green: { cidrBlock: '10.2.0.0/24', excludeIps: ['10.2.0.1'] },
};
const patch = (annotations: Record<string, string>, subnets: string[] = [], pools: string[] = []) =>
  namespacePatch(namespace(annotations), { subnets, pools, specOf: (name) => specs[name] });

const written = {
  'ovn.kubernetes.io/logical_switch': 'blue,green',
  'ipledger.io/subnets': 'blue,green',
  'ovn.kubernetes.io/cidr': '10.1.0.0/24;10.2.0.0/24',
  'ovn.kubernetes.io/exclude_ips': '10.1.0.1,10.1.0.9;10.2.0.1',
};

describe('which namespaces a Subnet is for', () => {
  const ofPrimary = (spec: object, metadata: object = {}) =>
    subnetNamed('blue', { provider: 'ovn', ...spec }, metadata);

  it('those that it names, and those whose labels it selects', () => {
    expect(isFor(ofPrimary({ namespaces: ['other', 'shop'] }), namespace())).to.equal(true);
    const selecting = ofPrimary({ namespaceSelectors: [{ matchLabels: { team: 'blue' } }] });
    expect(isFor(selecting, namespace({}, { team: 'blue' }))).to.equal(true);
    expect(isFor(selecting, namespace({}, { team: 'red' }))).to.equal(false);
    expect(isFor(ofPrimary({}), namespace())).to.equal(false);
  });

  it('none while it is being deleted, and none of another network', () => {
    const deleting = { deletionTimestamp: '2026-01-31T08:00:00Z' };
    expect(isFor(ofPrimary({ namespaces: ['shop'] }, deleting), namespace())).to.equal(false);
    expect(isFor(ofPrimary({ namespaces: ['shop'], provider: 'net.default' }), namespace())).to.equal(false);
  });
});

describe('what a namespace says of its Subnets', () => {
  it('is written once', () => {
    expect(patch({}, ['blue', 'green'])).to.deep.equal(written);
    expect(patch(written, ['blue', 'green'])).to.equal(undefined);
  });

  it('is left alone where none is for it', () => {
    expect(patch({ 'ovn.kubernetes.io/logical_switch': 'blue', 'ovn.kubernetes.io/cidr': 'mine' })).to.equal(undefined);
  });

  it('is left alone where a list is over its limit, which would read as empty', () => {
    const names = Array.from({ length: 257 }, (_, index) => `s${index}`).join(',');
    expect(patch({ 'ovn.kubernetes.io/logical_switch': names }, ['blue'], ['pool'])).to.equal(undefined);
  });

  it('has 256 names at most, those written by hand first', () => {
    const byHand = Array.from({ length: 255 }, (_, index) => `s${index}`).join(',');
    const change = patch({ 'ovn.kubernetes.io/logical_switch': byHand }, ['blue', 'green']);
    expect(change).to.include({
      'ovn.kubernetes.io/logical_switch': `${byHand},blue`,
      'ipledger.io/subnets': 'blue',
    });
  });

  it('keeps what was written by hand, in front', () => {
    const change = patch({ 'ovn.kubernetes.io/logical_switch': 'green' }, ['blue']);
    expect(change).to.include({ 'ovn.kubernetes.io/logical_switch': 'green,blue', 'ipledger.io/subnets': 'blue' });
  });

  it('loses what is not for it any more', () => {
    expect(patch(written, ['green'])).to.include({ 'ovn.kubernetes.io/logical_switch': 'green' });
    const nothing = Object.fromEntries(Object.keys(written).map((key) => [key, null]));
    expect(patch(written)).to.deep.equal(nothing);
  });

  it('names the IPPools that are for it', () => {
    expect(patch({}, [], ['one', 'two'])).to.deep.equal({
      'ovn.kubernetes.io/ip_pool': 'one,two',
      'ipledger.io/ip-pools': 'one,two',
    });
  });
});
