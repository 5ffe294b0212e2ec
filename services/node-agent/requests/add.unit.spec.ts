import { expect } from 'chai';
import { pino } from 'pino';
import { IpledgerError } from '../../../lib/errors.ts';
import { add, type AddDeps } from './add.ts';
import { del } from './del.ts';
import {
  allocation,
  failTimes,
  FakeBindingClient,
  fakeBindingFiles,
  fakeDataPath,
  lingeringBindings,
  lostAppend,
  lostReply,
  neverAborted,
  rejectionOf,
  request,
  unansweredProbe,
} from '../testing/fakes.ts';
import type { FoundPod } from '../kubernetes/pod-lookup.ts';
import type { SandboxPreparation } from './sandbox.ts';

function setUp(allocator: FakeBindingClient) {
  const prepared: SandboxPreparation[] = [];
  const files = fakeBindingFiles();
  const deps: AddDeps = {
    allocator,
    lookUpPod: () => Promise.reject(new Error('a request with a uid needs no lookup')),
    readPodWarning: () => Promise.resolve(''),
    files,
    lingering: lingeringBindings(allocator, files),
    probe: unansweredProbe,
    sandbox: {
      prepare: (preparation) => {
        prepared.push(preparation);
        return Promise.resolve();
      },
    },
    node: 'node-a',
    bootId: 'b-1',
    log: pino({ level: 'silent' }),
  };
  return { deps, prepared };
}

const lookUp = (found: FoundPod) => () => Promise.resolve(found);

