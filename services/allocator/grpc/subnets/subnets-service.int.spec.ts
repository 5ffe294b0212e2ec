import { expect } from 'chai';
import { IpamService, SubnetsService } from '../../../../proto/generated/ipledger.ts';
import { noBindingTimeoutMs } from '../../../../ledger/domain/commands/command.ts';
import { addressKey } from '../../../../ledger/log/store/keys.ts';
import {
  allocate,
  applyMacvlan,
  applySubnet,
  allocateRequest,
  release,
  type ServedAllocator,
  serveAllocator,
} from '../testing/served-allocator.ts';

describe('Subnets', () => {
  let served: ServedAllocator;
  beforeEach(async () => {
    served = await serveAllocator();
  });
  afterEach(() => served[Symbol.asyncDispose]());

  describe('ApplySubnet', () => {
    it('ApplySubnet returns the normalised spec, its source and counts', async () => {
      const source = { uid: 'uid-of-subnet', generation: 3 };
      const spec = { cidrBlock: '172.17.3.4/16', excludeIps: ['172.17.0.0..172.17.0.10'], provider: 'macvlan.default' };
      const reply = await served.call(SubnetsService.applySubnet, { name: 'macvlan', spec, source });
      expect(reply).to.deep.equal({
        position: { epoch: 1, seq: 2, hash: served.replica.head.hash, ledger: served.replica.head.ledger },
        subnet: {
          name: 'macvlan',
          spec: {
            cidrBlock: '172.17.0.0/16',
            gateway: '172.17.0.1',
            excludeIps: ['172.17.0.0..172.17.0.10'],
            provider: 'macvlan.default',
            protocol: 'IPv4',
            cooldownMs: 60_000,
            bindingTimeoutMs: noBindingTimeoutMs,
          },
          source,
          usage: [
            {
              family: 4,
              total: '65524',
              inUse: '0',
              available: '65524',
              free: '65524',
              cooldown: '0',
              reserved: '0',
              inUseRange: '',
              availableRange: '172.17.0.11-172.17.255.254',
              reservedRange: '',
              quarantined: '0',
              quarantinedRange: '',
            },
          ],
          fenced: [],
        },
      });
    });

    it('ApplySubnet returns the fenced addresses of the Subnet', async () => {
      for (const subnet of ['macvlan', 'macvlan-2']) await applySubnet(served, subnet, { cidrBlock: '172.17.0.0/24' });
      for (const address of ['172.17.0.12', '172.17.0.11']) {
        served.memory.put(addressKey({ subnet: 'macvlan', address }), '{}');
        await served.refusal(IpamService.allocate, allocateRequest('a', { candidates: [{ addresses: [address] }] }));
      }
      const { subnets } = await served.call(SubnetsService.listSubnets, {});
      expect(subnets.map(({ name, fenced }) => [name, fenced])).to.deep.equal([
        ['macvlan', ['172.17.0.11', '172.17.0.12']],
        ['macvlan-2', []],
      ]);
    });

    it('ApplySubnet changes a Subnet, and writes nothing for an equal spec', async () => {
      const first = await applyMacvlan(served);
      expect(await applyMacvlan(served)).to.deep.equal(first);
      const { position, subnet } = await applySubnet(served, 'macvlan', { cidrBlock: '172.17.0.0/24', cooldownMs: 0 });
      expect(position?.seq).to.equal(3);
      expect(subnet?.spec).to.include({ cidrBlock: '172.17.0.0/24', cooldownMs: 0 });
    });

    it('maxAddressesPerNamespace limits the addresses of a namespace, with RESOURCE_EXHAUSTED', async () => {
      const { subnet } = await applySubnet(served, 'macvlan', {
        cidrBlock: '172.17.0.0/24',
        maxAddressesPerNamespace: 1,
      });
      expect(subnet?.spec).to.include({ maxAddressesPerNamespace: 1 });
      await served.call(IpamService.allocate, allocateRequest('a', {}));
      expect(await served.refusal(IpamService.allocate, allocateRequest('b', {}))).to.include({
        code: 'NAMESPACE_QUOTA_EXCEEDED',
        status: 'RESOURCE_EXHAUSTED',
      });
    });

    it('counts of addresses can exceed 64 bits', async () => {
      const { subnet } = await applySubnet(served, 'six', { cidrBlock: 'fd00::/48' });
      expect(subnet?.usage[0]).to.include({ family: 6, total: String(2n ** 80n - 3n) });
    });

    it('ApplySubnet counts each family of a dual-stack Subnet', async () => {
      await applySubnet(served, 'dual', { cidrBlock: 'fd00:10:16::/112,10.16.0.0/24' });
      await allocate(served, 'a', { provider: 'dual.default', subnets: ['dual'] });
      const { subnet } = await served.call(SubnetsService.getSubnet, { name: 'dual' });
      expect(subnet?.usage.map(({ family, inUse, inUseRange }) => [family, inUse, inUseRange])).to.deep.equal([
        [4, '1', '10.16.0.2'],
        [6, '1', 'fd00:10:16::2'],
      ]);
    });

    const broken: [string, object, string][] = [
      ['without a name', { name: '' }, 'name is missing'],
      [
        'with a text without end',
        { spec: { cidrBlock: '1'.repeat(1_025) } },
        'spec.cidr_block has 1025 bytes, and 128 is the limit: shorten it',
      ],
      [
        'with too many excludes',
        { spec: { cidrBlock: '10.0.0.0/8', excludeIps: Array.from({ length: 4_097 }, () => '10.0.0.9') } },
        'spec.exclude_ips has 4097 entries, and 4096 is the limit: shorten it',
      ],
    ];
    for (const [what, change, message] of broken)
      it(`ApplySubnet rejects a request ${what}`, async () => {
        expect(await served.refusal(SubnetsService.applySubnet, { name: 'x', ...change })).to.deep.equal({
          status: 'INVALID_ARGUMENT',
          code: 'INVALID_REQUEST',
          message,
        });
      });

    it('ApplySubnet rejects an invalid spec and names each rule', async () => {
      const spec = { cidrBlock: '10.0.0.0/24', gateway: '10.1.0.1', excludeIps: ['here'], protocol: 'IPv5' };
      const { status, code, message } = await served.refusal(SubnetsService.applySubnet, { name: 'x', spec });
      expect([status, code]).to.deep.equal(['INVALID_ARGUMENT', 'SUBNET_INVALID']);
      expect(message.split('; ')).to.have.members([
        'ip here in excludeIps is not a valid address',
        'gateway 10.1.0.1 is not in cidr 10.0.0.0/24',
        'IPv5 is not a valid protocol type: it is IPv4, IPv6 or Dual',
      ]);
      expect((await served.refusal(SubnetsService.applySubnet, { name: 'x' })).message).to.match(
        /^CIDRBlock: "" format error/,
      );
    });

    it('ApplySubnet rejects an overlap with another Subnet of the provider', async () => {
      await applySubnet(served, 'one', { cidrBlock: '10.0.0.0/16', provider: 'net.default' });
      await applySubnet(served, 'elsewhere', { cidrBlock: '10.0.0.0/16' });
      const spec = { cidrBlock: '10.0.1.0/24', provider: 'net.default' };
      expect(await served.refusal(SubnetsService.applySubnet, { name: 'two', spec })).to.deep.equal({
        status: 'FAILED_PRECONDITION',
        code: 'SUBNET_OVERLAP',
        message:
          'subnet two cidr 10.0.1.0/24 is conflict with subnet one cidr 10.0.0.0/16: both serve provider net.default',
      });
    });

    it('ApplySubnet rejects a change that excludes an address in use', async () => {
      await applyMacvlan(served);
      await allocate(served, 'a', { candidates: [{ addresses: ['172.17.9.9'] }] });
      const spec = { cidrBlock: '172.17.0.0/24', provider: 'macvlan.default' };
      expect(await served.refusal(SubnetsService.applySubnet, { name: 'macvlan', spec })).to.deep.equal({
        status: 'FAILED_PRECONDITION',
        code: 'SUBNET_IN_USE',
        message: "subnet macvlan can't become 172.17.0.0/24: Pod default/a holds 172.17.9.9, which would be outside",
      });
    });
  });

  describe('DeleteSubnet', () => {
    it('DeleteSubnet retires a Subnet once', async () => {
      await applyMacvlan(served);
      const { position } = await served.call(SubnetsService.deleteSubnet, { name: 'macvlan' });
      expect(position?.seq).to.equal(3);
      expect(await served.call(SubnetsService.deleteSubnet, { name: 'macvlan' })).to.deep.equal({ position });
      expect((await served.refusal(SubnetsService.getSubnet, { name: 'macvlan' })).code).to.equal('SUBNET_UNKNOWN');
    });

    it('DeleteSubnet is rejected while a Pod holds an address', async () => {
      await applyMacvlan(served);
      await allocate(served, 'a');
      expect(await served.refusal(SubnetsService.deleteSubnet, { name: 'macvlan' })).to.deep.equal({
        status: 'FAILED_PRECONDITION',
        code: 'SUBNET_IN_USE',
        message: "subnet macvlan can't be retired: 1 of its addresses are held, the first by Pod default/a",
      });
      await release(served, 'a');
      await served.call(SubnetsService.deleteSubnet, { name: 'macvlan' });
    });

    it('cooldowns stay: a Subnet that is configured again allocates no address in cooldown', async () => {
      await applyMacvlan(served);
      await allocate(served, 'a');
      await release(served, 'a');
      await served.call(SubnetsService.deleteSubnet, { name: 'macvlan' });
      await applyMacvlan(served);
      expect((await allocate(served, 'b')).addresses[0]?.address).to.equal('172.17.0.12');
    });

    it('DeleteSubnet rejects a request without a name', async () => {
      expect((await served.refusal(SubnetsService.deleteSubnet, {})).message).to.equal('name is missing');
    });
  });

  describe('GetSubnet and ListSubnets', () => {
    it('GetSubnet and ListSubnets return current counts and ranges', async () => {
      await applyMacvlan(served);
      for (const pod of ['a', 'b', 'c', 'd']) await allocate(served, pod);
      await release(served, 'b');
      const { position, subnet } = await served.call(SubnetsService.getSubnet, { name: 'macvlan' });
      expect(position?.seq).to.equal(served.replica.head.seq);
      expect(subnet?.usage).to.deep.equal([
        {
          family: 4,
          total: '65524',
          inUse: '3',
          available: '65521',
          free: '65520',
          cooldown: '1',
          reserved: '0',
          inUseRange: '172.17.0.11,172.17.0.13-172.17.0.14',
          availableRange: '172.17.0.12,172.17.0.15-172.17.255.254',
          reservedRange: '',
          quarantined: '0',
          quarantinedRange: '',
        },
      ]);
    });

    it('GetSubnet and ListSubnets return all Subnets by name', async () => {
      for (const name of ['b', 'a', 'c']) await applySubnet(served, name, { cidrBlock: '10.0.0.0/24' });
      const { position, subnets } = await served.call(SubnetsService.listSubnets, {});
      expect(subnets.map(({ name }) => name)).to.deep.equal(['a', 'b', 'c']);
      expect(position?.seq).to.equal(4);
    });

    it('GetSubnet and ListSubnets reject an unknown Subnet', async () => {
      expect(await served.refusal(SubnetsService.getSubnet, { name: 'x' })).to.deep.equal({
        status: 'NOT_FOUND',
        code: 'SUBNET_UNKNOWN',
        message: 'no subnet x is configured',
      });
      expect((await served.call(SubnetsService.listSubnets, {})).subnets).to.deep.equal([]);
    });
  });
});
