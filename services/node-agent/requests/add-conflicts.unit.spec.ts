import { expect } from 'chai';
import { pino } from 'pino';
import { IpledgerError } from '../../../lib/errors.ts';
import { add, type AddDeps } from './add.ts';
import type { AddressConflict, ProbeTarget } from './address-probe.ts';
import {
  allocation,
  failTimes,
  FakeBindingClient,
  fakeBindingFiles,
  fakeDataPath,
  lingeringBindings,
  neverAborted,
  rejectionOf,
  request,
  savedBinding,
} from '../testing/fakes.ts';

const stranger = '52:54:00:12:34:56';

/** An agent on whose network `stranger` answers on these addresses. */
function setUp(answering: readonly string[], allocator = new FakeBindingClient()) {
  allocator.probeAddresses = true;
  const steps: string[] = [];
  const counted: string[] = [];
  const probed: ProbeTarget[] = [];
  const files = fakeBindingFiles();
  const probe = (target: ProbeTarget): Promise<AddressConflict | undefined> => {
    steps.push('probe');
    probed.push(target);
    const address = target.addresses.find((each) => answering.includes(each));
    return Promise.resolve(address === undefined ? undefined : { address, mac: stranger });
  };
  const deps: AddDeps = {
    allocator,
    lookUpPod: () => Promise.reject(new Error('a request with a uid needs no lookup')),
    readPodWarning: () => Promise.resolve(''),
    files,
    lingering: lingeringBindings(allocator, files),
    sandbox: { prepare: () => Promise.resolve(void steps.push('prepare')) },
    probe,
    onConflict: (outcome) => counted.push(outcome),
    node: 'node-a',
    bootId: 'b-1',
    log: pino({ level: 'silent' }),
  };
  return { deps, allocator, files, steps, probed, counted };
}

/** Lets the pod-watcher give the Pod the next address after each report. */
function giveNext(allocator: FakeBindingClient): void {
  const take = allocator.reportConflict.bind(allocator);
  allocator.reportConflict = async (message) => {
    await take(message);
    const [assigned] = allocator.allocation.addresses;
    const last = Number(assigned?.address.split('.').at(-1));
    const addresses = [{ address: `172.17.0.${last + 1}`, cidr: '172.17.0.0/16', gateway: '172.17.0.1' }];
    allocator.allocation = { ...allocation, seq: allocator.allocation.seq + 3, addresses };
  };
}

const addressIn = (body: string): string | undefined => (JSON.parse(body) as { ips: { ip: string }[] }).ips[0]?.ip;

