import { expect } from 'chai';
import { distinctIpObjectName } from '../../lib/kubernetes/ip-object-name.ts';
import type { Subnet } from '../../proto/generated/ipledger.ts';
import { allocation, attachmentOf, describeDisagreements, ip, subnet, web } from './testing/check-input.fixture.ts';

describe('IP objects', () => {
  it('IP objects are reported as missing, also with a shortened name', () => {
    expect(describeDisagreements({ ips: [] })).to.deep.equal([
      'IP object missing: IP web.default.lan.default: there is none for 10.0.0.2 of subnet lan (lan.default, uid uid-web, event 7) of Pod default/web',
    ]);
    const name = 'w'.repeat(250);
    const long = { ...allocation, attachment: attachmentOf(name) };
    const [missing] = describeDisagreements({ allocations: [long], pods: [{ ...web, name }], ips: [] });
    expect(missing).to.match(/^IP object missing: IP w{220}-[0-9a-f]{32}: there is none for 10\.0\.0\.2/);
  });

  it('IP objects are reported without an allocation if they are of ipledger', () => {
    const spec = { subnet: 'lan', ipAddress: '10.0.0.9' };
    expect(
      describeDisagreements({ ips: [ip, { name: 'old.default.lan.default', allocation: '5', spec }] }),
    ).to.deep.equal([
      'IP object without allocation: IP old.default.lan.default: it has 10.0.0.9 of subnet lan, and no allocation has this name',
    ]);
  });

  it('IP objects are reported, if another controller owns them, only with an address of ipledger’s subnets', () => {
    const foreign = (of: string) => ({
      name: 'x.default',
      allocation: '',
      spec: { subnet: of, ipAddress: '10.0.0.9' },
    });
    expect(describeDisagreements({ ips: [ip, foreign('ovn-default')] })).to.deep.equal([]);
    expect(describeDisagreements({ ips: [ip, foreign('lan')] })[0]).to.match(
      /^IP object without allocation: IP x.default: /,
    );
  });

  it('IP objects are reported field by field if they differ', () => {
    const spec = { ...ip.spec, ipAddress: '10.0.0.3', podName: 'wob' };
    expect(describeDisagreements({ ips: [{ ...ip, allocation: '6', spec }] })).to.deep.equal([
      'IP object differs: IP web.default.lan.default: spec.podName is "wob"; the ledger has "web"',
      'IP object differs: IP web.default.lan.default: spec.ipAddress is "10.0.0.3"; the ledger has "10.0.0.2"',
      'IP object differs: IP web.default.lan.default: it names event 6; the ledger has event 7',
    ]);
  });

  it('IP objects are reported if two of them have the same address', () => {
    const other = { name: 'y', allocation: '', spec: { subnet: 'lan', ipAddress: '10.0.0.2,fd00::2' } };
    expect(describeDisagreements({ ips: [ip, other] }).at(-1)).to.equal(
      'address in two IP objects: 10.0.0.2 of subnet lan: IP web.default.lan.default and IP y both have it',
    );
  });
});

describe('IP objects of Pods that share Kube-OVN’s name', () => {
  const dotted = {
    ...allocation,
    seq: 8,
    attachment: { ...attachmentOf('web.default'), namespace: 'lan', provider: 'default' },
  };
  const pods = [web, { ...web, namespace: 'lan', name: 'web.default' }];
  const about = (ips: (typeof ip)[]): string[] =>
    describeDisagreements({ allocations: [allocation, dotted], pods, ips }).filter((line) =>
      line.startsWith('IP object'),
    );
  const distinct = {
    ...ip,
    name: distinctIpObjectName(dotted.attachment),
    allocation: '8',
    spec: { ...ip.spec, podName: 'web.default', namespace: 'lan' },
  };

  it('IP objects of Pods that share Kube-OVN’s name agree if the Pod with a dot has a distinct name', () => {
    expect(about([ip, distinct])).to.deep.equal([]);
  });

  it('IP objects of Pods that share Kube-OVN’s name are reported if they share one object', () => {
    expect(about([ip])).to.have.length(1);
    expect(about([ip])[0]).to.match(/^IP object missing: IP web\.default\.lan\.default-[0-9a-f]{32}: /);
  });
});

