import { expect } from 'chai';
import { IpledgerError } from '../../lib/errors.ts';
import type { CallContext } from '../../lib/grpc/server/serve.ts';
import { decode, encode, type MessageInput } from '../../proto/codec.ts';
import type { HistoryReply, HistoryRequest } from '../../proto/generated/ipledger.ts';
import { ledgerHandlers, type LedgerQueries } from './ledger-service.ts';
import { fakeEvent, hourInstant, podLifeEvents, fakePosition, temporaryFile } from './testing/fake-events.ts';
import { ReadModel } from './read-model.ts';

const context: CallContext = { actor: 'anonymous', signal: new AbortController().signal };

describe('A read model that begins in the middle of a ledger', () => {
  let place: ReturnType<typeof temporaryFile>;
  let model: ReadModel;
  beforeEach(() => {
    place = temporaryFile();
    model = new ReadModel(place.file);
    model.append([...podLifeEvents(900), fakeEvent(904), fakeEvent(905)], fakePosition(905));
    model.recordLedgerHead(905);
  });
  afterEach(() => {
    model.close();
    place.remove();
  });

  const ledger: LedgerQueries = {
    listPodAllocations: () => Promise.reject(new Error('not called')),
    readHead: () => Promise.resolve(fakePosition(905)),
    maxWaitMs: 1,
  };

  async function history(
    request: MessageInput<HistoryRequest>,
    more: Partial<LedgerQueries> = {},
  ): Promise<HistoryReply> {
    const handlers = ledgerHandlers(model, { ...ledger, ...more });
    const complete = decode('HistoryRequest', encode('HistoryRequest', request)) as HistoryRequest;
    const reply = (await handlers.history?.(complete, context)) ?? {};
    return decode('HistoryReply', encode('HistoryReply', reply)) as HistoryReply;
  }
  const seqs = ({ events }: HistoryReply): number[] => events.map(({ seq }) => seq);
  const refused = (request: MessageInput<HistoryRequest>, more: Partial<LedgerQueries> = {}): Promise<unknown> =>
    history(request, more).catch((error: unknown) => error);

  it('a read model that begins late returns its events, and then an error for older events', async () => {
    const reply = await history({ namespace: 'default', pod: 'web' });
    expect(seqs(reply)).to.deep.equal([903, 902, 901, 900]);
    const error = await refused({ namespace: 'default', pod: 'web', pageToken: reply.nextPageToken });
    expect(error).to.be.instanceOf(IpledgerError).and.to.include({
      code: 'POSITION_GONE',
      message: 'the read model begins with event 900 and does not contain event 899: call an allocator',
    });
    expect(await refused({ until: hourInstant(899) })).to.include({ code: 'POSITION_GONE' });
  });

  it('A read model that begins in the middle of a ledger ends a search when the caller has gone', async () => {
    const gone = AbortSignal.abort(new Error('gone'));
    const error = await ledgerHandlers(model, ledger)
      .history?.(decode('HistoryRequest', encode('HistoryRequest', {})) as HistoryRequest, { ...context, signal: gone })
      .catch((thrown: unknown) => thrown);
    expect(error).to.have.property('message', 'gone');
  });

  it('A read model that begins in the middle of a ledger answers nothing while it lacks events of the ledger, although its stream reports no error', async () => {
    const readHead = () => Promise.resolve(fakePosition(906));
    const error = await refused({}, { readHead });
    expect(error).to.include({ code: 'UNAVAILABLE' });
    expect(error)
      .to.have.property('message')
      .that.matches(/^the read model has read the events up to 905, and event 906 /);
    const waiting = history({ subnet: 'lan' }, { readHead, maxWaitMs: 60_000 });
    await new Promise(setImmediate);
    model.append([fakeEvent(906)], fakePosition(906));
    expect(seqs(await waiting)[0]).to.equal(906);
  });

  it('a read model answers nothing for another ledger, and while no allocator answers', async () => {
    const other = await refused({}, { readHead: () => Promise.resolve({ ...fakePosition(903), hash: 'other' }) });
    expect(other).to.include({ code: 'UNAVAILABLE' }).and.property('message').to.contain('is not that of the ledger');
    const away = () => Promise.reject(new IpledgerError('UNAVAILABLE', 'no allocator answers'));
    expect(await refused({}, { readHead: away })).to.include({
      code: 'UNAVAILABLE',
      message: 'the read model cannot compare its events with the ledger: no allocator answers',
    });
    expect(seqs(await history({}, { readHead: () => Promise.resolve(fakePosition(903)) }))[0]).to.equal(905);
  });

  it('a read model is complete for a period after its first event', async () => {
    const reply = await history({ since: hourInstant(901) });
    expect(seqs(reply)).to.deep.equal([905, 904, 903, 902, 901]);
    expect(reply.nextPageToken).to.equal('');
  });
});