describe('ADD in a Subnet with probeAddresses', () => {
  it('ADD in a Subnet with probeAddresses probes the addresses once, after the MAC is set and before it responds', async () => {
    const { deps, steps, probed, allocator } = setUp([]);
    expect(addressIn(await add(deps, request(), neverAborted()))).to.equal('172.17.0.11');
    expect(steps).to.deep.equal(['prepare', 'probe']);
    expect(probed).to.deep.equal([{ netns: '/ns', interface: 'net1', cniType: 'macvlan', addresses: ['172.17.0.11'] }]);
    expect(allocator.conflicts).to.deep.equal([]);
  });

  it('ADD in a Subnet with probeAddresses probes nothing unless the allocator requests it, and no NIC of type kube-ovn', async () => {
    const { deps, steps, allocator } = setUp(['172.17.0.11']);
    const ovn = request({ cni_type: 'kube-ovn', provider: 'ovn' });
    await add({ ...deps, dataPath: fakeDataPath() }, ovn, neverAborted());
    allocator.probeAddresses = false;
    await add(deps, request({ container_id: 'c2' }), neverAborted());
    expect(steps).to.deep.equal(['prepare']);
  });

  it('ADD in a Subnet with probeAddresses reports an address on which another host answers, and responds with the next one', async () => {
    const { deps, allocator, files, counted } = setUp(['172.17.0.11']);
    giveNext(allocator);
    expect(addressIn(await add(deps, request(), neverAborted()))).to.equal('172.17.0.12');
    expect(counted).to.deep.equal(['quarantined']);
    const target = { namespace: 'default', pod: 'p', podUid: 'u-1', provider: 'macvlan.default', interface: 'net1' };
    expect(allocator.conflicts).to.deep.equal([
      { ...target, containerId: 'c1', node: 'node-a', address: '172.17.0.11', seenMac: stranger },
    ]);
    expect(allocator.attaches).to.have.length(2);
    expect(allocator.unbinds).to.deep.equal([]);
    expect(files.all()).to.deep.equal([savedBinding('c1', { addresses: ['172.17.0.12'], netns: '/ns' })]);
  });

  it('ADD in a Subnet with probeAddresses fails with address and MAC if the Pod requests that address', async () => {
    const refusal = 'refused at T: AddressConflict: 172.17.0.11 of subnet macvlan is quarantined: remove the host';
    const { deps, allocator, files } = setUp(['172.17.0.11']);
    const take = allocator.reportConflict.bind(allocator);
    allocator.reportConflict = async (message) => {
      allocator.behaviour.attach = failTimes(new IpledgerError('NOT_ALLOCATED', refusal));
      await take(message);
    };
    const { message } = await rejectionOf(add(deps, request(), neverAborted()));
    expect(message).to.match(
      /^no address allocated to pod default\/p .*: 52:54:00:12:34:56 answers on 172\.17\.0\.11: /,
    );
    expect(message).to.contain('is quarantined: remove the host');
    expect(allocator.unbinds).to.deep.equal([]);
    expect(files.all()).to.deep.equal([]);
  });

  it('ADD in a Subnet with probeAddresses fails after three addresses: a neighbor that answers each probe does not hold the ADD', async () => {
    const all = Array.from({ length: 20 }, (_, index) => `172.17.0.${11 + index}`);
    const { deps, allocator, files } = setUp(all);
    giveNext(allocator);
    const { message } = await rejectionOf(add(deps, request(), neverAborted()));
    expect(message).to.contain(`${stranger} answers on 172.17.0.11, ${stranger} answers on 172.17.0.12, `);
    expect(allocator.conflicts).to.have.length(3);
    expect(allocator.attaches).to.have.length(3);
    expect({ unbinds: allocator.unbinds, files: files.all() }).to.deep.equal({ unbinds: [], files: [] });
  });

  it('ADD in a Subnet with probeAddresses fails without a binding if the allocator refuses the report', async () => {
    const limit = new IpledgerError('QUARANTINE_LIMIT', 'probes quarantine no more than 4');
    const client = new FakeBindingClient({ reportConflict: failTimes(limit) });
    const { deps, allocator, counted } = setUp(['172.17.0.11'], client);
    const error = await rejectionOf(add(deps, request(), neverAborted()));
    expect(error).to.include({ code: 'QUARANTINE_LIMIT' });
    expect(counted).to.deep.equal(['refused']);
    expect(error.message).to.contain('probes quarantine no more than 4');
    expect(allocator.unbinds.map(({ containerId }) => containerId)).to.deep.equal(['c1']);
  });

  it('ADD in a Subnet with probeAddresses fails without a binding if the probe fails', async () => {
    const { deps, allocator } = setUp([]);
    const probe = () => Promise.reject(new IpledgerError('SANDBOX_FAILED', 'the probe failed: no NET_RAW'));
    const error = await rejectionOf(add({ ...deps, probe }, request(), neverAborted()));
    expect(error.message).to.contain('the probe failed: no NET_RAW');
    expect(allocator.unbinds).to.have.length(1);
  });

  it('ADD in a Subnet with probeAddresses reports the container whose binding it took over', async () => {
    const { deps, allocator, files } = setUp(['172.17.0.11']);
    giveNext(allocator);
    await files.save(savedBinding('c1', { boundAs: 'c0' }));
    const bindings = [{ containerId: 'c0', interface: 'net1', node: 'node-a', bootId: 'b-1', at: '' }];
    allocator.allocation = { ...allocation, bindings };
    expect(addressIn(await add(deps, request(), neverAborted()))).to.equal('172.17.0.12');
    expect(allocator.conflicts.map(({ containerId }) => containerId)).to.deep.equal(['c0']);
    expect(files.get({ containerId: 'c1', interface: 'net1' })).to.include({ boundAs: '', isPending: false });
  });
});
