import { expect } from 'chai';
import { pino } from 'pino';
import { IpledgerError } from '../../../lib/errors.ts';
import { fakeLedgerClient } from '../../../lib/ledger-client/testing/fake-ledger-client.ts';
import { FakeApi } from '../testing/fake-api.ts';
import { until } from '../testing/fakes.ts';
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import { asRecord, asText } from '../../../lib/kubernetes/untyped-json.ts';
import { storeCheckpoints } from './checkpoint-configmap.ts';

const path = '/api/v1/namespaces/kube-system/configmaps/ipledger-checkpoints';

/** A line of the log. */
interface Line {
  readonly checkpoint: string;
}

describe('ConfigMap of checkpoints', () => {
  let api: FakeApi;
  let stop: AbortController;
  /** The event number that the allocator signs next. */
  let seq: number;
  let day: number;
  let requests: number;
  /** The checkpoints that were reported as missing. */
  let errors: string[];
  beforeEach(() => {
    api = new FakeApi();
    stop = new AbortController();
    [seq, day, requests] = [0, 1, 0];
    errors = [];
  });
  afterEach(() => stop.abort());

  const noteOf = (of: number): string =>
    `ipledger/L\n${of}\nhash\nepoch 1\ntime 2026-01-${String(day).padStart(2, '0')}T08:00:00.000Z\n\n— k sig\n`;
  const keep = (refusal?: () => IpledgerError | undefined): void =>
    void storeCheckpoints({
      api,
      namespace: 'kube-system',
      intervalMs: 1,
      allocator: fakeLedgerClient({
        checkpoint: () => {
          requests++;
          const error = refusal?.();
          if (error) throw error;
          return { position: { epoch: 1, seq, hash: '' }, note: noteOf(seq), verifierKey: 'k+id+key' };
        },
      }),
      log: pino({ level: 'error' }, { write: (line) => void errors.push((JSON.parse(line) as Line).checkpoint) }),
      signal: stop.signal,
    });
  const entries = () => asRecord(api.objects.get(path)?.['data']);
  const settled = async (of: number): Promise<void> => {
    seq = of;
    await until(() => entries()[String(of).padStart(16, '0')] !== undefined);
  };

  it('ConfigMap of checkpoints is created with the first checkpoint, and gets each new checkpoint', async () => {
    seq = 3;
    keep();
    await settled(3);
    await settled(7);
    expect(entries()).to.deep.equal({ '0000000000000003': noteOf(3), '0000000000000007': noteOf(7) });
    const annotations = asRecord(asRecord(api.objects.get(path)?.metadata)['annotations']);
    expect(annotations).to.deep.equal({ 'ipledger.io/verifier-key': 'k+id+key' });
  });

  it('ConfigMap of checkpoints is not written while the ledger is unchanged', async () => {
    keep();
    await settled(3);
    const { length } = api.writes;
    const before = requests;
    await until(() => requests > before + 5);
    expect(api.writes).to.have.length(length);
  });

  it('ConfigMap of checkpoints without the last checkpoint, which another program removed or changed, is logged and continued', async () => {
    keep();
    await settled(3);
    for (const data of [{}, { '0000000000000007': 'another note' }]) {
      await settled(7);
      expect(errors).to.deep.equal([]);
      api.put(path, { metadata: { name: 'ipledger-checkpoints' }, data });
      await until(() => errors.length > 0);
      expect(errors.splice(0)).to.deep.equal(['0000000000000007']);
      await until(() => entries()['0000000000000007'] === noteOf(7));
    }
    api.objects.delete(path);
    await until(() => errors.length > 0);
    await settled(9);
    expect(Object.keys(entries())).to.include('0000000000000009');
  });

  it('ConfigMap of checkpoints keeps the latest checkpoints, and the last checkpoint of each earlier day', async () => {
    const notes = Array.from({ length: 120 }, (_, index) => {
      day = index < 60 ? 1 : 2;
      return [String(index + 1).padStart(16, '0'), noteOf(index + 1)] as const;
    });
    api.put(path, { metadata: { name: 'ipledger-checkpoints' }, data: Object.fromEntries(notes) });
    [day, seq] = [3, 121];
    keep();
    await settled(121);
    const kept = Object.keys(entries()).map(Number);
    expect(kept).to.have.length(100);
    expect(kept.slice(-1)).to.deep.equal([121]);
    expect(kept[0]).to.equal(22);

    day = 4;
    for (let each = 122; each <= 170; each++) await settled(each);
    expect(Object.keys(entries()).map(Number).slice(0, 3)).to.deep.equal([60, 71, 72]);
    expect(asText(Object.values(entries())[0])).to.contain('2026-01-01');
  });

  it('ConfigMap of checkpoints is written after failures of the allocator and of the API server', async () => {
    let refused = 3;
    keep(() => (refused-- > 0 ? new IpledgerError('NO_CHECKPOINT_KEY', 'no key') : undefined));
    let failures = 3;
    api.failRequest = () => (failures-- > 0 ? new ApiError(500, 'etcd is unavailable') : undefined);
    await settled(3);
    expect(requests).to.be.at.least(6);
  });
});
