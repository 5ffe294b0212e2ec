import { expect } from 'chai';
import { isAnnotationKey } from './kubernetes-metadata.ts';

describe('the key of an annotation', () => {
  const prefix = 'lan.default.kubernetes.io';
  for (const [name, isValid] of [
    ['ip_address', true],
    ['ip_address.net1', true],
    ['ip_address.NET1', true],
    ['ip_address.up-', false],
    ['ip_address.up.', false],
    ['ip_address.a+b', false],
    ['ip_address.ü', false],
    ['ip_address.a@b', false],
    ['n'.repeat(63), true],
    ['n'.repeat(64), false],
    ['', false],
  ] as const)
    it(`${isValid ? 'may' : 'cannot'} be ${prefix}/${name}`, () => {
      expect(isAnnotationKey(`${prefix}/${name}`)).to.equal(isValid);
    });

  it('an annotation key must have a DNS subdomain as its prefix', () => {
    for (const wrong of ['Physical_Net.kubernetes.io', `${'n'.repeat(251)}.io`, 'lan..io', ''])
      expect(isAnnotationKey(`${wrong}/allocated`), wrong).to.equal(false);
    expect(isAnnotationKey('LAN.default.kubernetes.io/allocated')).to.equal(true);
  });
});
