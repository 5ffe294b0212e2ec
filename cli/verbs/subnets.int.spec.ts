import { expect } from 'chai';
import { parse } from 'yaml';
import { noBindingTimeoutMs } from '../../ledger/domain/commands/command.ts';
import type { MessageInput } from '../../proto/codec.ts';
import type { ListSubnetsReply } from '../../proto/generated/ipledger.ts';
import { position } from '../testing/address-events.fixture.ts';
import { runWithFakeAllocator } from '../testing/fake-allocator.ts';

const twoSubnets = (): MessageInput<ListSubnetsReply> => ({
  position,
  subnets: [
    {
      name: 'macvlan',
      spec: { cidrBlock: '172.17.0.0/16', gateway: '172.17.0.1', provider: 'macvlan.default', protocol: 'IPv4' },
      usage: [{ family: 4, total: '65523', inUse: '2', available: '65521', free: '65519' }],
    },
    {
      name: 'storage',
      spec: { cidrBlock: '10.20.0.0/24,fd00:20::/64', provider: 'storage.default', protocol: 'Dual' },
      usage: [
        { family: 4, total: '253', inUse: '253', available: '0' },
        { family: 6, total: '18446744073709551614', inUse: '1', available: '18446744073709551613' },
      ],
    },
  ],
});

describe('ipledger subnets', () => {
  it('ipledger subnets prints the usage of each subnet by family, and the position of the ledger', async () => {
    const { status, stdout, stderr } = await runWithFakeAllocator({ listSubnets: twoSubnets }, 'subnets');
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    expect(stdout).to.equal(
      [
        'SUBNET   PROVIDER         CIDR           IN USE  AVAILABLE',
        'macvlan  macvlan.default  172.17.0.0/16  2       65519',
        'storage  storage.default  10.20.0.0/24   253     0',
        'storage  storage.default  fd00:20::/64   1       18446744073709551613',
        '',
        'ledger at epoch 1, seq 42, hash 5feceb66ffc8',
        '',
      ].join('\n'),
    );
  });

  it('ipledger subnets prints JSON and YAML with the field names of the API', async () => {
    const json = JSON.parse(
      (await runWithFakeAllocator({ listSubnets: twoSubnets }, 'subnets', '-o', 'json')).stdout,
    ) as ListSubnetsReply;
    expect(json.position).to.deep.equal(position);
    expect(json.subnets.map(({ name }) => name)).to.deep.equal(['macvlan', 'storage']);
    expect(json.subnets[0]?.usage[0]).to.include({ family: 4, inUse: '2', available: '65521' });
    expect(
      parse((await runWithFakeAllocator({ listSubnets: twoSubnets }, 'subnets', '-o', 'yaml')).stdout),
    ).to.deep.equal(json);
  });

  it('ipledger subnets reports on stderr that there are no subnets', async () => {
    const { status, stdout, stderr } = await runWithFakeAllocator({ listSubnets: () => ({ position }) }, 'subnets');
    expect(status).to.equal(0);
    expect(stdout).to.equal('ledger at epoch 1, seq 42, hash 5feceb66ffc8\n');
    expect(stderr).to.equal('no subnets\n');
  });

  it('ipledger subnets prints cooldown, binding timeout, the limit per namespace and the probe with -o wide', async () => {
    const spec = {
      cidrBlock: '10.0.0.0/24',
      provider: 'lan.default',
      cooldownMs: 300_000,
      bindingTimeoutMs: 7_200_000,
    };
    const subnets = [
      {
        name: 'lan',
        spec: { ...spec, maxAddressesPerNamespace: 5, probeAddresses: true },
        usage: [{ family: 4, inUse: '2', available: '3' }],
      },
      {
        name: 'wan',
        spec: { ...spec, bindingTimeoutMs: noBindingTimeoutMs },
        usage: [{ family: 4, inUse: '2', available: '3' }],
      },
    ];
    const { stdout } = await runWithFakeAllocator(
      { listSubnets: () => ({ position, subnets }) },
      'subnets',
      '-o',
      'wide',
    );
    expect(stdout.split('\n').slice(0, 3)).to.deep.equal([
      'SUBNET  PROVIDER     CIDR         IN USE  AVAILABLE  COOLDOWN  BINDING TIMEOUT  MAX PER NAMESPACE  PROBED',
      'lan     lan.default  10.0.0.0/24  2       3          300s      7200s            5                  yes',
      'wan     lan.default  10.0.0.0/24  2       3          300s      none             -                  -',
    ]);
  });
});
