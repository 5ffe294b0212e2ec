import { expect } from 'chai';
import { pino } from 'pino';
import { IpledgerError } from '../../../lib/errors.ts';
import { parseOvn4nfvRequest } from '../../../lib/ovn4nfv/request.ts';
import type { CniRequest } from '../daemon/plugin-request.ts';
import {
  fakeBindingFiles,
  FakeBindingClient,
  neverAborted,
  rejectionOf,
  request,
  sandboxBinding,
  savedBinding,
} from '../testing/fakes.ts';
import { addNics, delNics } from './ovn4nfv-nics.ts';

const provider = 'ovn4nfv.kube-system.ovn';
const log = pino({ level: 'silent' });
const overlay = (more: object = {}): CniRequest => request({ cni_type: 'ovn-k8s-cni-overlay', provider, ...more });
const two = JSON.stringify([
  { name: 'ovn-ls-25', interface: 'net0' },
  { name: 'ovn-ls-26', interface: 'net1' },
]);

function setUp(annotations: Record<string, string>, failing: Record<string, IpledgerError> = {}) {
  const added: CniRequest[] = [];
  const deleted: string[] = [];
  const deps = {
    lookUpOvn4nfv: () => {
      const parsed = parseOvn4nfvRequest({ annotations });
      return Promise.resolve(parsed.ok ? parsed.value : undefined);
    },
    addNic: (nic: CniRequest) => {
      added.push(nic);
      const error = failing[nic.interface];
      return error ? Promise.reject(error) : Promise.resolve(JSON.stringify({ nicname: nic.interface }));
    },
    delNic: (nic: CniRequest) => Promise.resolve(void deleted.push(nic.interface)),
    log,
  };
  return { deps, added, deleted };
}

describe('ADD of an OVN4NFV type', () => {
  it('ADD of an OVN4NFV type makes each NIC of the request as a NIC of type kube-ovn, and returns their responses in order', async () => {
    const { deps, added } = setUp({ ovnNetwork: two });
    const body: unknown = JSON.parse(await addNics(deps, overlay(), neverAborted()));
    expect(added.map(({ cniType, provider: of, interface: name }) => [cniType, of, name])).to.deep.equal([
      ['kube-ovn', provider, 'net0'],
      ['kube-ovn', provider, 'net1'],
    ]);
    expect(body).to.deep.equal({ nicname: 'net0', nics: [{ nicname: 'net0' }, { nicname: 'net1' }] });
  });

  it('ADD of an OVN4NFV type makes one NIC with the runtime’s name for the annotation ovn, and without any annotation', async () => {
    for (const annotations of [{ ovn: '{}' }, {}]) {
      const { deps, added } = setUp(annotations);
      await addNics(deps, overlay({ if_name: 'eth0' }), neverAborted());
      expect(added.map(({ interface: name }) => name)).to.deep.equal(['eth0']);
    }
  });

  it('ADD of an OVN4NFV type makes the NICs of the network that the configuration names', async () => {
    const { deps, added } = setUp({ ovnNetwork: two });
    await addNics(deps, overlay({ nfn_network: 'ovn-ls-26' }), neverAborted());
    expect(added.map(({ interface: name }) => name)).to.deep.equal(['net1']);
    const error = await rejectionOf(addNics(deps, overlay({ nfn_network: 'other' }), neverAborted()));
    expect(error.code).to.equal('NOT_REQUESTED');
    expect(error.message).to.match(/^annotation ovnNetwork of pod default\/p has no interface of network other/);
  });

  it('ADD of an OVN4NFV type removes the NICs that it made when another NIC fails, and returns the error', async () => {
    const failure = new IpledgerError('DATA_PATH_FAILED', 'OVN has not connected interface net1');
    const { deps, deleted } = setUp({ ovnNetwork: two }, { net1: failure });
    expect(await rejectionOf(addNics(deps, overlay(), neverAborted()))).to.equal(failure);
    expect(deleted).to.deep.equal(['net0']);
  });

  it('ADD of an OVN4NFV type stops the other NICs when one fails', async () => {
    const failure = new IpledgerError('DATA_PATH_FAILED', 'no');
    const { deps } = setUp({ ovnNetwork: two }, { net0: failure });
    const addNic = (nic: CniRequest, signal: AbortSignal): Promise<string> =>
      nic.interface === 'net0'
        ? Promise.reject(failure)
        : new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(new IpledgerError('CANCELLED', 'aborted')));
          });
    expect(await rejectionOf(addNics({ ...deps, addNic }, overlay(), neverAborted()))).to.equal(failure);
  });
});

describe('DEL of an OVN4NFV type', () => {
  const del = async (
    { files = fakeBindingFiles(), allocator = new FakeBindingClient(), ports = [] as string[], failing = '' } = {},
    deleted: string[] = [],
  ): Promise<string[]> => {
    const delNic = (nic: CniRequest): Promise<void> => {
      deleted.push(nic.interface);
      return nic.interface === failing ? Promise.reject(new IpledgerError('UNAVAILABLE', 'no')) : Promise.resolve();
    };
    const dataPath = { interfacesOf: () => ports };
    await delNics({ files, allocator, node: 'node-a', dataPath, delNic }, overlay(), neverAborted());
    return deleted;
  };
  const saved = (name: string, changes: object = {}) => savedBinding('c1', { provider, interface: name, ...changes });

  it('DEL of an OVN4NFV type removes all NICs of the container by its files and ports, and no others', async () => {
    const files = fakeBindingFiles(
      saved('net0'),
      saved('net1'),
      saved('net5', { provider: 'macvlan.default' }),
      saved('net6', { containerId: 'c10' }),
    );
    expect(await del({ files, ports: ['net1', 'net2'] })).to.deep.equal(['net0', 'net1', 'net2']);
  });

  it('DEL of an OVN4NFV type removes the NICs that the ledger has when the node has none', async () => {
    const allocator = new FakeBindingClient();
    allocator.bindings = [sandboxBinding('c1', 'b-1', provider), sandboxBinding('c10', 'b-1', provider)];
    expect(await del({ allocator })).to.deep.equal(['net1']);
    expect(allocator.lists).to.have.length(1);
  });

  it('DEL of an OVN4NFV type succeeds for an unknown container', async () => {
    expect(await del()).to.deep.equal([]);
  });

  it('DEL of an OVN4NFV type tries to remove all NICs before it fails', async () => {
    const deleted: string[] = [];
    const files = fakeBindingFiles(saved('net0'), saved('net1'));
    expect((await rejectionOf(del({ files, failing: 'net0' }, deleted))).code).to.equal('UNAVAILABLE');
    expect(deleted).to.deep.equal(['net0', 'net1']);
  });
});
