/**
 * The text of a CNI error: what failed, why, what to do, each once. Kubelet logs it and puts it into an Event at each retry, so it is
 * bounded. Pure.
 */
import { IpledgerError } from '../../lib/errors.ts';

/** With the 34 bytes that the plugin puts before it ("RPC failed; request ip return 500 ") a CNI error has at most 512. */
export const maxErrorBytes = 478;

/** The attachment for which an ADD asks. */
export interface Subject {
  readonly podNamespace: string;
  readonly podName: string;
  readonly provider: string;
}

const maxSubjectBytes = 150;
/** A longer name is left out of the command: a command that is cut off in the middle misleads. */
const maxCommandNameBytes = 120;

/** The beginning of a text that fits into so many bytes of UTF-8; it ends in "…" where some is left out. */
export function clip(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes - Buffer.byteLength('…');
  // A byte 10xxxxxx continues a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return `${bytes.toString('utf8', 0, end)}…`;
}

/**
 * The error of an ADD for which there is no allocation. It begins with Kube-OVN's words, which people search for.
 * @param error what the allocator answered
 * @param told the message of pod-watcher's latest Warning Event about the Pod; '' for none. Where pod-watcher has requested
 * nothing, that is the cause: the CNI error and the Event name the same one.
 */
export function notAllocated(subject: Subject, error: IpledgerError, told: string): IpledgerError {
  if (error.kind === 'invalid' || error.code === 'CANCELLED') return error;
  const { podNamespace, podName, provider } = subject;
  const pod = `${podNamespace}/${podName}`;
  const code = error.code === 'PROVIDER_UNBOUND' && provider === 'ovn' ? 'NOT_ALLOCATED' : error.code;
  const cause = causeOf(error, told);
  const named = `no address allocated to pod ${pod} provider ${provider}`;
  // Kube-OVN's sentence about a provider without Subnet names the provider itself.
  const isWhole = cause.includes(`provider ${provider} is not bound to any subnet`);
  const what = isWhole ? '' : `${clip(named, maxSubjectBytes)}${isUnknown(error, told) ? seeLogs : ''}: `;
  const command = `. Run: kubectl ipledger why ${Buffer.byteLength(pod) > maxCommandNameBytes ? 'NAMESPACE/POD' : pod} (or kubectl describe pod)`;
  const left = maxErrorBytes - Buffer.byteLength(what) - Buffer.byteLength(command);
  return new IpledgerError(code, `${what}${clip(cause.replace(/[.;]$/, ''), left)}${command}`, { cause: error });
}

/** Kube-OVN's own advice, verbatim: alerts match it. Given only where there is none better. */
const seeLogs = ', please see kube-ovn-controller logs to find errors (ipledger: the logs of pod-watcher)';

const isUnknown = ({ code }: IpledgerError, told: string): boolean => code === 'NOT_REQUESTED' && told === '';

function causeOf({ kind, code, message }: IpledgerError, told: string): string {
  if (kind === 'transient') return `the allocator cannot be reached: ${message}`;
  const isWatchers = code === 'NOT_REQUESTED' || code === 'PROVIDER_UNBOUND';
  if (isWatchers && told !== '') return told.replace(/^stage=.*? error=/, '');
  return code === 'PROVIDER_UNBOUND' ? `${message}: create a Subnet with that spec.provider` : message;
}
