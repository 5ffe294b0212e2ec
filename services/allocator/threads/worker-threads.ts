/**
 * Runs each task in its own thread, with its own connection to etcd. Its memory is returned when it
 * ends, a cancelled task ends at once, and a thread that runs out of memory ends only its own task.
 */
import { constants, getPriority, setPriority, totalmem } from 'node:os';
import { type MessagePort, parentPort, Worker, workerData } from 'node:worker_threads';
import { errorMessage, IpledgerError } from '../../../lib/errors.ts';
import { createLogger, type Logger } from '../../../lib/process/log.ts';
import { openArchived } from '../../../ledger/archive/open-archive.ts';
import { etcdAccessFromEnvironment } from '../../../ledger/log/store/etcd-access.ts';
import { connectEtcd } from '../../../ledger/log/store/etcd-client.ts';
import { EtcdLedger } from '../../../ledger/log/store/etcd-ledger.ts';
import { receiveReplies, sendReplies, type Task, type TaskRunner, type TaskTools } from './task.ts';

/** A third of the weight of the thread that answers calls, when both need the CPU. */
const niceness = 5;
/**
 * The share of the memory (of the container or machine) for one thread. At most three run beside
 * the thread that answers calls.
 */
const heapPart = 1 / 4;
const heapBounds = { leastMb: 128, mostMb: 4_096 };

/** How a thread reaches the ledger. It shares the environment, which contains the credentials. */
interface ThreadSettings {
  readonly etcd: string;
  /** The location of the archive; '' for none. */
  readonly archive: string;
  /** The limit of an archive in etcd. */
  readonly archiveMaxBytes: number;
}

interface ThreadData extends ThreadSettings {
  readonly task: string;
  readonly request: unknown;
}

export interface WorkerThreadsOptions extends ThreadSettings {
  /** The file of a program that calls `runTaskOfThread` in a thread. */
  readonly program: string;
  readonly log: Logger;
  /** Called when a thread has ended before its task. */
  readonly onCrash: (task: string) => void;
  /** Set by specs only. */
  readonly heapMb?: number;
}

/** The limit at which a thread ends, before the kernel ends the process. */
function heapLimitMb(): number {
  const memoryBytes = Math.min(process.constrainedMemory() || Infinity, totalmem());
  const { leastMb, mostMb } = heapBounds;
  return Math.min(mostMb, Math.max(leastMb, Math.floor((memoryBytes * heapPart) / 2 ** 20)));
}

export class WorkerThreads implements TaskRunner {
  readonly #options: WorkerThreadsOptions;

  constructor(options: WorkerThreadsOptions) {
    this.#options = options;
  }

  async *run<Request, Reply>(
    { name }: Task<Request, Reply>,
    request: Request,
    signal: AbortSignal,
  ): AsyncGenerator<Reply> {
    signal.throwIfAborted();
    const { program, etcd, archive, archiveMaxBytes, log, onCrash, heapMb = heapLimitMb() } = this.#options;
    const data: ThreadData = { etcd, archive, archiveMaxBytes, task: name, request };
    const worker = new Worker(program, { workerData: data, resourceLimits: { maxOldGenerationSizeMb: heapMb } });
    const failed = new Promise<never>((_, reject) => {
      worker.once('error', reject);
      worker.once('exit', (status) => reject(new Error(`it ended with status ${status}`)));
    });
    failed.catch(() => undefined); // the iteration throws the error
    try {
      yield* receiveReplies<Reply>(worker, failed, signal);
    } catch (error) {
      if (error instanceof IpledgerError || signal.aborted) throw error;
      const reason = errorMessage(error);
      log.error({ task: name, reason }, 'a thread ended before its task');
      onCrash(name);
      throw new IpledgerError('UNAVAILABLE', `the thread of this request ended: ${reason}. Try again later`, {
        cause: error,
      });
    } finally {
      await worker.terminate();
    }
  }
}

/** Runs the task of this thread. Called by the program of a thread. */
export async function runTaskOfThread(tasks: readonly Task<never, unknown>[]): Promise<void> {
  // On Linux this sets the priority of only this thread: the thread that answers calls comes first.
  // Adds to the niceness that the process was started with, because only root may lower it.
  if (process.platform === 'linux') setPriority(Math.min(getPriority() + niceness, constants.priority.PRIORITY_LOW));
  const data = workerData as ThreadData;
  const task = tasks.find(({ name }) => name === data.task);
  if (!task) throw new Error(`there is no task ${data.task}`);
  const tools = openTools(data);
  const signal = new AbortController().signal; // never aborted: the thread is terminated instead
  await sendReplies(parentPort as MessagePort, task, { tools, request: data.request as never, signal });
}

function openTools({ etcd, archive: location, archiveMaxBytes: maxBytes }: ThreadSettings): TaskTools {
  const client = connectEtcd(etcd.split(','), etcdAccessFromEnvironment(process.env, createLogger('allocator-thread')));
  const live = new EtcdLedger(client);
  const archived = openArchived(live, location, process.env, { client, maxBytes });
  return { ledger: archived?.ledger ?? live, archived };
}
