import { expect } from 'chai';
import { IpledgerError } from '../../lib/errors.ts';
import type { CallContext } from '../../lib/serving/serve.ts';
import { decode, encode, type Input } from '../../proto/codec.ts';
import type { HistoryReply, HistoryRequest } from '../../proto/ipledger.ts';
import { answersOf } from './answers.ts';
import { event, hour, life, position, temporaryFile } from './fakes.ts';
import { Model } from './model.ts';

const context: CallContext = { actor: 'anonymous', signal: new AbortController().signal };

describe('A read model that begins in the middle of a ledger', () => {
  let place: ReturnType<typeof temporaryFile>;
  let model: Model;
  beforeEach(() => {
    place = temporaryFile();
    model = new Model(place.file);
    model.append([...life(900), event(904), event(905)], position(905));
    model.hear(905);
  });
  afterEach(() => {
    model.close();
    place.remove();
  });

  async function history(request: Input<HistoryRequest>): Promise<HistoryReply> {
    const answers = answersOf(model, () => Promise.reject(new Error('nobody asks')));
    const whole = decode('HistoryRequest', encode('HistoryRequest', request)) as HistoryRequest;
    const reply = (await answers.history?.(whole, context)) ?? {};
    return decode('HistoryReply', encode('HistoryReply', reply)) as HistoryReply;
  }
  const seqs = ({ events }: HistoryReply): number[] => events.map(({ seq }) => seq);
  const refused = (request: Input<HistoryRequest>): Promise<unknown> =>
    history(request).catch((error: unknown) => error);

  it('tells what it knows, and then that there was more', async () => {
    const reply = await history({ namespace: 'default', pod: 'web' });
    expect(seqs(reply)).to.deep.equal([903, 902, 901, 900]);
    const error = await refused({ namespace: 'default', pod: 'web', pageToken: reply.nextPageToken });
    expect(error).to.be.instanceOf(IpledgerError).and.to.include({
      code: 'POSITION_GONE',
      message: 'the read model begins with event 900 and does not know event 899: ask an allocator',
    });
    expect(await refused({ until: hour(899) })).to.include({ code: 'POSITION_GONE' });
  });

  it('is complete about a time that it knows the beginning of', async () => {
    const reply = await history({ since: hour(901) });
    expect(seqs(reply)).to.deep.equal([905, 904, 903, 902, 901]);
    expect(reply.nextPageToken).to.equal('');
  });
});
