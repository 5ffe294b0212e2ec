import { expect } from 'chai';
import {
  allocate,
  allocateAll,
  allocated,
  bound,
  quarantined,
  released,
  smallSubnet,
  subnetConfigured,
  unbound,
} from '../testing/event-fixtures.ts';
import { foldEvents, given, startTime } from '../testing/given-when-then.ts';
import { formatSubnet } from '../state/normalise-subnet.ts';
import { decide } from './decide.ts';

const small = { provider: 'small.default', subnets: ['small'] };
const inSmall = (pod: string, address: string) => allocated(pod, address, { subnet: 'small' });

describe('Allocate of any address', () => {
  it('Allocate of any address allocates the lowest free address that is not excluded', () => {
    given([subnetConfigured()])
      .when(allocate('samplepod'))
      .then([allocated('samplepod', '172.17.0.11')]);
  });

  it('Allocate of any address allocates the next address to the next Pod', () => {
    given([subnetConfigured(), allocated('one', '172.17.0.11')])
      .when(allocate('two'))
      .then([allocated('two', '172.17.0.12')]);
  });

  it('Allocate of any address skips an address that another Pod requested by name', () => {
    given([subnetConfigured(), allocated('static', '172.17.0.11', { cause: 'static' })])
      .when(allocate('any'))
      .then([allocated('any', '172.17.0.12')]);
  });

  it('Allocate of any address repeats the result for the same Pod without an event, also if the request has changed', () => {
    given([subnetConfigured(), allocated('one', '172.17.0.11')])
      .when(allocate('one', { candidates: [['172.17.0.99']] }))
      .thenNothingHappens();
  });

  it('WB-288 allocates fresh addresses before released addresses', () => {
    const one = inSmall('one', '10.0.0.2');
    given([smallSubnet(), one, released(one, 2)])
      .whenAfter(3_600_000, allocate('two', small))
      .then([inSmall('two', '10.0.0.3')]);
  });

  it('Allocate of any address allocates the address that was released first when no fresh one is left', () => {
    const [one, two, three] = [inSmall('one', '10.0.0.2'), inSmall('two', '10.0.0.3'), inSmall('three', '10.0.0.4')];
    given([smallSubnet(), one, two, three, released(two, 3), released(one, 2)])
      .whenAfter(60_000, allocate('four', small))
      .then([inSmall('four', '10.0.0.3')]);
  });

  it('Allocate of any address is refused while the released addresses cool down, with the time when the next is free', () => {
    const [one, two, three] = [inSmall('one', '10.0.0.2'), inSmall('two', '10.0.0.3'), inSmall('three', '10.0.0.4')];
    given([smallSubnet(), one, two, three, released(one, 2)])
      .whenAfter(59_999, allocate('four', small))
      .thenRefused(
        'SUBNET_FULL',
        /2 of 3 addresses in use, 1 released but not yet available \(the next is free at 2026-01-31T08:01:04.*\)\. Wait for the released addresses, or delete Pods that are not needed, or widen the subnet$/,
      );
  });

  it('Allocate in a full Subnet does not advise to delete Pods when no Pod has an address', () => {
    const [one, two, three] = [inSmall('one', '10.0.0.2'), inSmall('two', '10.0.0.3'), inSmall('three', '10.0.0.4')];
    const ended = [released(one, 2), released(two, 3), released(three, 4)];
    given([smallSubnet(), one, two, three, ...ended])
      .when(allocate('four', small))
      .thenRefused('SUBNET_FULL', /\. Wait for the released addresses, or widen the subnet$/);
    given([smallSubnet(), one, two, three, bound(three, 4), ...ended])
      .when(allocate('four', small))
      .thenRefused('SUBNET_FULL', /, or widen the subnet; `ipledger check` names containers without a CNI DEL$/);
  });

  it('Allocate is refused while released addresses wait for a CNI DEL, and the message names the DEL and the binding timeout', () => {
    const [one, two, three] = [inSmall('one', '10.0.0.2'), inSmall('two', '10.0.0.3'), inSmall('three', '10.0.0.4')];
    const held = [smallSubnet(), one, two, three, bound(one, 2), released(one, 2)];
    given(held)
      .when(allocate('four', small))
      .thenRefused(
        'SUBNET_FULL',
        / 1 released but not yet available \(the next is free 60 s after the CNI DEL of its container, or at 2026-01-31T09:00:/,
      );
    given([...held, released(two, 3)])
      .when(allocate('four', small))
      .thenRefused(
        'SUBNET_FULL',
        / 2 released but not yet available \(the next is free at 2026-01-31T08:01:[^ ]*, or 60 s after the CNI DEL of its container\)/,
      );
  });

  it('Allocate is refused while an address cools down for the longer time of another Subnet of its network, with that time', () => {
    const one = allocated('one', '172.17.0.11');
    const full = subnetConfigured('macvlan', {
      excludeIps: ['172.17.0.1..172.17.0.10', '172.17.0.12..172.17.255.254'],
    });
    given([full, subnetConfigured('other', { cooldownMs: 600_000 }), one, released(one, 3)])
      .whenAfter(60_001, allocate('four'))
      .thenRefused('SUBNET_FULL', /the next is free at 2026-01-31T08:10:/);
  });

  it('Allocate of any address is refused when the Subnet is full, with counts', () => {
    given([smallSubnet(), inSmall('one', '10.0.0.2'), inSmall('two', '10.0.0.3'), inSmall('three', '10.0.0.4')])
      .when(allocate('four', small))
      .thenRefused(
        'SUBNET_FULL',
        /subnet small .* IPv4: 3 of 3 addresses in use\. Delete Pods .*, or widen the subnet$/,
      );
  });

  it('Allocate of any address uses the next Subnet when the first is full', () => {
    const full = [inSmall('one', '10.0.0.2'), inSmall('two', '10.0.0.3'), inSmall('three', '10.0.0.4')];
    given([smallSubnet(), subnetConfigured(), ...full])
      .when(allocate('four', { subnets: ['small', 'macvlan'] }))
      .then([allocated('four', '172.17.0.11')]);
  });

  it('Allocate of any address is refused for an unknown Subnet, with its name', () => {
    given([]).when(allocate('one')).thenRefused('SUBNET_UNKNOWN', 'no subnet macvlan is configured');
  });

  it('Allocate of any address is refused after its deadline, so that a late request leaks no address', () => {
    given([subnetConfigured()])
      .when(allocate('one', {}, { deadline: startTime }))
      .thenRefused('DEADLINE_PASSED', 'arrived after its deadline');
  });

  it('Allocate of any address allocates both families of a dual-stack Subnet together', () => {
    const dual = subnetConfigured('dual', {
      cidrBlock: '10.1.0.0/24,fd00:1::/64',
      gateway: '10.1.0.1,fd00:1::1',
      excludeIps: ['10.1.0.1', 'fd00:1::1'],
      protocol: 'Dual',
    });
    const { events } = given([dual]).when(allocate('one', { subnets: ['dual'] }));
    expect(events).to.have.length(1);
    expect(events[0]?.data).to.deep.include({
      addresses: [
        { address: '10.1.0.2', cidr: '10.1.0.0/24', gateway: '10.1.0.1' },
        { address: 'fd00:1::2', cidr: 'fd00:1::/64', gateway: 'fd00:1::1' },
      ],
    });
  });
});

describe('Allocate of several attachments', () => {
  it('Allocate of several attachments allocates a different address to each attachment of one network', () => {
    given([subnetConfigured()])
      .when(allocateAll('one', [{ ordinal: 0 }, { ordinal: 1 }]))
      .then([allocated('one', '172.17.0.11'), allocated('one', '172.17.0.12', { ordinal: 1 })]);
  });

  it('SP-4295 allocates nothing when one attachment cannot be served, and names it', () => {
    const { thenRefused } = given([subnetConfigured()]).when(
      allocateAll('one', [{}, { provider: 'other.default', subnets: ['other'] }]),
    );
    thenRefused('SUBNET_UNKNOWN', /^attachment other\.default\/0: NoSubnet: no subnet other is configured/);
  });

  it('KO-6738 allocates nothing to a Pod when the MAC of its second NIC is in use', () => {
    const mac = '02:00:00:00:00:01';
    given([subnetConfigured(), allocated('one', '172.17.0.11', { mac })])
      .when(allocateAll('two', [{}, { ordinal: 1, mac }]))
      .thenRefused('MAC_IN_USE', /^attachment macvlan\.default\/1: AddressConflict: MAC 02:00:00:00:00:01 is in use/);
  });

  it('Allocate of several attachments allocates only to attachments without an allocation', () => {
    given([subnetConfigured(), allocated('one', '172.17.0.11')])
      .when(allocateAll('one', [{ ordinal: 0 }, { ordinal: 1 }]))
      .then([allocated('one', '172.17.0.12', { ordinal: 1 })]);
  });

  it('Allocate of several attachments is refused when a Pod requests one address twice', () => {
    const same = { candidates: [['172.17.0.100']] };
    given([subnetConfigured()])
      .when(allocateAll('one', [same, { ...same, ordinal: 1 }]))
      .thenRefused('INVALID_REQUEST', '172.17.0.100 of subnet macvlan is requested twice');
  });
});

describe('Allocate of one address', () => {
  const requesting = (address: string) => allocate('static', { candidates: [[address]] });

  it('Allocate of one address allocates the address', () => {
    given([subnetConfigured()])
      .when(requesting('172.17.0.100'))
      .then([allocated('static', '172.17.0.100', { cause: 'static' })]);
  });

  it('Allocate of one address allocates an excluded address, because excludes apply to dynamic allocation only', () => {
    given([subnetConfigured()])
      .when(requesting('172.17.0.5'))
      .then([allocated('static', '172.17.0.5', { cause: 'static' })]);
  });

  it('Allocate of one address allocates an address that was released a moment ago', () => {
    const one = allocated('one', '172.17.0.100');
    given([subnetConfigured(), one, released(one, 2)])
      .when(requesting('172.17.0.100'))
      .then([allocated('static', '172.17.0.100', { cause: 'static' })]);
  });

  it('Allocate of one address is refused for an address of another Pod, with that Pod', () => {
    given([subnetConfigured(), allocated('one', '172.17.0.100')])
      .when(requesting('172.17.0.100'))
      .thenRefused('ADDRESS_IN_USE', /^AddressConflict: 172\.17\.0\.100 .* in use by Pod default\/one \(uid uid-one/);
  });

  it('Allocate of one address is refused for the gateway', () => {
    given([subnetConfigured()])
      .when(requesting('172.17.0.1'))
      .thenRefused('ADDRESS_OUT_OF_RANGE', 'is the gateway of subnet macvlan');
  });

  for (const [name, address] of [
    ['outside the subnet', '172.18.0.1'],
    ['the network address', '172.17.0.0'],
    ['the broadcast address', '172.17.255.255'],
    ['of a family that the subnet has not', 'fd00::1'],
  ] as const)
    it(`Allocate of one address is refused for ${name}`, () => {
      given([subnetConfigured()])
        .when(requesting(address))
        .thenRefused('ADDRESS_OUT_OF_RANGE', `AddressOutOfRange: ${address} is not a host address of subnet macvlan`);
    });

  it('Allocate of one address is refused for a MAC of another Pod of the Subnet', () => {
    given([subnetConfigured(), allocated('one', '172.17.0.11', { mac: '02:00:00:00:00:01' })])
      .when(allocate('two', { mac: '02-00-00-00-00-01' }))
      .thenRefused('MAC_IN_USE', 'MAC 02:00:00:00:00:01 is in use in subnet macvlan by Pod default/one');
  });

  it('Allocate of one address is refused for an invalid MAC', () => {
    given([subnetConfigured()])
      .when(allocate('two', { mac: 'ff:ff:ff' }))
      .thenRefused('INVALID_REQUEST', 'ff:ff:ff is not a valid');
  });
});

describe('Allocate from a list', () => {
  const list = { candidates: [['172.17.0.200'], ['172.17.0.201']] };

  it('Allocate from a list allocates the first free address', () => {
    given([subnetConfigured(), allocated('one', '172.17.0.200')])
      .when(allocate('two', list))
      .then([allocated('two', '172.17.0.201', { cause: 'pool' })]);
  });

  it('Allocate from a list is refused when no address is free, with a reason for each', () => {
    given([subnetConfigured(), allocated('one', '172.17.0.200'), allocated('two', '172.17.0.201')])
      .when(allocate('three', list))
      .thenRefused('ADDRESS_IN_USE', /172\.17\.0\.200 .* default\/one .*; .*172\.17\.0\.201 .* default\/two/);
  });
});

describe('Allocate from a long list', () => {
  it('Allocate from a long list is refused with the first reasons only, because a refusal becomes an event', () => {
    const candidates = Array.from({ length: 200 }, (_, index) => [`172.17.1.${index}`]);
    const taken = candidates.map(([address = ''], index) => allocated(`pod-${index}`, address));
    given([subnetConfigured(), ...taken])
      .when(allocate('late', { candidates }))
      .thenRefused('ADDRESS_IN_USE', /172\.17\.1\.2 .*; and 197 more$/);
  });
});

describe('Allocate while a container may still answer', () => {
  const one = inSmall('one', '10.0.0.2');
  const full = [one, inSmall('two', '10.0.0.3'), inSmall('three', '10.0.0.4')];
  const lost = [smallSubnet(), ...full, bound(one, 2), released(one, 2)];

  it('Allocate while a container may still answer does not allocate a released address with a binding after the cooldown', () => {
    given(lost)
      .whenAfter(3_599_999, allocate('four', small))
      .thenRefused('SUBNET_FULL', '1 released but not yet available');
  });

  it('Allocate while a container may still answer refuses a request for a released address with a binding, and names the container', () => {
    given(lost)
      .whenAfter(120_000, allocate('four', { ...small, candidates: [['10.0.0.2']] }))
      .thenRefused('ADDRESS_IN_USE', 'container container-1 on node node-1 may still answer on it');
  });

  it('Allocate while a container may still answer allocates a released address with a binding after the binding timeout', () => {
    given(lost)
      .whenAfter(3_600_000, allocate('four', small))
      .then([inSmall('four', '10.0.0.2')]);
  });

  it('Allocate while a container may still answer never allocates a released address without its CNI DEL in a Subnet without a binding timeout, and names what frees it', () => {
    const plain = { cidrBlock: '10.0.0.0/29', gateway: '', excludeIps: [], provider: '', protocol: '' };
    const { bindingTimeoutMs } = formatSubnet(plain);
    const patient = [smallSubnet({ bindingTimeoutMs }), ...lost.slice(1)];
    const tenYears = 10 * 365 * 24 * 3_600_000;
    given(patient)
      .whenAfter(tenYears, allocate('four', small))
      .thenRefused('SUBNET_FULL', '(the next is free 60 s after the CNI DEL of its container). ');
    given(patient)
      .whenAfter(tenYears, allocate('four', { ...small, candidates: [['10.0.0.2']] }))
      .thenRefused(
        'ADDRESS_IN_USE',
        "it is free after that container's CNI DEL, or when that Node is deleted or out of service",
      );
    given([...patient, unbound(one)])
      .whenAfter(60_000, allocate('four', small))
      .then([inSmall('four', '10.0.0.2')]);
  });

  it('Allocate while a container may still answer allocates a released address after the CNI DEL and the cooldown', () => {
    const down = [...lost, unbound(one)];
    given(down).whenAfter(59_999, allocate('four', small)).thenRefused('SUBNET_FULL', 'not yet available');
    given(down)
      .whenAfter(60_000, allocate('four', small))
      .then([inSmall('four', '10.0.0.2')]);
  });
});

describe('Allocate for a Pod name with a fenced address', () => {
  it('Allocate for a Pod name with a fenced address is refused, because neither a transfer nor a release can be written', () => {
    for (const attachment of [{}, { candidates: [['172.17.0.50']] }]) {
      const state = foldEvents([subnetConfigured(), allocated('db-0', '172.17.0.11', { uid: 'before' })]);
      state.fenced.add('macvlan/172.17.0.11');
      const decision = decide(state, { ...allocate('db-0', attachment), now: startTime });
      expect(decision).to.have.deep.nested.property('refusal.code', 'ADDRESS_FENCED');
    }
  });
});

describe('Allocate in a Subnet with a fenced address', () => {
  it('Allocate skips a fenced address that is free', () => {
    const state = foldEvents([subnetConfigured()]);
    state.fenced.add('macvlan/172.17.0.11');
    const decision = decide(state, { ...allocate('one'), now: startTime });
    expect(decision).to.have.deep.nested.property('events[0].data.addresses[0].address', '172.17.0.12');
  });
});

describe('Allocate for a new Pod of the same name', () => {
  const recreated = { uid: 'uid-new' };

  it('Allocate for a new Pod of the same name transfers the allocation of the earlier Pod, without the interface of its container', () => {
    const one = allocated('one', '172.17.0.11', { interface: 'net1' });
    const data = { ...one.data, interface: '', uid: 'uid-new', alloc: 2, fromUid: 'uid-one', ended: true } as const;
    given([subnetConfigured(), one])
      .when(allocate('one', {}, recreated))
      .then([{ type: 'AddressTransferred', subnet: 'macvlan', data }]);
  });

  it('KO-2938 transfers to each NIC the address of the same NIC', () => {
    const [first, second] = [allocated('one', '172.17.0.11'), allocated('one', '172.17.0.12', { ordinal: 1 })];
    const { events } = given([subnetConfigured(), first, second]).when(
      allocateAll('one', [{ ordinal: 1 }, { ordinal: 0 }], recreated),
    );
    const passedOn = events.flatMap((event) =>
      event.type === 'AddressTransferred' ? [[event.data.attachment.ordinal, event.data.addresses[0]?.address]] : [],
    );
    expect(passedOn).to.deep.equal([
      [1, '172.17.0.12'],
      [0, '172.17.0.11'],
    ]);
  });

  it('a transfer sets the present gateway of the Subnet', () => {
    const one = allocated('one', '172.17.0.11');
    const moved = subnetConfigured('macvlan', { gateway: '172.17.255.254', excludeIps: ['172.17.255.254'] });
    const { events } = given([subnetConfigured(), one, moved]).when(allocate('one', {}, recreated));
    const addresses = [{ address: '172.17.0.11', cidr: '172.17.0.0/16', gateway: '172.17.255.254' }];
    expect(events.map(({ type, data }) => ({ type, ...data }))).to.containSubset([
      { type: 'AddressTransferred', addresses },
    ]);
  });

  it('Allocate releases an earlier allocation that no longer fits, and allocates the requested addresses', () => {
    const one = allocated('one', '172.17.0.11');
    const evidence = 'the name belongs to Pod uid uid-new now, which requests other addresses';
    const moved = allocated('one', '172.17.0.99', { ...recreated, cause: 'static' });
    given([subnetConfigured(), one])
      .when(allocate('one', { candidates: [['172.17.0.99']] }, recreated))
      .then([released(one, 2, { evidence }), { ...moved, data: { ...moved.data, supersedes: 'uid-one' } }]);
  });

  it('Allocate transfers no allocation of a Subnet that the later Pod does not request', () => {
    const one = allocated('one', '172.17.0.11');
    const evidence = 'the name belongs to Pod uid uid-new now, which requests other addresses';
    const moved = allocated('one', '10.0.0.2', { ...recreated, subnet: 'small', provider: 'macvlan.default' });
    given([subnetConfigured(), smallSubnet(), one])
      .when(allocate('one', { subnets: ['small'] }, recreated))
      .then([released(one, 3, { evidence }), { ...moved, data: { ...moved.data, supersedes: 'uid-one' } }]);
  });

  it('Allocate for a later Pod of a name gives it no address in its cooldown, except for the address of the earlier Pod', () => {
    const [one, two, three] = [inSmall('one', '10.0.0.2'), inSmall('two', '10.0.0.3'), inSmall('three', '10.0.0.4')];
    given([smallSubnet(), one, two, three, released(two, 3), quarantined('10.0.0.2', 'small')])
      .when(allocate('one', small, recreated))
      .thenRefused('SUBNET_FULL', /1 released but not yet available/);
  });
});
