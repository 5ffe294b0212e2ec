import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { pino } from 'pino';
import { ReadModel } from './read-model.ts';
import { chained, positionAfter } from './testing/chained-events.ts';
import { podLifeEvents, temporaryFile } from './testing/fake-events.ts';
import { verifyOnce } from './verify-forever.ts';

describe('verifyOnce', () => {
  let place: ReturnType<typeof temporaryFile>;
  beforeEach(() => (place = temporaryFile()));
  afterEach(() => place.remove());

  const events = chained(podLifeEvents(1));
  const log = pino({ level: 'silent' });

  /** Opens a model that is up to date, on a file that was changed while it was stopped. */
  function openChanged(change: string): ReadModel {
    const writer = new ReadModel(place.file);
    writer.append(events, positionAfter(events));
    writer.close();
    const database = new DatabaseSync(place.file);
    database.exec(change);
    database.close();
    const model = new ReadModel(place.file);
    model.recordLedgerHead(4);
    return model;
  }

  it('verifyOnce reports a damaged file, so that the model rejects queries', async () => {
    const model = openChanged("UPDATE pods SET name = 'other'");
    const options = { model, scratchFile: `${place.file}-verification`, log, signal: new AbortController().signal };
    expect(await verifyOnce(options, 0)).to.equal(false);
    expect(model.damage).to.equal('the index differs from the events 1 to 4');
    expect(model.notReadyReason).to.match(/^the read model is rebuilding its file/);
    model.close();
  });

  it('verifyOnce reports nothing for a correct file', async () => {
    const model = openChanged('PRAGMA optimize');
    const options = { model, scratchFile: `${place.file}-verification`, log, signal: new AbortController().signal };
    expect(await verifyOnce(options, 0)).to.equal(true);
    expect(model.notReadyReason).to.equal(undefined);
    model.close();
  });
});
