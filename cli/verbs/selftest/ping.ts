/** Pings an address from a Pod, by exec through the Kubernetes API. */
import { Writable } from 'node:stream';
import type { KubeConfig, V1Status } from '@kubernetes/client-node';
import { messageOf } from '../../clients/port-forward.ts';
import { rejectWhenAborted, timeoutSignal } from '../../../lib/process/abortable.ts';

const timeoutMs = 15_000;
const outputMaxBytes = 4_096;

export interface PingTarget {
  readonly namespace: string;
  readonly pod: string;
  readonly address: string;
}

export interface PingResult {
  readonly result: 'answers' | 'silent' | 'not possible';
  readonly detail: string;
}

/**
 * Exit status 1 is that of a ping without an answer. iputils ends with 2 for a network without a
 * route, and also for what it cannot do.
 */
export function judgePing({ status, message = '' }: V1Status, output: string): PingResult {
  if (status === 'Success') return { result: 'answers', detail: '' };
  if (/exit code 1\b/.test(message) || /unreachable|no route/i.test(output))
    return { result: 'silent', detail: output.trim().split('\n').at(-1) ?? '' };
  return { result: 'not possible', detail: `${message} ${output}`.trim().replaceAll(/\s+/g, ' ').slice(0, 200) };
}

/** A ping is not possible without the program in the image, or the right to exec. */
export async function ping(
  config: KubeConfig,
  { namespace, pod, address }: PingTarget,
  signal: AbortSignal,
): Promise<PingResult> {
  const { Exec } = await import('@kubernetes/client-node');
  let output = '';
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      output = `${output}${chunk.toString()}`.slice(-outputMaxBytes);
      done();
    },
  });
  const deadline = timeoutSignal(timeoutMs, signal);
  const exec = async (): Promise<V1Status> => {
    const { promise, resolve, reject } = Promise.withResolvers<V1Status>();
    const command = ['ping', '-c', '1', '-W', '3', address];
    // The package has no types of its WebSocket
    const opened: unknown = await new Exec(config).exec(
      namespace,
      pod,
      'box',
      command,
      sink,
      sink,
      null,
      false,
      resolve,
    );
    const connection = opened as { addEventListener(name: 'error', listener: (event: unknown) => void): void };
    connection.addEventListener('error', (event) => reject(new Error(messageOf(event))));
    return promise;
  };
  try {
    return judgePing(await rejectWhenAborted(exec(), deadline), output);
  } catch (error) {
    const detail = deadline.aborted ? `no result within ${timeoutMs / 1_000} s` : messageOf(error);
    return { result: 'not possible', detail };
  }
}
