import { expect } from 'chai';
import { pino } from 'pino';
import { IpledgerError } from '../../lib/errors.ts';
import { add, type AddDeps } from './add.ts';
import { del } from './del.ts';
import { allocation, failing, FakeAllocator, fakeFiles, never, refusal, request } from './fakes.ts';
import type { Identified } from './pods.ts';
import type { Preparation } from './sandbox.ts';

function setUp(allocator: FakeAllocator) {
  const prepared: Preparation[] = [];
  const deps: AddDeps = {
    allocator,
    identify: () => Promise.reject(new Error('the uid was sent: nobody may ask for it')),
    told: () => Promise.resolve(''),
    files: fakeFiles(),
    sandbox: {
      prepare: (wanted) => {
        prepared.push(wanted);
        return Promise.resolve();
      },
    },
    node: 'node-a',
    bootId: 'b-1',
    log: pino({ level: 'silent' }),
  };
  return { deps, prepared };
}

const known = (identified: Identified) => () => Promise.resolve(identified);

describe('ADD', () => {
  it('waits for the allocation of this Pod uid, binds it to the container, and only then answers', async () => {
    const allocator = new FakeAllocator();
    const { deps } = setUp(allocator);
    const answer = JSON.parse(await add(deps, request(), never())) as { ips: { ip: string }[] };
    expect(answer.ips[0]?.ip).to.equal('172.17.0.11');
    const who = {
      namespace: 'default',
      pod: 'p',
      podUid: 'u-1',
      provider: 'macvlan.default',
      containerId: 'c1',
      interface: 'net1',
    };
    expect(allocator.waits).to.have.length(1);
    expect(allocator.waits[0]).to.include(who).and.have.property('timeoutMs').that.is.within(1, 20_000);
    expect(allocator.binds).to.deep.equal([{ ...who, node: 'node-a', bootId: 'b-1' }]);
  });

  it('keeps what it bound, with the epoch of the ledger, before it answers', async () => {
    const allocator = new FakeAllocator();
    const { deps } = setUp(allocator);
    allocator.epoch = 3;
    await add(deps, request(), never());
    expect(deps.files.of({ containerId: 'c1', interface: 'net1' })).to.deep.equal({
      namespace: 'default',
      pod: 'p',
      podUid: 'u-1',
      provider: 'macvlan.default',
      containerId: 'c1',
      interface: 'net1',
      addresses: ['172.17.0.11'],
      epoch: 3,
    });
  });

  it('keeps nothing when it fails after the Bind, also where an earlier ADD kept it', async () => {
    const { deps } = setUp(new FakeAllocator());
    await add(deps, request(), never());
    const failing = { ...deps, sandbox: { prepare: () => Promise.reject(new Error('no link')) } };
    await add(failing, request(), never()).catch(() => undefined);
    expect(deps.files.all()).to.deep.equal([]);
  });

  it('answers also when the file of its binding cannot be written', async () => {
    const { deps } = setUp(new FakeAllocator());
    const files = { ...fakeFiles(), keep: () => Promise.reject(new Error('no space left')) };
    expect(await add({ ...deps, files }, request(), never())).to.contain('172.17.0.11');
  });

  it('asks the Kubernetes API for the uid when the caller sends none', async () => {
    const allocator = new FakeAllocator();
    const { deps } = setUp(allocator);
    const uid = 'uid of the API';
    await add({ ...deps, identify: known({ name: 'p', uid, podUid: uid }) }, request({ pod_uid: '' }), never());
    expect(allocator.waits[0]?.podUid).to.equal(uid);
    expect(allocator.binds[0]?.podUid).to.equal(uid);
  });

  it('asks for the virtual machine that the Pod may be a launcher of, also when its uid was sent', async () => {
    const allocator = new FakeAllocator();
    const identify = known({ name: 'vm1', uid: 'u-of-vm1', podUid: 'u-1' });
    const { deps } = setUp(allocator);
    await add({ ...deps, identify }, request({ pod_name: 'virt-launcher-vm1-x7k2p' }), never());
    expect(allocator.waits[0]).to.include({ pod: 'vm1', podUid: 'u-of-vm1' });
    expect(allocator.binds[0]).to.include({ pod: 'vm1', podUid: 'u-of-vm1', containerId: 'c1' });
  });

  for (const code of ['NOT_REQUESTED', 'PROVIDER_UNBOUND'] as const)
    it(`names the cause that the Event of pod-watcher names, when the allocator answers ${code}`, async () => {
      const why = new IpledgerError(code, 'provider macvlan.default is not bound to any subnet');
      const { deps } = setUp(new FakeAllocator({ wait: failing(why) }));
      const told = ({ namespace, uid }: { namespace: string; uid: string }) =>
        Promise.resolve(`stage=getPodKubeovnNets error=a main NIC of ${namespace}, ${uid}`);
      const error = await refusal(add({ ...deps, told }, request(), never()));
      expect(error.message).to.match(
        /^no address allocated to pod default\/p provider macvlan\.default: a main NIC of default, u-1\. Run: /,
      );
    });

  it('asks again while the allocator is away', async () => {
    const away = new IpledgerError('UNAVAILABLE', 'connect ECONNREFUSED');
    const allocator = new FakeAllocator({ wait: failing(away, 2), bind: failing(away, 1) });
    await add(setUp(allocator).deps, request(), never());
    expect(allocator.waits).to.have.length(3);
    expect(allocator.binds).to.have.length(2);
  });

  it('asks again when the allocator rejects it for its rate', async () => {
    const tooMany = new IpledgerError('RATE_LIMITED', 'ipledger://agent/node-a sent more than 20 commands a second');
    const allocator = new FakeAllocator({ wait: failing(tooMany, 1), bind: failing(tooMany, 2) });
    await add(setUp(allocator).deps, request(), never());
    expect(allocator.binds).to.have.length(3);
  });

  it('gives a Bind what time the wait has left, while a standby takes over', async function () {
    this.timeout(20_000);
    const takingOver = new IpledgerError('NOT_WRITER', 'no allocator is the writer at this moment');
    const allocator = new FakeAllocator({ bind: failing(takingOver, 8) }); // some 4 s
    await add(setUp(allocator).deps, request(), never());
    expect(allocator.binds).to.have.length(9);
  });

  it('binds again until a container on another node answers on the address no more', async () => {
    const answering = new IpledgerError('ADDRESS_ANSWERING', 'container old (net1) on node node-1 may still answer');
    const allocator = new FakeAllocator({ bind: failing(answering, 2) });
    await add(setUp(allocator).deps, request(), never());
    expect(allocator.binds).to.have.length(3);
  });

  it('binds nothing when the allocator refused the Pod, and fails with status 500', async () => {
    const why = new IpledgerError('NOT_ALLOCATED', 'refused at T: subnet macvlan is full');
    const allocator = new FakeAllocator({ wait: failing(why) });
    const error = await refusal(add(setUp(allocator).deps, request(), never()));
    expect(error.message).to.match(
      /^no address allocated to pod default\/p .*: refused at T: subnet macvlan is full\. /,
    );
    expect(error.httpStatus).to.equal(500);
    expect(allocator.binds).to.deep.equal([]);
  });

  it('says that a provider has no subnet; the primary network’s may still get one', async () => {
    const unbound = new IpledgerError('PROVIDER_UNBOUND', 'provider nope.default is not bound to any subnet');
    const { deps } = setUp(new FakeAllocator({ wait: failing(unbound) }));
    const error = await refusal(add(deps, request({ provider: 'nope.default' }), never()));
    expect(error.httpStatus).to.equal(400);
    expect(error.message).to.match(/^provider nope\.default is not bound to any subnet: create a Subnet /);
    const primary = await refusal(add(deps, request({ provider: '' }), never()));
    expect(primary.httpStatus).to.equal(500);
    expect(primary.message).to.match(/^no address allocated to pod default\/p provider ovn: /);
  });

  it('shows an invalid request as it is', async () => {
    const invalid = new IpledgerError('INVALID_REQUEST', 'pod_uid is longer than 1024 bytes');
    const { deps } = setUp(new FakeAllocator({ wait: failing(invalid) }));
    expect((await refusal(add(deps, request(), never()))).message).to.equal('pod_uid is longer than 1024 bytes');
  });

  it('says so when the allocation went away between the wait and the bind', async () => {
    const gone = new IpledgerError('NOT_ALLOCATED', 'released just now');
    const { deps, prepared } = setUp(new FakeAllocator({ bind: failing(gone) }));
    expect((await refusal(add(deps, request(), never()))).message).to.match(
      /^no address allocated .*: released just now\. Run: /,
    );
    expect(prepared).to.deep.equal([]);
  });

  it('refuses faulty routes before it binds anything', async () => {
    const routes = [{ dst: '10.0.0.0', gw: 'here' }];
    const allocator = new FakeAllocator({}, { ...allocation, routes });
    const error = await refusal(add(setUp(allocator).deps, request(), never()));
    expect(error).to.include({
      httpStatus: 500,
      message: 'invalid routes for pod default/p: dst "10.0.0.0" is no CIDR',
    });
    expect(allocator.binds).to.deep.equal([]);
  });

  it('has the MAC set, and default routes of the same family replaced, after the bind and before the answer', async () => {
    const routes = [{ dst: '', gw: 'fd00::1' }];
    const allocator = new FakeAllocator({}, { ...allocation, mac: '02:00:00:00:00:01', routes });
    const { deps, prepared } = setUp(allocator);
    await add(deps, request({ routes: [{ dst: '10.0.0.0/8', gw: '172.17.0.9' }] }), never());
    const wanted = {
      netns: '/ns',
      interface: 'net1',
      cniType: 'macvlan',
      mac: '02:00:00:00:00:01',
      macMayDiffer: false,
      ipv6: false,
    };
    expect(prepared).to.deep.equal([{ ...wanted, replacedDefaults: new Set([6]) }]);

    const sandbox = { prepare: () => Promise.reject(new IpledgerError('SANDBOX_FAILED', 'no such link')) };
    const error = await refusal(add({ ...deps, sandbox }, request(), never()));
    expect(error).to.include({ httpStatus: 500, message: 'no such link' });
  });

  it('has the sandbox made ready for an IPv6 address', async () => {
    const addresses = [...allocation.addresses, { address: 'fd00::b', cidr: 'fd00::/64', gateway: '' }];
    const { deps, prepared } = setUp(new FakeAllocator({}, { ...allocation, addresses }));
    await add(deps, request(), never());
    expect(prepared.map(({ ipv6 }) => ipv6)).to.deep.equal([true]);
  });

  it('stops asking for a caller that hung up, and ends what its last Bind may have bound', async () => {
    const caller = new AbortController();
    const allocator = new FakeAllocator({
      bind: () => {
        caller.abort();
        throw new IpledgerError('UNAVAILABLE', 'away');
      },
    });
    await refusal(add(setUp(allocator).deps, request(), caller.signal));
    expect(allocator.binds).to.have.length(1);
    expect(allocator.unbinds).to.have.length(1);
  });

  it('has no data path for NICs of Kube-OVN’s own kind', async () => {
    const allocator = new FakeAllocator();
    const error = await refusal(add(setUp(allocator).deps, request({ cni_type: 'kube-ovn' }), never()));
    expect(error.code).to.equal('NOT_IMPLEMENTED');
    expect(error.message).to.match(/^data path not available: /);
    expect(allocator.waits).to.deep.equal([]);
  });

  it('does not bind for a caller that hung up while it waited', async () => {
    const caller = new AbortController();
    const allocator = new FakeAllocator({ wait: () => caller.abort() });
    expect((await refusal(add(setUp(allocator).deps, request(), caller.signal))).code).to.equal('CANCELLED');
    expect(allocator.binds).to.deep.equal([]);
  });

  it('ends the binding again when its caller hung up during the bind', async () => {
    const caller = new AbortController();
    const allocator = new FakeAllocator({ bind: () => caller.abort() });
    expect((await refusal(add(setUp(allocator).deps, request(), caller.signal))).code).to.equal('CANCELLED');
    expect(allocator.unbinds).to.deep.equal([
      { namespace: 'default', pod: 'p', provider: 'macvlan.default', containerId: 'c1', interface: 'net1' },
    ]);
  });

  const unbound = [
    { namespace: 'default', pod: 'p', provider: 'macvlan.default', containerId: 'c1', interface: 'net1' },
  ];

  it('ends the binding again when the sandbox could not be prepared, and says why that was', async () => {
    const allocator = new FakeAllocator({ unbind: failing(new IpledgerError('UNAVAILABLE', 'away')) });
    const sandbox = { prepare: () => Promise.reject(new IpledgerError('SANDBOX_FAILED', 'no such link')) };
    const error = await refusal(add({ ...setUp(allocator).deps, sandbox }, request(), never()));
    expect(error).to.include({ code: 'SANDBOX_FAILED', message: 'no such link' });
    expect(allocator.unbinds).to.deep.equal(unbound);
  });

  it('ends the binding again when its caller hung up while the sandbox was prepared', async () => {
    const caller = new AbortController();
    const allocator = new FakeAllocator();
    const sandbox = { prepare: () => Promise.resolve(caller.abort()) };
    const error = await refusal(add({ ...setUp(allocator).deps, sandbox }, request(), caller.signal));
    expect(error.code).to.equal('CANCELLED');
    expect(allocator.unbinds).to.deep.equal(unbound);
  });

  it('prepares nothing for a caller that hung up during the bind', async () => {
    const caller = new AbortController();
    const { deps, prepared } = setUp(new FakeAllocator({ bind: () => caller.abort() }));
    await refusal(add(deps, request(), caller.signal));
    expect(prepared).to.deep.equal([]);
  });

  it('leaves the binding of an ADD that is answered', async () => {
    const allocator = new FakeAllocator();
    await add(setUp(allocator).deps, request(), never());
    expect(allocator.unbinds).to.deep.equal([]);
  });

  it('ends what a Bind without an answer may have bound, though the next try was refused', async () => {
    const outcomes = [
      new IpledgerError('UNAVAILABLE', 'connection lost'),
      new IpledgerError('NOT_ALLOCATED', 'released just now'),
    ];
    const allocator = new FakeAllocator({
      bind: () => {
        throw outcomes.shift() ?? new Error('asked once more than twice');
      },
    });
    const error = await refusal(add(setUp(allocator).deps, request(), never()));
    expect(error.message).to.contain('released just now');
    expect(allocator.unbinds).to.deep.equal(unbound);
  });

  it('does not keep asking for a caller that hung up', async () => {
    const caller = new AbortController();
    const allocator = new FakeAllocator({
      wait: () => {
        caller.abort();
        throw new IpledgerError('UNAVAILABLE', 'away');
      },
    });
    await refusal(add(setUp(allocator).deps, request(), caller.signal));
    expect(allocator.waits).to.have.length(1);
  });
});

describe('DEL', () => {
  it('ends the container’s binding, also without a network namespace', async () => {
    const allocator = new FakeAllocator();
    await del(allocator, request({ net_ns: '', pod_uid: undefined }), never());
    expect(allocator.unbinds).to.deep.equal([
      { namespace: 'default', pod: 'p', provider: 'macvlan.default', containerId: 'c1', interface: 'net1' },
    ]);
  });

  it('tries again while the allocator is away, and says what failed for good', async () => {
    const away = new FakeAllocator({ unbind: failing(new IpledgerError('UNAVAILABLE', 'away'), 2) });
    await del(away, request(), never());
    expect(away.unbinds).to.have.length(3);

    const fenced = new FakeAllocator({ unbind: failing(new IpledgerError('ADDRESS_FENCED', 'the key was edited')) });
    const error = await refusal(del(fenced, request(), never()));
    expect(error).to.include({
      httpStatus: 500,
      message: 'del nic failed: the allocator could not be told: the key was edited',
    });
    expect(fenced.unbinds).to.have.length(1);
  });
});
