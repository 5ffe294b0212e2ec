/**
 * The text of a CNI error: what failed, why, what to do. Kubelet logs it and puts it into an Event
 * at each retry, so its length is limited. Pure.
 */
import { cutMiddle, truncateUtf8 } from '../../../lib/cut-middle.ts';
import { IpledgerError } from '../../../lib/errors.ts';

/** The plugin adds 34 bytes ("RPC failed; request ip return 500 "); a CNI error has 512. */
export const maxErrorBytes = 478;

/** The attachment whose ADD failed. */
export interface ErrorSubject {
  readonly podNamespace: string;
  readonly podName: string;
  readonly provider: string;
}

const maxSubjectBytes = 150;
/** Omits a longer name from the command, because a truncated command misleads. */
const maxCommandNameBytes = 120;

/**
 * Makes the error of an ADD without a bound allocation. It begins with Kube-OVN's words, for which
 * users search.
 * @param error the allocator's error
 * @param podWarning the message of pod-watcher's latest Warning Event about the Pod; '' if there is
 * none. It is the cause if pod-watcher requested no address, or if its request was refused: the log
 * has each refusal once, so the allocator's own error may be older. So CNI error and Event agree.
 */
export function notAllocatedError(attachment: ErrorSubject, error: IpledgerError, podWarning: string): IpledgerError {
  if (error.kind === 'invalid' || error.code === 'CANCELLED') return error;
  const { podNamespace, podName, provider } = attachment;
  const pod = `${podNamespace}/${podName}`;
  const code = error.code === 'PROVIDER_UNBOUND' && provider === 'ovn' ? 'NOT_ALLOCATED' : error.code;
  const cause = causeOf(error, podWarning);
  const subject = `pod ${pod} provider ${provider}`;
  // Does not deny the address: only a Bind is refused with this code, so the Pod has an address.
  const failure =
    error.code === 'ADDRESS_ANSWERING'
      ? `the address of ${subject} cannot be used on this node`
      : `no address allocated to ${subject}`;
  // Omits the provider if the cause is Kube-OVN's sentence, which names it.
  const namesProvider = cause.includes(`provider ${provider} is not bound to any subnet`);
  const advice = hasKnownCause(error, podWarning) ? '' : seeLogs;
  const what = namesProvider ? '' : `${truncateUtf8(failure, maxSubjectBytes)}${advice}: `;
  const command = `. Run: kubectl ipledger why ${Buffer.byteLength(pod) > maxCommandNameBytes ? 'NAMESPACE/POD' : pod} (or kubectl describe pod)`;
  const maxCauseBytes = maxErrorBytes - Buffer.byteLength(what) - Buffer.byteLength(command);
  return new IpledgerError(code, `${what}${cutMiddle(cause.replace(/[.;]$/, ''), maxCauseBytes)}${command}`, {
    cause: error,
  });
}

/** The prefix of a reason for which a Pod has no address. */
const stage = /^stage=.*? error=/;

/** Whether the Pod's own request is wrong, so that only a change of the Pod helps. */
export const isFaultOfPod = (podWarning: string): boolean => podWarning.startsWith('stage=validatePodNetwork ');

/** Kube-OVN's own advice, verbatim, because alerts match it. Used only without a known cause. */
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
