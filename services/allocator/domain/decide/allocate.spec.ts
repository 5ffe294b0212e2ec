import { expect } from 'chai';
import {
  allocate,
  allocateAll,
  allocated,
  bound,
  fold,
  given,
  released,
  smallSubnet,
  start,
  subnetConfigured,
  unbound,
} from '../specification.ts';
import { decide } from '../decide.ts';

const small = { provider: 'small.default', subnets: ['small'] };
const inSmall = (pod: string, address: string) => allocated(pod, address, { subnet: 'small' });

describe('Allocate, any address', () => {
  it('gives the lowest free address outside the excludes', () => {
    given([subnetConfigured()])
      .when(allocate('samplepod'))
      .then([allocated('samplepod', '172.17.0.11')]);
  });

  it('gives the next one to the next Pod', () => {
    given([subnetConfigured(), allocated('one', '172.17.0.11')])
      .when(allocate('two'))
      .then([allocated('two', '172.17.0.12')]);
  });

  it('steps over an address that was taken by name', () => {
    given([subnetConfigured(), allocated('static', '172.17.0.11', { cause: 'static' })])
      .when(allocate('any'))
      .then([allocated('any', '172.17.0.12')]);
  });

  it('gives the same Pod the same answer and writes nothing, also when it asks for something else by then', () => {
    given([subnetConfigured(), allocated('one', '172.17.0.11')])
      .when(allocate('one', { candidates: [['172.17.0.99']] }))
      .thenNothingHappens();
  });

  it('WB-288 gives fresh addresses before released ones', () => {
    const one = inSmall('one', '10.0.0.2');
    given([smallSubnet(), one, released(one, 2)])
      .whenAfter(3_600_000, allocate('two', small))
      .then([inSmall('two', '10.0.0.3')]);
  });

  it('gives the address that was left longest ago once no fresh one is left', () => {
    const [one, two, three] = [inSmall('one', '10.0.0.2'), inSmall('two', '10.0.0.3'), inSmall('three', '10.0.0.4')];
    given([smallSubnet(), one, two, three, released(two, 3), released(one, 2)])
      .whenAfter(60_000, allocate('four', small))
      .then([inSmall('four', '10.0.0.3')]);
  });

  it('refuses while what is released still cools down, and says until when', () => {
    const [one, two, three] = [inSmall('one', '10.0.0.2'), inSmall('two', '10.0.0.3'), inSmall('three', '10.0.0.4')];
    given([smallSubnet(), one, two, three, released(one, 2)])
      .whenAfter(59_999, allocate('four', small))
      .thenRefused(
        'SUBNET_FULL',
        /2 of 3 addresses in use, 1 released but resting \(the next is free at 2026-01-31T08:01:04/,
      );
  });

  it('refuses when the subnet is full, and says how full', () => {
    given([smallSubnet(), inSmall('one', '10.0.0.2'), inSmall('two', '10.0.0.3'), inSmall('three', '10.0.0.4')])
      .when(allocate('four', small))
      .thenRefused('SUBNET_FULL', 'subnet small (10.0.0.0/29) has no free address: IPv4: 3 of 3 addresses in use');
  });

  it('takes the next subnet when the first is full', () => {
    const full = [inSmall('one', '10.0.0.2'), inSmall('two', '10.0.0.3'), inSmall('three', '10.0.0.4')];
    given([smallSubnet(), subnetConfigured(), ...full])
      .when(allocate('four', { subnets: ['small', 'macvlan'] }))
      .then([allocated('four', '172.17.0.11')]);
  });

  it('refuses a subnet that is not configured, and names it', () => {
    given([]).when(allocate('one')).thenRefused('SUBNET_UNKNOWN', 'no subnet macvlan is configured');
  });

  it('refuses what comes after its deadline, so that nobody holds what nobody waits for', () => {
    given([subnetConfigured()])
      .when(allocate('one', {}, { deadline: start }))
      .thenRefused('DEADLINE_PASSED', 'came too late');
  });

  it('takes both families of a dual-stack subnet together', () => {
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

describe('Allocate, several attachments', () => {
  it('gives each attachment of one network an address of its own', () => {
    given([subnetConfigured()])
      .when(allocateAll('one', [{ ordinal: 0 }, { ordinal: 1 }]))
      .then([allocated('one', '172.17.0.11'), allocated('one', '172.17.0.12', { ordinal: 1 })]);
  });

  it('SP-4295 gives nothing when one of them cannot be served, and says which', () => {
    const { thenRefused } = given([subnetConfigured()]).when(
      allocateAll('one', [{}, { provider: 'other.default', subnets: ['other'] }]),
    );
    thenRefused('SUBNET_UNKNOWN', /^attachment other\.default\/0: NoSubnet: no subnet other is configured/);
  });

  it('KO-6738 takes nothing of a Pod when the MAC of its second NIC is in use', () => {
    const mac = '02:00:00:00:00:01';
    given([subnetConfigured(), allocated('one', '172.17.0.11', { mac })])
      .when(allocateAll('two', [{}, { ordinal: 1, mac }]))
      .thenRefused('MAC_IN_USE', /^attachment macvlan\.default\/1: AddressConflict: MAC 02:00:00:00:00:01 is in use/);
  });

  it('gives only what a Pod does not hold yet', () => {
    given([subnetConfigured(), allocated('one', '172.17.0.11')])
      .when(allocateAll('one', [{ ordinal: 0 }, { ordinal: 1 }]))
      .then([allocated('one', '172.17.0.12', { ordinal: 1 })]);
  });

  it('refuses a Pod that asks for one address twice', () => {
    const same = { candidates: [['172.17.0.100']] };
    given([subnetConfigured()])
      .when(allocateAll('one', [same, { ...same, ordinal: 1 }]))
      .thenRefused('ADDRESS_IN_USE', '172.17.0.100 is asked for twice');
  });
});

describe('Allocate, this address', () => {
  const asking = (address: string) => allocate('static', { candidates: [[address]] });

  it('gives it', () => {
    given([subnetConfigured()])
      .when(asking('172.17.0.100'))
      .then([allocated('static', '172.17.0.100', { cause: 'static' })]);
  });

  it('gives an excluded one: excludes are for those who do not ask by name', () => {
    given([subnetConfigured()])
      .when(asking('172.17.0.5'))
      .then([allocated('static', '172.17.0.5', { cause: 'static' })]);
  });

  it('gives one that was released a moment ago', () => {
    const one = allocated('one', '172.17.0.100');
    given([subnetConfigured(), one, released(one, 2)])
      .when(asking('172.17.0.100'))
      .then([allocated('static', '172.17.0.100', { cause: 'static' })]);
  });

  it('refuses one that somebody holds, and says who', () => {
    given([subnetConfigured(), allocated('one', '172.17.0.100')])
      .when(asking('172.17.0.100'))
      .thenRefused('ADDRESS_IN_USE', /^AddressConflict: 172\.17\.0\.100 .* in use by Pod default\/one \(uid uid-one/);
  });

  it('refuses the gateway', () => {
    given([subnetConfigured()])
      .when(asking('172.17.0.1'))
      .thenRefused('ADDRESS_IN_USE', 'is the gateway of subnet macvlan');
  });

  for (const [name, address] of [
    ['outside the subnet', '172.18.0.1'],
    ['the network address', '172.17.0.0'],
    ['the broadcast address', '172.17.255.255'],
    ['of a family that the subnet has not', 'fd00::1'],
  ] as const)
    it(`refuses one that is ${name}`, () => {
      given([subnetConfigured()])
        .when(asking(address))
        .thenRefused('ADDRESS_OUT_OF_RANGE', `AddressOutOfRange: ${address} is not a host address of subnet macvlan`);
    });

  it('refuses a MAC that another Pod of the subnet has', () => {
    given([subnetConfigured(), allocated('one', '172.17.0.11', { mac: '02:00:00:00:00:01' })])
      .when(allocate('two', { mac: '02-00-00-00-00-01' }))
      .thenRefused('MAC_IN_USE', 'MAC 02:00:00:00:00:01 is in use in subnet macvlan by Pod default/one');
  });

  it('refuses a MAC that is none', () => {
    given([subnetConfigured()])
      .when(allocate('two', { mac: 'ff:ff:ff' }))
      .thenRefused('INVALID_REQUEST', 'ff:ff:ff is not a valid');
  });
});

describe('Allocate, one of a list', () => {
  const list = { candidates: [['172.17.0.200'], ['172.17.0.201']] };

  it('gives the first that is free', () => {
    given([subnetConfigured(), allocated('one', '172.17.0.200')])
      .when(allocate('two', list))
      .then([allocated('two', '172.17.0.201', { cause: 'pool' })]);
  });

  it('refuses when none is free, and says of each why', () => {
    given([subnetConfigured(), allocated('one', '172.17.0.200'), allocated('two', '172.17.0.201')])
      .when(allocate('three', list))
      .thenRefused('ADDRESS_IN_USE', /172\.17\.0\.200 .* default\/one .*; .*172\.17\.0\.201 .* default\/two/);
  });
});

describe('Allocate, one of a long list', () => {
  it('is refused with the first reasons only: what is refused becomes an event', () => {
    const candidates = Array.from({ length: 200 }, (_, index) => [`172.17.1.${index}`]);
    const taken = candidates.map(([address = ''], index) => allocated(`pod-${index}`, address));
    given([subnetConfigured(), ...taken])
      .when(allocate('late', { candidates }))
      .thenRefused('ADDRESS_IN_USE', /172\.17\.1\.2 .*; and 197 more$/);
  });
});

describe('Allocate, while somebody may still answer', () => {
  const one = inSmall('one', '10.0.0.2');
  const full = [one, inSmall('two', '10.0.0.3'), inSmall('three', '10.0.0.4')];
  const lost = [smallSubnet(), ...full, bound(one, 2), released(one, 2)];

  it('does not give what is released but bound, however long the cooldown is over', () => {
    given(lost).whenAfter(3_599_999, allocate('four', small)).thenRefused('SUBNET_FULL', '1 released but resting');
  });

  it('does not give it by name either, and says which container', () => {
    given(lost)
      .whenAfter(120_000, allocate('four', { ...small, candidates: [['10.0.0.2']] }))
      .thenRefused('ADDRESS_IN_USE', 'container container-1 on node node-1 may still answer on it');
  });

  it('gives it when the binding timeout has passed', () => {
    given(lost)
      .whenAfter(3_600_000, allocate('four', small))
      .then([inSmall('four', '10.0.0.2')]);
  });

  it('gives it when the container was taken down and the cooldown has passed since', () => {
    const down = [...lost, unbound(one)];
    given(down).whenAfter(59_999, allocate('four', small)).thenRefused('SUBNET_FULL', 'resting');
    given(down)
      .whenAfter(60_000, allocate('four', small))
      .then([inSmall('four', '10.0.0.2')]);
  });
});

describe('Allocate, of a Pod name whose address is fenced', () => {
  it('is refused, and says so: neither passing it on nor giving it back could be written', () => {
    for (const attachment of [{}, { candidates: [['172.17.0.50']] }]) {
      const state = fold([subnetConfigured(), allocated('db-0', '172.17.0.11', { uid: 'before' })]);
      state.fenced.add('macvlan/172.17.0.11');
      const decision = decide(state, { ...allocate('db-0', attachment), now: start });
      expect(decision).to.have.deep.nested.property('refusal.code', 'ADDRESS_FENCED');
    }
  });
});

describe('Allocate, a Pod of the same name', () => {
  const recreated = { uid: 'uid-new' };

  it('passes on what the Pod before it holds', () => {
    const one = allocated('one', '172.17.0.11', { interface: 'net1' });
    given([subnetConfigured(), one])
      .when(allocate('one', {}, recreated))
      .then([
        {
          type: 'AddressTransferred',
          subnet: 'macvlan',
          data: { ...one.data, uid: 'uid-new', alloc: 2, fromUid: 'uid-one' },
        },
      ]);
  });

  it('KO-2938 has each of its NICs at the address that the same NIC had', () => {
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

  it('gets the gateway that the subnet has by then', () => {
    const one = allocated('one', '172.17.0.11');
    const moved = subnetConfigured('macvlan', { gateway: '172.17.255.254', excludeIps: ['172.17.255.254'] });
    const { events } = given([subnetConfigured(), one, moved]).when(allocate('one', {}, recreated));
    const addresses = [{ address: '172.17.0.11', cidr: '172.17.0.0/16', gateway: '172.17.255.254' }];
    expect(events.map(({ type, data }) => ({ type, ...data }))).to.containSubset([
      { type: 'AddressTransferred', addresses },
    ]);
  });

  it('releases what does not fit any more, and gives what is asked for', () => {
    const one = allocated('one', '172.17.0.11');
    const evidence = 'the name belongs to Pod uid uid-new now, which asks for something else';
    const moved = allocated('one', '172.17.0.99', { ...recreated, cause: 'static' });
    given([subnetConfigured(), one])
      .when(allocate('one', { candidates: [['172.17.0.99']] }, recreated))
      .then([released(one, 2, { evidence }), { ...moved, data: { ...moved.data, supersedes: 'uid-one' } }]);
  });
});
