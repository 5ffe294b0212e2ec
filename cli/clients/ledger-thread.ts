/**
 * Reads the keys of a ledger in etcd in a second thread: etcd's replies are decoded and the lines
 * of the log hashed there, while this thread verifies the pages before. This module is also the
 * program of that thread.
 */
import { isMainThread, MessageChannel, type MessagePort, parentPort, Worker, workerData } from 'node:worker_threads';
import { once } from 'node:events';
import { type ErrorCode, IpledgerError } from '../../lib/errors.ts';
import { hashOfLine } from '../../ledger/log/chain/chain.ts';
import { logPrefix } from '../../ledger/log/store/keys.ts';
import type { KeyPage, KeyRange, KeyReader, Revision } from '../../ledger/log/store/ledger.ts';
import { openEtcdLedger } from './etcd-ledger.ts';

/** The number of pages that are read ahead, so that neither thread waits: a few megabytes. */
const pagesAhead = 4;
const threadRole = 'ipledger-ledger-reader';

interface ThreadData {
  readonly role: typeof threadRole;
  readonly endpoints: string;
  readonly archive: string;
}

interface ReadRequest {
  readonly range: KeyRange;
  readonly revision: Revision | undefined;
  /** Receives the pages; a message from the other side requests one more. */
  readonly port: MessagePort;
}

type ReadReply =
  | { readonly page: PackedPage }
  | { readonly error: { readonly code: ErrorCode; readonly message: string } }
  | { readonly end: true };

/** A page as arrays, which are copied between threads faster than objects. */
interface PackedPage {
  readonly revision: Revision;
  readonly keys: readonly string[];
  readonly texts: readonly string[];
  /** The hashes of lines of the log; empty for other keys. */
  readonly hashes: readonly string[];
  readonly endState: KeyPage['endState'];
}

/** A reader with its thread. Dispose it to end the thread. */
export interface ThreadedReader extends Disposable {
  readonly reader: KeyReader;
}

/** Starts the thread. The first read throws the errors of `openEtcdLedger`. */
export function startLedgerThread(endpoints: string, archive = ''): ThreadedReader {
  const data: ThreadData = { role: threadRole, endpoints, archive };
  const worker = new Worker(import.meta.filename, { workerData: data });
  const failed = new Promise<never>((_, reject) => {
    worker.once('error', reject);
    worker.once('exit', () => reject(new IpledgerError('CANCELLED', 'the reading thread has ended')));
  });
  failed.catch(() => undefined); // the reads throw it
  return {
    reader: { keys: (range, signal, revision) => readPages(worker, failed, { range, revision }, signal) },
    [Symbol.dispose]: () => void worker.terminate(),
  };
}

async function* readPages(
  worker: Worker,
  failed: Promise<never>,
  request: Omit<ReadRequest, 'port'>,
  signal: AbortSignal,
): AsyncGenerator<KeyPage> {
  const { port1: port, port2 } = new MessageChannel();
  const replies: ReadReply[] = [];
  port.on('message', (reply: ReadReply) => void replies.push(reply));
  worker.postMessage({ ...request, port: port2 } satisfies ReadRequest, [port2]);
  try {
    for (;;) {
      const reply = replies.shift();
      if (reply === undefined) await Promise.race([once(port, 'message', { signal }), failed]);
      else if ('error' in reply) throw new IpledgerError(reply.error.code, reply.error.message);
      else if ('end' in reply) return;
      else {
        port.postMessage('next');
        yield unpack(reply.page);
      }
    }
  } finally {
    port.close();
  }
}

const unpack = ({ revision, keys, texts, hashes, endState }: PackedPage): KeyPage => ({
  revision,
  ...(endState && { endState }),
  keys: keys.map((key, index) => {
    const hash = hashes[index];
    return { key, text: texts[index] ?? '', ...(hash !== undefined && { hash }) };
  }),
});

function pack({ revision, keys, endState }: KeyPage): PackedPage {
  const isLog = keys[0]?.key.startsWith(logPrefix) ?? false;
  return {
    revision,
    endState,
    keys: keys.map(({ key }) => key),
    texts: keys.map(({ text }) => text),
    hashes: isLog ? keys.map(({ text }) => hashOfLine(text)) : [],
  };
}

/** Answers one read in the thread. It ends when the other side closes the port. */
async function answerRead(reader: KeyReader, { range, revision, port }: ReadRequest): Promise<void> {
  const closed = new AbortController();
  port.once('close', () => closed.abort());
  const flow = { credit: pagesAhead };
  port.on('message', () => void flow.credit++);
  const send = (reply: ReadReply): void => port.postMessage(reply);
  try {
    for await (const page of reader.keys(range, closed.signal, revision)) {
      send({ page: pack(page) });
      for (flow.credit--; flow.credit <= 0;) await once(port, 'message', { signal: closed.signal });
    }
    send({ end: true });
  } catch (error) {
    const { code, message } = IpledgerError.from(error);
    if (!closed.signal.aborted) send({ error: { code, message } });
  }
}

function runThread({ endpoints, archive }: ThreadData): void {
  const { ledger } = openEtcdLedger(endpoints, archive);
  parentPort?.on('message', (request: ReadRequest) => void answerRead(ledger, request));
}

const data = workerData as Partial<ThreadData> | undefined;
if (!isMainThread && data?.role === threadRole) runThread(data as ThreadData);
