import { expect } from 'chai';
import { IpledgerError } from '../../lib/errors.ts';
import type { CallContext } from '../../lib/grpc/server/serve.ts';
import { decode, encode, type MessageInput } from '../../proto/codec.ts';
import type { HistoryReply, HistoryRequest } from '../../proto/generated/ipledger.ts';
import { ledgerHandlers } from './ledger-service.ts';
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

  async function history(request: MessageInput<HistoryRequest>): Promise<HistoryReply> {
    const handlers = ledgerHandlers(model, () => Promise.reject(new Error('not called')));
    const complete = decode('HistoryRequest', encode('HistoryRequest', request)) as HistoryRequest;
    const reply = (await handlers.history?.(complete, context)) ?? {};
    return decode('HistoryReply', encode('HistoryReply', reply)) as HistoryReply;
  }
  const seqs = ({ events }: HistoryReply): number[] => events.map(({ seq }) => seq);
  const refused = (request: MessageInput<HistoryRequest>): Promise<unknown> =>
    history(request).catch((error: unknown) => error);

  it('returns its events, and then an error for older ones', async () => {
    const reply = await history({ namespace: 'default', pod: 'web' });
    expect(seqs(reply)).to.deep.equal([903, 902, 901, 900]);
    const error = await refused({ namespace: 'default', pod: 'web', pageToken: reply.nextPageToken });
    expect(error).to.be.instanceOf(IpledgerError).and.to.include({
      code: 'POSITION_GONE',
      message: 'the read model begins with event 900 and does not contain event 899: call an allocator',
    });
    expect(await refused({ until: hourInstant(899) })).to.include({ code: 'POSITION_GONE' });
  });

  it('is complete for a period after its first event', async () => {
    const reply = await history({ since: hourInstant(901) });
    expect(seqs(reply)).to.deep.equal([905, 904, 903, 902, 901]);
    expect(reply.nextPageToken).to.equal('');
  });
});
