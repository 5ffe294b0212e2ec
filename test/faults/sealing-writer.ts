/**
 * A writer that seals one segment and, asked to, dies at a step of it as by a power cut: a program of its own, for
 * sealing.spec.ts. Arguments: etcd's endpoint, the archive's folder, the last event to seal, and the step.
 */
import { pino } from 'pino';
import { monotonicFactory } from 'ulid';
import { ArchivedLedger } from '../../services/allocator/archive/archived-ledger.ts';
import { FolderArchive } from '../../services/allocator/archive/folder.ts';
import { prune, seal, type Sealing } from '../../services/allocator/archive/seal.ts';
import { EtcdLedger } from '../../services/allocator/ledger/etcd.ts';
import { connectEtcd } from '../../services/allocator/ledger/etcd-client.ts';
import { Replica } from '../../services/allocator/ledger/replica.ts';
import { Writer } from '../../services/allocator/ledger/writer.ts';

const [endpoint = '', folder = '', to = '', deathStep = ''] = process.argv.slice(2);
const die = (): boolean => process.kill(process.pid, 'SIGKILL');

const client = connectEtcd([endpoint]);
const archive = new FolderArchive(folder);
const ledger = new ArchivedLedger(new EtcdLedger(client), archive);
const working = new AbortController();
const replica = await Replica.load(ledger, working.signal);
const newId = monotonicFactory();
const writer = new Writer({ replica, newId, term: undefined, eventVersion: () => 4, log: pino({ level: 'silent' }) });
const ended = writer.run(working.signal);

const seen = new Map<string, number>();
const sealing: Sealing = {
  ledger,
  archive,
  submit: async (segment) => {
    const sealed = writer.submit({
      command: (now) => ({ type: 'SealSegment', now, segment }),
      answer: () => undefined,
      actor: 'sealing-writer',
      signal: working.signal,
    });
    // On its way, and perhaps there.
    if (deathStep === 'appending') setTimeout(die, 1);
    await sealed;
  },
  after: (step) => {
    const times = (seen.get(step) ?? 0) + 1;
    seen.set(step, times);
    if (deathStep === step || deathStep === `${step} ${times}`) die();
  },
};

await prune(sealing, working.signal);
seen.clear();
if (replica.head.seq >= Number(to) && (await ledger.floor(working.signal)) <= Number(to))
  await seal(sealing, Number(to), working.signal);
working.abort();
await ended;
client.close();
