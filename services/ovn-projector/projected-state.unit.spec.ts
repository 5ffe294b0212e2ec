import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { pino } from 'pino';
import { decode, encode, type MessageInput } from '../../proto/codec.ts';
import type { Event } from '../../proto/generated/ipledger.ts';
import { OtherLedger, ProjectedState } from './projected-state.ts';
import { MemoryApi } from './testing/memory-api.ts';
import { testLedger } from './testing/row-inputs.ts';

const subnets = '/apis/kubeovn.io/v1/subnets';
const pods = '/api/v1/pods';
const port = 'a.default.net.default.ovn';

const event = (seq: number, fields: MessageInput<Event>): Event =>
  decode('Event', encode('Event', { seq, subnet: 'lan', ...fields })) as Event;
const allocated = (seq: number): Event =>
  event(seq, {
    addressAllocated: {
      attachment: { namespace: 'default', pod: 'a', provider: 'net.default.ovn', ordinal: 0 },
      uid: 'uid-a',
      addresses: [{ address: '10.8.0.2', cidr: '10.8.0.0/24', gateway: '10.8.0.1' }],
      mac: '0a:00:00:00:00:02',
    },
  });
const position = (seq: number) => ({ epoch: 1, seq, hash: '' });
const reply = (seq: number, ...events: Event[]) => ({ position: position(seq), events });
/** Makes a snapshot of an empty ledger with these positions of its first and last page. */
const snapshot = (first = 10, lastSeq = first, ledger = testLedger) => ({
  subnets: [],
  allocations: [],
  ledger,
  first: position(first),
  lastSeq,
});

describe('The projected state', () => {
  let api: MemoryApi;
  let state: ProjectedState;
  let stop: AbortController;
  let changes: string[];

  beforeEach(() => {
    api = new MemoryApi();
    stop = new AbortController();
    changes = [];
    state = new ProjectedState(api, pino({ level: 'silent' }));
    state.subscribe(
      ({ isAll, hasSubnets, ports }) =>
        void changes.push([isAll ? 'all' : '', hasSubnets ? 'subnets' : '', ...ports].filter(Boolean).join(' ')),
      () => undefined,
    );
  });
  afterEach(() => stop.abort());

  /** Starts with an empty ledger at event 10. */
  async function start(): Promise<void> {
    state.watch(stop.signal);
    state.onSnapshot(snapshot());
    state.onReply(reply(10));
    await state.complete;
    // Lets the informers list, and then start to watch.
    for (let turn = 0; turn < 5; turn++) await setImmediate();
    changes = [];
  }
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn++) await setImmediate();
  };
  const putSubnet = (spec: object, status: object = {}): void =>
    api.put(subnets, { metadata: { name: 'lan' }, spec, status } as Parameters<MemoryApi['put']>[1]);

  it('The projected state is complete when the objects are listed and the ledger is at one position', async () => {
    let isComplete = false;
    void state.complete.then(() => (isComplete = true));
    state.onSnapshot(snapshot(10, 12));
    state.onReply(reply(10));
    state.watch(stop.signal);
    await settle();
    expect(isComplete).to.equal(false);
    expect(state.position).to.equal(undefined);
    state.onReply(reply(11));
    expect(state.position).to.equal(undefined);
    state.onReply(reply(12));
    expect(await state.complete).to.equal(testLedger);
    expect(changes).to.deep.equal(['all']);
  });

  it('The projected state reports the ports of all events of a reply together, with the position after the reply', async () => {
    await start();
    state.onReply(reply(12, allocated(11), allocated(12)));
    expect(changes).to.deep.equal([port]);
    expect(state.position).to.include({ seq: 12 });
    expect(state.inputs.allocations.get(port)).to.include({ pod: 'a' });
  });

  it('The projected state reports nothing while the pages of a new snapshot have different positions', async () => {
    await start();
    state.onSnapshot(snapshot(10, 12));
    state.onReply(reply(11, allocated(11)));
    await settle();
    expect(changes).to.deep.equal([]);
    expect(state.position).to.equal(undefined);
    state.onReply(reply(12));
    expect(changes).to.deep.equal([`all ${port}`]);
  });

  it('The projected state rejects a snapshot of another ledger than before', async () => {
    await start();
    expect(() => state.onSnapshot(snapshot(1, 1, '02LEDGER'))).to.throw(OtherLedger, 'serves ledger 02LEDGER');
  });

  it('The projected state reports a change of the settings of a Subnet, and none of its status', async () => {
    await start();
    putSubnet({ vlan: 'v' });
    await settle();
    putSubnet({ vlan: 'v' }, { v4usingIPs: 1 });
    await settle();
    expect(changes).to.deep.equal(['subnets']);
    putSubnet({ vlan: 'w' });
    await settle();
    expect(changes).to.deep.equal(['subnets', 'subnets']);
    expect(state.inputs.settings.get('lan')).to.include({ vlan: 'w' });
  });

  it('The projected state reports the ports of a Pod whose port security changes', async () => {
    await start();
    state.onReply(reply(11, allocated(11)));
    changes = [];
    const annotations = { 'net.default.ovn.kubernetes.io/port_security': 'true' };
    api.put(pods, { metadata: { name: 'a', namespace: 'default', annotations } });
    api.put(pods, { metadata: { name: 'b', namespace: 'default', annotations } });
    await settle();
    expect(changes).to.deep.equal([port]);
    const allocation = state.inputs.allocations.get(port);
    expect(allocation && state.inputs.isSecured(allocation)).to.equal(true);
  });
});