describe('ADD', () => {
  it('ADD waits for the allocation of its Pod uid and binds it to the container before it responds', async () => {
    const allocator = new FakeBindingClient();
    const { deps } = setUp(allocator);
    const response = JSON.parse(await add(deps, request(), neverAborted())) as { ips: { ip: string }[] };
    expect(response.ips[0]?.ip).to.equal('172.17.0.11');
    const target = {
      namespace: 'default',
      pod: 'p',
      podUid: 'u-1',
      provider: 'macvlan.default',
      containerId: 'c1',
      interface: 'net1',
    };
    expect(allocator.attaches).to.have.length(1);
    expect(allocator.attaches[0])
      .to.include({ ...target, node: 'node-a', bootId: 'b-1' })
      .and.have.property('timeoutMs')
      .that.is.within(1, 20_000);
    expect([...allocator.waits, ...allocator.binds, ...allocator.unbinds]).to.deep.equal([]);
  });

  it('ADD saves its binding with the ledger’s epoch and the sandbox’s network namespace', async () => {
    const allocator = new FakeBindingClient();
    const { deps } = setUp(allocator);
    allocator.epoch = 3;
    await add(deps, request(), neverAborted());
    expect(deps.files.get({ containerId: 'c1', interface: 'net1' })).to.deep.equal({
      namespace: 'default',
      pod: 'p',
      podUid: 'u-1',
      provider: 'macvlan.default',
      containerId: 'c1',
      interface: 'net1',
      addresses: ['172.17.0.11'],
      netns: '/ns',
      netnsFolder: '',
      boundAs: '',
      isDeleted: false,
      isPending: false,
      epoch: 3,
    });
  });

  it('ADD removes the saved binding when it fails after the Bind', async () => {
    const { deps } = setUp(new FakeBindingClient());
    await add(deps, request(), neverAborted());
    const failing = { ...deps, sandbox: { prepare: () => Promise.reject(new Error('no link')) } };
    await add(failing, request(), neverAborted()).catch(() => undefined);
    expect(deps.files.all()).to.deep.equal([]);
  });

  it('ADD succeeds when its binding file cannot be written', async () => {
    const { deps } = setUp(new FakeBindingClient());
    const files = { ...fakeBindingFiles(), save: () => Promise.reject(new Error('no space left')) };
    expect(await add({ ...deps, files }, request(), neverAborted())).to.contain('172.17.0.11');
  });

  it('ADD reads the uid from the Kubernetes API when the request has none', async () => {
    const allocator = new FakeBindingClient();
    const { deps } = setUp(allocator);
    const uid = 'uid of the API';
    await add(
      { ...deps, lookUpPod: lookUp({ name: 'p', uid, podUid: uid }) },
      request({ pod_uid: '' }),
      neverAborted(),
    );
    expect(allocator.attaches[0]?.podUid).to.equal(uid);
  });

  it('ADD looks up the virtual machine of a launcher Pod, also when the request has a uid', async () => {
    const allocator = new FakeBindingClient();
    const lookUpPod = lookUp({ name: 'vm1', uid: 'u-of-vm1', podUid: 'u-1' });
    const { deps } = setUp(allocator);
    await add({ ...deps, lookUpPod }, request({ pod_name: 'virt-launcher-vm1-x7k2p' }), neverAborted());
    expect(allocator.attaches[0]).to.include({ pod: 'vm1', podUid: 'u-of-vm1', containerId: 'c1' });
  });

  for (const code of ['NOT_REQUESTED', 'PROVIDER_UNBOUND'] as const)
    it(`ADD fails with the cause of pod-watcher’s Event when the allocator returns ${code}`, async () => {
      const cause = new IpledgerError(code, 'provider macvlan.default is not bound to any subnet');
      const { deps } = setUp(new FakeBindingClient({ attach: failTimes(cause) }));
      const readPodWarning = ({ namespace, uid }: { namespace: string; uid: string }) =>
        Promise.resolve(`stage=getPodKubeovnNets error=a main NIC of ${namespace}, ${uid}`);
      const error = await rejectionOf(add({ ...deps, readPodWarning }, request(), neverAborted()));
      expect(error.message).to.match(
        /^no address allocated to pod default\/p provider macvlan\.default: a main NIC of default, u-1\. Run: /,
      );
    });

  it('ADD retries while the allocator is unavailable', async () => {
    const unavailable = new IpledgerError('UNAVAILABLE', 'connect ECONNREFUSED');
    const allocator = new FakeBindingClient({ attach: failTimes(unavailable, 2) });
    await add(setUp(allocator).deps, request(), neverAborted());
    expect(allocator.attaches).to.have.length(3);
  });

  it('ADD retries when the allocator limits its rate', async () => {
    const tooMany = new IpledgerError('RATE_LIMITED', 'ipledger://agent/node-a sent more than 20 commands a second');
    const allocator = new FakeBindingClient({ attach: failTimes(tooMany, 2) });
    await add(setUp(allocator).deps, request(), neverAborted());
    expect(allocator.attaches).to.have.length(3);
  });

  it('ADD retries an Attach until the deadline of the wait while a standby takes over', async function () {
    this.timeout(20_000);
    const failover = new IpledgerError('NOT_WRITER', 'no allocator is the writer at this moment');
    const allocator = new FakeBindingClient({ attach: failTimes(failover, 8) }); // some 4 s
    await add(setUp(allocator).deps, request(), neverAborted());
    expect(allocator.attaches).to.have.length(9);
  });

  it('ADD retries an Attach while a container on another node may still answer on the address', async () => {
    const answering = new IpledgerError('ADDRESS_ANSWERING', 'container old (net1) on node node-1 may still answer');
    const allocator = new FakeBindingClient({ attach: failTimes(answering, 2) });
    await add(setUp(allocator).deps, request(), neverAborted());
    expect(allocator.attaches).to.have.length(3);
  });

  it('ADD fails with status 500, and ends no binding, when the allocator has rejected the Pod', async () => {
    const cause = new IpledgerError('NOT_ALLOCATED', 'refused at T: subnet macvlan is full');
    const allocator = new FakeBindingClient({ attach: failTimes(cause) });
    const error = await rejectionOf(add(setUp(allocator).deps, request(), neverAborted()));
    expect(error.message).to.match(
      /^no address allocated to pod default\/p .*: refused at T: subnet macvlan is full\. /,
    );
    expect(error.httpStatus).to.equal(500);
    expect(allocator.unbinds).to.deep.equal([]);
  });

  it('ADD fails with status 400 if no Subnet serves the provider, and with 500 for the primary network', async () => {
    const unbound = new IpledgerError('PROVIDER_UNBOUND', 'provider nope.default is not bound to any subnet');
    const { deps } = setUp(new FakeBindingClient({ attach: failTimes(unbound) }));
    const error = await rejectionOf(add(deps, request({ provider: 'nope.default' }), neverAborted()));
    expect(error.httpStatus).to.equal(400);
    expect(error.message).to.match(/^provider nope\.default is not bound to any subnet: create a Subnet /);
    const primary = await rejectionOf(add(deps, request({ provider: '' }), neverAborted()));
    expect(primary.httpStatus).to.equal(500);
    expect(primary.message).to.match(/^no address allocated to pod default\/p provider ovn: /);
  });

  it('ADD returns the error of an invalid request unchanged', async () => {
    const invalid = new IpledgerError('INVALID_REQUEST', 'pod_uid is longer than 1024 bytes');
    const { deps } = setUp(new FakeBindingClient({ attach: failTimes(invalid) }));
    expect((await rejectionOf(add(deps, request(), neverAborted()))).message).to.equal(
      'pod_uid is longer than 1024 bytes',
    );
  });

  it('ADD fails when the allocation is released before the Bind', async () => {
    const released = new IpledgerError('NOT_ALLOCATED', 'released just now');
    const { deps, prepared } = setUp(new FakeBindingClient({ attach: failTimes(released) }));
    expect((await rejectionOf(add(deps, request(), neverAborted()))).message).to.match(
      /^no address allocated .*: released just now\. Run: /,
    );
    expect(prepared).to.deep.equal([]);
  });

  const invalidRoutes = [{ dst: '10.0.0.0', gw: 'here' }];
  const routeFault = {
    code: 'ROUTE_INVALID',
    httpStatus: 500,
    message: 'invalid routes for pod default/p: dst "10.0.0.0" is not a CIDR',
  };

  it('ADD rejects invalid routes of the network configuration before it binds', async () => {
    const allocator = new FakeBindingClient();
    const error = await rejectionOf(add(setUp(allocator).deps, request({ routes: invalidRoutes }), neverAborted()));
    expect(error).to.include(routeFault);
    expect(allocator.attaches).to.deep.equal([]);
  });

  it('ADD rejects invalid routes of the allocation, and ends the binding', async () => {
    const allocator = new FakeBindingClient({}, { ...allocation, routes: invalidRoutes });
    const { deps, prepared } = setUp(allocator);
    expect(await rejectionOf(add(deps, request(), neverAborted()))).to.include(routeFault);
    expect(allocator.unbinds).to.have.length(1);
    expect(prepared).to.deep.equal([]);
  });

  it('ADD sets the MAC and replaces default routes of its family between Bind and response', async () => {
    const routes = [{ dst: '', gw: 'fd00::1' }];
    const allocator = new FakeBindingClient({}, { ...allocation, mac: '02:00:00:00:00:01', routes });
    const { deps, prepared } = setUp(allocator);
    await add(deps, request({ routes: [{ dst: '10.0.0.0/8', gw: '172.17.0.9' }] }), neverAborted());
    const expected = {
      netns: '/ns',
      interface: 'net1',
      cniType: 'macvlan',
      mac: '02:00:00:00:00:01',
      macMayDiffer: false,
      ipv6: false,
    };
    expect(prepared).to.deep.equal([{ ...expected, replacedDefaults: new Set([6]) }]);

    const sandbox = { prepare: () => Promise.reject(new IpledgerError('SANDBOX_FAILED', 'no such link')) };
    const error = await rejectionOf(add({ ...deps, sandbox }, request(), neverAborted()));
    expect(error).to.include({ httpStatus: 500, message: 'no such link' });
  });

  it('ADD prepares the sandbox for an IPv6 address', async () => {
    const addresses = [...allocation.addresses, { address: 'fd00::b', cidr: 'fd00::/64', gateway: '' }];
    const { deps, prepared } = setUp(new FakeBindingClient({}, { ...allocation, addresses }));
    await add(deps, request(), neverAborted());
    expect(prepared.map(({ ipv6 }) => ipv6)).to.deep.equal([true]);
  });

  it('ADD stops retrying Attach after its caller disconnects, and ends a possible binding', async () => {
    const caller = new AbortController();
    const allocator = new FakeBindingClient({
      attach: () => {
        caller.abort();
        throw lostReply();
      },
    });
    await rejectionOf(add(setUp(allocator).deps, request(), caller.signal));
    expect(allocator.attaches).to.have.length(1);
    expect(allocator.unbinds).to.have.length(1);
  });

  describe('of type kube-ovn', () => {
    const ovnRequest = request({ cni_type: 'kube-ovn', provider: 'lan.default.ovn' });

    it('ADD of type kube-ovn fails at once without a data path, and names the missing flag', async () => {
      const allocator = new FakeBindingClient();
      const error = await rejectionOf(add(setUp(allocator).deps, ovnRequest, neverAborted()));
      expect(error.code).to.equal('NOT_IMPLEMENTED');
      expect(error.message).to.match(/^no data path for type kube-ovn: .*node-a runs without --ovs-db/);
      expect(allocator.attaches).to.deep.equal([]);
    });

    it('ADD of type kube-ovn makes the NIC of the bound allocation and does not prepare the sandbox', async () => {
      const { deps, prepared } = setUp(new FakeBindingClient());
      const dataPath = fakeDataPath();
      const response: unknown = JSON.parse(await add({ ...deps, dataPath }, ovnRequest, neverAborted()));
      expect(dataPath.attached).to.deep.equal([{ request: ovnRequest, allocation }]);
      expect(prepared).to.deep.equal([]);
      expect(response).to.include({
        mac_address: '02:00:00:00:00:01',
        mtu: 1400,
        nicname: 'net1',
        host_nicname: 'c1_net1_h',
      });
    });

    it('ADD of type kube-ovn ends the binding when the NIC fails', async () => {
      const allocator = new FakeBindingClient();
      const { deps } = setUp(allocator);
      const dataPath = fakeDataPath();
      dataPath.attachError = new IpledgerError('DATA_PATH_FAILED', 'OVN has not connected interface net1');
      const error = await rejectionOf(add({ ...deps, dataPath }, ovnRequest, neverAborted()));
      expect(error).to.equal(dataPath.attachError);
      expect(allocator.unbinds).to.have.length(1);
    });

    it('ADD of type kube-ovn removes the NIC when the caller disconnects before the response', async () => {
      const allocator = new FakeBindingClient();
      const { deps } = setUp(allocator);
      const caller = new AbortController();
      const dataPath = fakeDataPath(() => caller.abort());
      const error = await rejectionOf(add({ ...deps, dataPath }, ovnRequest, caller.signal));
      expect(error.code).to.equal('CANCELLED');
      expect(dataPath.detached).to.have.length(1);
      expect(allocator.unbinds).to.have.length(1);
    });
  });

  it('ADD ends the binding when its caller disconnects during the Attach', async () => {
    const caller = new AbortController();
    const allocator = new FakeBindingClient({ attach: () => caller.abort() });
    expect((await rejectionOf(add(setUp(allocator).deps, request(), caller.signal))).code).to.equal('CANCELLED');
    expect(allocator.unbinds).to.deep.equal([
      { namespace: 'default', pod: 'p', provider: 'macvlan.default', containerId: 'c1', interface: 'net1' },
    ]);
  });

  const unbound = [
    { namespace: 'default', pod: 'p', provider: 'macvlan.default', containerId: 'c1', interface: 'net1' },
  ];

  it('ADD ends the binding when the sandbox cannot be prepared, and returns that error', async () => {
    const allocator = new FakeBindingClient({ unbind: failTimes(new IpledgerError('UNAVAILABLE', 'no connection')) });
    const sandbox = { prepare: () => Promise.reject(new IpledgerError('SANDBOX_FAILED', 'no such link')) };
    const error = await rejectionOf(add({ ...setUp(allocator).deps, sandbox }, request(), neverAborted()));
    expect(error).to.include({ code: 'SANDBOX_FAILED', message: 'no such link' });
    expect(allocator.unbinds).to.deep.equal(unbound);
  });

  it('ADD ends the binding when its caller disconnects while the sandbox is prepared', async () => {
    const caller = new AbortController();
    const allocator = new FakeBindingClient();
    const sandbox = { prepare: () => Promise.resolve(caller.abort()) };
    const error = await rejectionOf(add({ ...setUp(allocator).deps, sandbox }, request(), caller.signal));
    expect(error.code).to.equal('CANCELLED');
    expect(allocator.unbinds).to.deep.equal(unbound);
  });

  it('ADD does not prepare the sandbox when its caller disconnects during the Attach', async () => {
    const caller = new AbortController();
    const { deps, prepared } = setUp(new FakeBindingClient({ attach: () => caller.abort() }));
    await rejectionOf(add(deps, request(), caller.signal));
    expect(prepared).to.deep.equal([]);
  });

  it('ADD keeps its binding when it succeeds', async () => {
    const allocator = new FakeBindingClient();
    await add(setUp(allocator).deps, request(), neverAborted());
    expect(allocator.unbinds).to.deep.equal([]);
  });

  for (const [what, first] of Object.entries({
    'an Attach has no reply': lostReply(),
    'the allocator reports an unknown outcome of an Attach': lostAppend(),
  }))
    it(`ADD ends a possible binding when ${what} and its retry is rejected`, async () => {
      const outcomes = [first, new IpledgerError('NOT_ALLOCATED', 'released just now')];
      const allocator = new FakeBindingClient({
        attach: () => {
          throw outcomes.shift() ?? new Error('more than two calls');
        },
      });
      const error = await rejectionOf(add(setUp(allocator).deps, request(), neverAborted()));
      expect(error.message).to.contain('released just now');
      expect(allocator.unbinds).to.deep.equal(unbound);
    });

  it('ADD ends no binding when none of its calls reached the allocator', async () => {
    const caller = new AbortController();
    const allocator = new FakeBindingClient({
      attach: () => {
        caller.abort();
        throw new IpledgerError('UNAVAILABLE', 'no connection');
      },
    });
    await rejectionOf(add(setUp(allocator).deps, request(), caller.signal));
    expect(allocator.attaches).to.have.length(1);
    expect(allocator.unbinds).to.deep.equal([]);
  });
});

