/**
 * The text of a CNI error: what failed, why, what to do. Kubelet logs it and puts it into an Event
 * at each retry, so its length is limited. Pure.
 */
import { cutMiddle, truncateUtf8 } from '../../../lib/cut-middle.ts';
import { IpledgerError } from '../../../lib/errors.ts';

/** The plugin adds 34 bytes ("RPC failed; request ip return 500 "); a CNI error has 512. */
export const maxErrorBytes = 478;

/** The attachment of an ADD. */
export interface ErrorSubject {
  readonly podNamespace: string;
  readonly podName: string;
  readonly provider: string;
}

const maxSubjectBytes = 150;
/** A longer name is omitted from the command, because a truncated command misleads. */
const maxCommandNameBytes = 120;

/**
 * Makes the error of an ADD without a bound allocation. It begins with Kube-OVN's words, which
 * people search for.
 * @param error the allocator's error
 * @param podWarning the message of pod-watcher's latest Warning Event about the Pod; '' for none.
 * It is the cause if pod-watcher requested no address, and if its request was refused: the log has
 * each refusal once, so that of the allocator may be older. CNI error and Event agree.
 */
export function notAllocatedError(attachment: ErrorSubject, error: IpledgerError, podWarning: string): IpledgerError {
  if (error.kind === 'invalid' || error.code === 'CANCELLED') return error;
  const { podNamespace, podName, provider } = attachment;
  const pod = `${podNamespace}/${podName}`;
  const code = error.code === 'PROVIDER_UNBOUND' && provider === 'ovn' ? 'NOT_ALLOCATED' : error.code;
  const cause = causeOf(error, podWarning);
  const subject = `pod ${pod} provider ${provider}`;
  // Only a Bind is refused with this code: the Pod has its address.
  const failure =
    error.code === 'ADDRESS_ANSWERING'
      ? `the address of ${subject} cannot be used on this node`
      : `no address allocated to ${subject}`;
  // Kube-OVN's sentence about a provider without Subnet already names the provider.
  const namesProvider = cause.includes(`provider ${provider} is not bound to any subnet`);
  const advice = hasKnownCause(error, podWarning) ? '' : seeLogs;
  const what = namesProvider ? '' : `${truncateUtf8(failure, maxSubjectBytes)}${advice}: `;
  const command = `. Run: kubectl ipledger why ${Buffer.byteLength(pod) > maxCommandNameBytes ? 'NAMESPACE/POD' : pod} (or kubectl describe pod)`;
  const maxCauseBytes = maxErrorBytes - Buffer.byteLength(what) - Buffer.byteLength(command);
  return new IpledgerError(code, `${what}${cutMiddle(cause.replace(/[.;]$/, ''), maxCauseBytes)}${command}`, {
    cause: error,
  });
}

/** The beginning of a reason for which a Pod has no address. */
const stage = /^stage=.*? error=/;

/** The Pod's own request is wrong: only a change of the Pod helps, and no wait. */
export const isFaultOfPod = (podWarning: string): boolean => podWarning.startsWith('stage=validatePodNetwork ');

/** Kube-OVN's own advice, verbatim, because alerts match it. Used only when no cause is known. */
const seeLogs = ', please see kube-ovn-controller logs to find errors (ipledger: the logs of pod-watcher)';

const hasKnownCause = ({ code }: IpledgerError, podWarning: string): boolean =>
  code !== 'NOT_REQUESTED' || podWarning !== '';

function causeOf({ kind, code, message }: IpledgerError, podWarning: string): string {
  if (code === 'LEDGER_NOT_WRITABLE') return message;
  if (code === 'UNAVAILABLE' || code === 'DEADLINE_PASSED') return `the allocator did not answer: ${message}`;
  if (kind === 'transient') return `the allocator rejected the request for now: ${message}`;
  const isNotRequested = code === 'NOT_REQUESTED' || code === 'PROVIDER_UNBOUND';
  const isNewer = isNotRequested ? podWarning !== '' : code === 'NOT_ALLOCATED' && stage.test(podWarning);
  if (isNewer) return podWarning.replace(stage, '');
  return code === 'PROVIDER_UNBOUND' ? `${message}: create a Subnet with that spec.provider` : message;
}
