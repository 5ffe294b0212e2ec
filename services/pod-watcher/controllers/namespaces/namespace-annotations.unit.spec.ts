import { expect } from 'chai';
import { namespaces } from '../../kubernetes/objects/namespace.ts';
import { namespacePatch } from './namespace-annotations.ts';

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

describe('the annotations of a namespace', () => {
  it('the annotations of a namespace are written once', () => {
    expect(patch({}, ['blue', 'green'])).to.deep.equal(written);
    expect(patch(written, ['blue', 'green'])).to.equal(undefined);
  });

  it('the annotations of a namespace do not change if no Subnet is bound to it', () => {
    expect(patch({ 'ovn.kubernetes.io/logical_switch': 'blue', 'ovn.kubernetes.io/cidr': 'mine' })).to.equal(undefined);
  });

  it('the annotations of a namespace do not change if a list is over its limit, because it reads as empty', () => {
    const names = Array.from({ length: 257 }, (_, index) => `s${index}`).join(',');
    expect(patch({ 'ovn.kubernetes.io/logical_switch': names }, ['blue'], ['pool'])).to.equal(undefined);
  });

  it('the annotations of a namespace have at most 256 names, the user’s names first', () => {
    const manual = Array.from({ length: 255 }, (_, index) => `s${index}`).join(',');
    const change = patch({ 'ovn.kubernetes.io/logical_switch': manual }, ['blue', 'green']);
    expect(change).to.include({
      'ovn.kubernetes.io/logical_switch': `${manual},blue`,
      'ipledger.io/subnets': 'blue',
    });
  });

  it('the annotations of a namespace keep the user’s names, in front', () => {
    const change = patch({ 'ovn.kubernetes.io/logical_switch': 'green' }, ['blue']);
    expect(change).to.include({ 'ovn.kubernetes.io/logical_switch': 'green,blue', 'ipledger.io/subnets': 'blue' });
  });

  it('the annotations of a namespace lose names that are no longer bound', () => {
    expect(patch(written, ['green'])).to.include({ 'ovn.kubernetes.io/logical_switch': 'green' });
    const nothing = Object.fromEntries(Object.keys(written).map((key) => [key, null]));
    expect(patch(written)).to.deep.equal(nothing);
  });

  it('the annotations of a namespace name the bound IPPools', () => {
    expect(patch({}, [], ['one', 'two'])).to.deep.equal({
      'ovn.kubernetes.io/ip_pool': 'one,two',
      'ipledger.io/ip-pools': 'one,two',
    });
  });

  it('the annotations of a namespace show the addresses of a single bound Subnet', () => {
    expect(patch({}, ['blue'])).to.deep.equal({
      'ovn.kubernetes.io/logical_switch': 'blue',
      'ipledger.io/subnets': 'blue',
      'ovn.kubernetes.io/cidr': '10.1.0.0/24',
      'ovn.kubernetes.io/exclude_ips': '10.1.0.1,10.1.0.9',
    });
    expect(patch({ 'ovn.kubernetes.io/logical_switch': '' }, ['blue'])?.['ovn.kubernetes.io/logical_switch']).to.equal(
      'blue',
    );
  });

  it('the annotations of a namespace are written if one of them differs, and only that one', () => {
    expect(patch({ ...written, 'ovn.kubernetes.io/cidr': 'edited' }, ['blue', 'green'])).to.deep.equal({
      'ovn.kubernetes.io/cidr': written['ovn.kubernetes.io/cidr'],
    });
  });

  it('the annotations of a namespace that are to be removed are not written if they are absent', () => {
    expect(patch({ 'ovn.kubernetes.io/logical_switch': 'mine', 'ipledger.io/subnets': 'blue' })).to.deep.equal({
      'ipledger.io/subnets': null,
    });
  });
});
