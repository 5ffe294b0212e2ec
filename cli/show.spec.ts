import { expect } from 'chai';
import { ask } from './specification.ts';

const position = { epoch: 1, seq: 42, hash: 'aa' };

describe('the subnets that ipledger shows', () => {
  it('have, with -o wide, the time that addresses rest and the limit of a namespace', async () => {
    const spec = {
      cidrBlock: '10.0.0.0/24',
      provider: 'lan.default',
      cooldownMs: 300_000,
      bindingTimeoutMs: 7_200_000,
    };
    const subnets = [
      {
        name: 'lan',
        spec: { ...spec, maxAddressesPerNamespace: 5 },
        usage: [{ family: 4, inUse: '2', available: '3' }],
      },
    ];
    const { stdout } = await ask({ listSubnets: () => ({ position, subnets }) }, 'show', '-o', 'wide');
    expect(stdout.split('\n').slice(0, 2)).to.deep.equal([
      'SUBNET  PROVIDER     CIDR         IN USE  AVAILABLE  COOLDOWN  BINDING TIMEOUT  MOST PER NAMESPACE',
      'lan     lan.default  10.0.0.0/24  2       3          300s      7200s            5',
    ]);
  });
});
