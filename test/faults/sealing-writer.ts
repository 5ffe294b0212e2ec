/**
 * A program that seals one segment and kills itself at a step, as in a power cut; for
 * sealing.e2e.spec.ts. Arguments: the endpoint of etcd, the folder of the archive, the last event
 * to seal, and the step.
 */
import { pino } from 'pino';
import { monotonicFactory } from 'ulid';
import { ArchivedLedger } from '../../ledger/archive/archived-ledger.ts';
import { FolderArchive } from '../../ledger/archive/folder-archive.ts';
import { pruneSealed, sealOldestEvents, type SealingContext } from '../../ledger/archive/seal.ts';
import { EtcdLedger } from '../../ledger/log/store/etcd-ledger.ts';
import { connectEtcd } from '../../ledger/log/store/etcd-client.ts';
import { Replica } from '../../ledger/log/reader/replica.ts';
import { Writer } from '../../ledger/log/writer/writer.ts';

const [endpoint = '', folder = '', to = '', deathStep = ''] = process.argv.slice(2);
const die = (): boolean => process.kill(process.pid, 'SIGKILL');

const client = connectEtcd([endpoint]);
const archive = new FolderArchive(folder);
const ledger = new ArchivedLedger(new EtcdLedger(client), archive);
const working = new AbortController();
const replica = await Replica.load(ledger, working.signal);
const newId = monotonicFactory();
const writer = new Writer({ replica, newId, term: undefined, eventVersion: () => 7, log: pino({ level: 'silent' }) });
const ended = writer.run(working.signal);

const stepCounts = new Map<string, number>();
const sealing: SealingContext = {
  ledger,
  archive,
  canOmitEndState: () => deathStep !== 'state-written',
  submit: async (segment) => {
    const sealed = writer.submit({
      command: (now) => ({ type: 'SealSegment', now, segment }),
      answer: () => undefined,
      actor: 'sealing-writer',
      signal: working.signal,
    });
    // The event is sent at this time, and perhaps stored
    if (deathStep === 'appending') setTimeout(die, 1);
    await sealed;
  },
  after: (step) => {
    const times = (stepCounts.get(step) ?? 0) + 1;
    stepCounts.set(step, times);
    if (deathStep === step || deathStep === `${step} ${times}`) die();
  },
};

await pruneSealed(sealing, working.signal);
stepCounts.clear();
if (replica.head.seq >= Number(to) && (await ledger.logStart(working.signal)) <= Number(to))
  await sealOldestEvents(sealing, Number(to), working.signal);
working.abort();
await ended;
client.close();
