import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Input } from '../../../proto/codec.ts';
import type { ApplySubnetRequest } from '../../../proto/ipledger.ts';
import { FakeSource, inForce, silent, subnetNamed, until } from '../fakes.ts';
import type { SubnetObject } from '../kubernetes/objects.ts';
import type { SubnetInForce } from '../ledger/facts.ts';
import { Configurer } from './configure.ts';
import { Subnets } from './subnets.ts';

describe('the Subnet objects', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  function world(known: SubnetInForce[] = []) {
    const objects = new FakeSource<SubnetObject>();
    const subnets = new Subnets(objects.objects);
    const applied: Input<ApplySubnetRequest>[] = [];
    const deleted: string[] = [];
    const written: { name: string; ready: string; message: string }[] = [];
    const said: string[] = [];
    const rung = new Set<string>();
    const answers: { refuse?: IpledgerError } = {};
    const configurer = new Configurer({
      allocator: {
        applySubnet: (request) => {
          applied.push(request);
          if (answers.refuse) return Promise.reject(answers.refuse);
          const { spec } = inForce(request.name ?? '', request.spec?.provider);
          return Promise.resolve({
            position: { epoch: 1, seq: 99, hash: '' },
            subnet: { name: request.name ?? '', spec, usage: [], fenced: [] },
          });
        },
        deleteSubnet: (name) => {
          deleted.push(name);
          return answers.refuse ? Promise.reject(answers.refuse) : Promise.resolve();
        },
      },
      objects,
      subnets,
      ring: (topic) => rung.add(topic),
      writeConditions: ({ name }, conditions) => {
        const ready = conditions.find(({ type }) => type === 'Ready');
        written.push({ name, ready: ready?.status ?? '', message: ready?.message ?? '' });
        return Promise.resolve();
      },
      say: (_subnet, { message }) => said.push(message),
      log: silent,
      signal: stop.signal,
    });
    for (const reader of [subnets, configurer]) reader.snapshot({ seq: 50, holdings: [], subnets: known });
    return { objects, subnets, applied, deleted, written, said, rung, answers, configurer };
  }

  it('become the ledger’s subnets, and say that they are in force', async () => {
    const { objects, subnets, applied, written, rung, configurer } = world();
    objects.put(subnetNamed('macvlan', { excludeIps: ['10.0.0.2..10.0.0.9'], gateway: '10.0.0.1' }));
    await configurer.start();
    expect(applied).to.deep.equal([
      {
        name: 'macvlan',
        spec: {
          cidrBlock: '10.0.0.0/24',
          gateway: '10.0.0.1',
          excludeIps: ['10.0.0.2..10.0.0.9'],
          provider: 'macvlan.default',
          protocol: '',
        },
        source: { uid: 'uid-macvlan', generation: 1 },
      },
    ]);
    expect(subnets.servingProvider('macvlan.default')).to.deep.equal(['macvlan']);
    expect(written).to.deep.equal([{ name: 'macvlan', ready: 'True', message: '' }]);
    expect([...rung]).to.deep.equal(['subnet:macvlan', 'provider:macvlan.default']);
  });

  it('are applied again when their spec changes, not when their status does', async () => {
    const { objects, applied, configurer } = world();
    objects.put(subnetNamed('macvlan'));
    await configurer.start();
    objects.put(subnetNamed('macvlan', {}, { resourceVersion: '2' }));
    objects.put(subnetNamed('macvlan', { cidrBlock: '10.0.0.0/16' }, { generation: 2 }));
    await until(() => applied.length > 1);
    expect(applied.map(({ source }) => source?.generation)).to.deep.equal([1, 2]);
  });

  it('say why their spec is not in force, on the condition and in an Event', async () => {
    const { objects, subnets, written, said, answers, configurer } = world();
    answers.refuse = new IpledgerError('SUBNET_INVALID', 'subnet macvlan cidr 10.0.0.0/99 is invalid');
    objects.put(subnetNamed('macvlan', { cidrBlock: '10.0.0.0/99' }));
    await configurer.start();
    await until(() => written.length > 0);
    expect(written[0]).to.deep.equal({
      name: 'macvlan',
      ready: 'False',
      message: 'subnet macvlan cidr 10.0.0.0/99 is invalid',
    });
    expect(said).to.deep.equal(['subnet macvlan cidr 10.0.0.0/99 is invalid']);
    expect(subnets.whyNot('macvlan.default')).to.equal(
      'Subnet macvlan is not in force: subnet macvlan cidr 10.0.0.0/99 is invalid',
    );
  });

  it('are not guessed at when a field is of the wrong type', async () => {
    const { objects, applied, written, configurer } = world();
    objects.put(subnetNamed('macvlan', { excludeIps: '10.0.0.1' }));
    await configurer.start();
    await until(() => written.length > 0);
    expect(applied).to.deep.equal([]);
    expect(written[0]?.message).to.equal('spec.excludeIps must be a list of texts, and is "10.0.0.1"');
  });

  it('retire their subnet when they go, once nothing of it is held', async () => {
    const { objects, deleted, answers, configurer } = world([inForce('macvlan')]);
    answers.refuse = new IpledgerError('SUBNET_IN_USE', '1 of its addresses is held');
    objects.put(subnetNamed('macvlan', {}, { deletionTimestamp: '2026-11-17T14:05:00Z' }));
    await configurer.start();
    expect(deleted).to.deep.equal(['macvlan']);
    delete answers.refuse;
    configurer.facts([{ kind: 'ended', seq: 7, subnet: 'macvlan', namespace: 'default', pod: 'a', uid: 'u' }]);
    await until(() => deleted.length === 2);
  });

  it('leave alone a subnet that an operator configured', async () => {
    const { deleted, subnets, configurer } = world([{ ...inForce('by-hand'), source: undefined }, inForce('orphan')]);
    await configurer.start();
    expect(deleted).to.deep.equal(['orphan']);
    expect(subnets.servingProvider('macvlan.default')).to.deep.equal(['by-hand']);
  });

  it('are tried again when the ledger does not answer', async () => {
    const { objects, applied, written, answers, configurer } = world();
    answers.refuse = new IpledgerError('UNAVAILABLE', 'gone away');
    objects.put(subnetNamed('macvlan'));
    await configurer.start();
    expect(written).to.deep.equal([]);
    delete answers.refuse;
    await until(() => written.length === 1);
    expect(applied).to.have.length(2);
  });

  it('serve in the order of their names, and not while they are being deleted', () => {
    const { objects, subnets } = world(['b', 'c', 'a'].map((name) => inForce(name)));
    for (const name of ['c', 'a']) objects.put(subnetNamed(name));
    objects.put(subnetNamed('b', {}, { deletionTimestamp: '2026-11-17T14:05:00Z' }));
    expect(subnets.servingProvider('macvlan.default')).to.deep.equal(['a', 'c']);
    expect(subnets.whyNotServing('b')).to.equal('Subnet b is being deleted');
  });
});