describe('An IP object that reserves addresses', () => {
  const reservation = {
    reservedFor: 'pod/default/web/lan.default',
    reason: 'IP object web.default.lan.default',
    mac: '',
    seq: 6,
    at: '',
  };
  const reservations = ['10.0.0.2', 'fd00::2'].map((address) => ({
    subnet: 'lan',
    address,
    state: 'reserved',
    bindings: [],
    releasedAt: '',
    releasedFromUid: '',
    lastSeq: 6,
    availableAt: '',
    pool: '',
    reservation,
  }));
  const object = { ...ip, spec: { ...ip.spec, ipAddress: '10.0.0.2,fd00::2', macAddress: '' } };
  const about = (parts: Parameters<typeof describeDisagreements>[0]): string[] =>
    describeDisagreements({ reservations, ...parts }).filter((line) => /^(IP |reservation:)/.test(line));

  it('An IP object that reserves addresses is not reported while its Pod has only one of the two addresses, another MAC, or no allocation', () => {
    expect(about({ ips: [object] })).to.deep.equal([]);
    expect(about({ ips: [{ ...object, allocation: '' }], allocations: [], pods: [] })).to.deep.equal([]);
  });

  it('An IP object that reserves addresses is reported if it shows one of two reserved families, or another allocation', () => {
    expect(about({ ips: [{ ...object, spec: ip.spec }] })).to.deep.equal([
      'IP object differs: IP web.default.lan.default: spec.ipAddress is "10.0.0.2"; the ledger has "10.0.0.2,fd00::2"',
    ]);
    expect(about({ ips: [{ ...object, allocation: '5' }] })).to.deep.equal([
      'IP object differs: IP web.default.lan.default: it names event 5; the ledger has event 7',
    ]);
  });

  it('An IP object that reserves addresses is reported once if it is missing', () => {
    expect(about({ ips: [] })).to.deep.equal([
      'reservation: IP web.default.lan.default: there is none, and 10.0.0.2,fd00::2 of subnet lan is reserved by it',
    ]);
  });
});

describe('The status of Subnets and IPPools', () => {
  it('The status of Subnets and IPPools is reported field by field for a Subnet', () => {
    expect(describeDisagreements({ status: { v4usingIPs: 2, v4usingIPrange: '10.0.0.2-10.0.0.3' } })).to.deep.equal([
      'Subnet status: Subnet lan: status.v4usingIPs is 2; the ledger has 1',
      'Subnet status: Subnet lan: status.v4usingIPrange is "10.0.0.2-10.0.0.3"; the ledger has "10.0.0.2"',
    ]);
  });

  it('The status of Subnets and IPPools is reported for an IPPool', () => {
    const usage = subnet.usage.map((family) => ({ ...family, availableRange: '', inUseRange: '' }));
    const pool = { name: 'front', spec: { subnet: 'lan', ips: ['10.0.0.2..10.0.0.9'], namespaces: [] }, usage };
    expect(describeDisagreements({ pools: [pool], poolStatus: { v4AvailableIPs: 241, v4UsingIPs: 3 } })).to.deep.equal([
      'IPPool status: IPPool front: status.v4UsingIPs is 3; the ledger has 1',
    ]);
  });

  it('The status of Subnets and IPPools may shorten a range and round a very large count', () => {
    const family = {
      ...(subnet.usage[0] as Subnet['usage'][0]),
      available: String(2n ** 64n),
      availableRange: '10.0.0.3,10.0.0.5,10.0.0.7',
    };
    const shown = { v4availableIPs: 2 ** 63, v4availableIPrange: '10.0.0.3,10.0.0.5,...' };
    expect(describeDisagreements({ subnets: [{ ...subnet, usage: [family] }], status: shown })).to.deep.equal([]);
  });
});