describe('DEL', () => {
  function delDeps(allocator: FakeBindingClient) {
    const files = fakeBindingFiles();
    return { allocator, files, lingering: lingeringBindings(allocator, files) };
  }

  it('DEL ends the container’s binding without a network namespace', async () => {
    const allocator = new FakeBindingClient();
    await del(delDeps(allocator), request({ net_ns: '', pod_uid: undefined }), neverAborted());
    expect(allocator.unbinds).to.deep.equal([
      { namespace: 'default', pod: 'p', provider: 'macvlan.default', containerId: 'c1', interface: 'net1' },
    ]);
  });

  it('DEL retries while the allocator is unavailable, and returns a permanent error', async () => {
    const unavailable = new FakeBindingClient({
      unbind: failTimes(new IpledgerError('UNAVAILABLE', 'no connection'), 2),
    });
    await del(delDeps(unavailable), request(), neverAborted());
    expect(unavailable.unbinds).to.have.length(3);

    const fenced = new FakeBindingClient({
      unbind: failTimes(new IpledgerError('ADDRESS_FENCED', 'the key was edited')),
    });
    const error = await rejectionOf(del(delDeps(fenced), request(), neverAborted()));
    expect(error).to.include({
      httpStatus: 500,
      message: 'del nic failed: the allocator cannot end the binding: the key was edited',
    });
    expect(fenced.unbinds).to.have.length(1);
  });

  it('DEL removes a NIC that the agent made, and ends the binding even if the NIC cannot be removed now', async () => {
    const allocator = new FakeBindingClient();
    const dataPath = fakeDataPath();
    const deps = { ...delDeps(allocator), dataPath };
    await del(deps, request(), neverAborted());
    expect(dataPath.detached).to.deep.equal([]);
    await del(deps, request({ cni_type: 'kube-ovn' }), neverAborted());
    expect(dataPath.detached).to.have.length(1);

    dataPath.detachError = new IpledgerError('UNAVAILABLE', 'no connection to the Open vSwitch database');
    const error = await rejectionOf(del(deps, request({ cni_type: 'kube-ovn' }), neverAborted()));
    expect(error).to.equal(dataPath.detachError);
    expect(allocator.unbinds).to.have.length(3);
  });
});
