/** How things are named to a person, wherever they are told. */
import type { Allocation, Attachment } from '../../proto/ipledger.ts';

/** "namespace/name" */
export const podKey = (pod: { readonly namespace: string; readonly name: string }): string =>
  `${pod.namespace}/${pod.name}`;

/** The Pod of an attachment, "namespace/name". */
export const podOf = (attachment: Attachment | undefined): string =>
  `${attachment?.namespace ?? ''}/${attachment?.pod ?? ''}`;

/** "10.0.0.2,fd00::2" */
export const addressesOf = ({ addresses }: Allocation): string => addresses.map(({ address }) => address).join(',');

/** A text as one argument of a shell's command. */
const quoted = (argument: string): string =>
  /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`;

/** A command that a person can run as it stands, and behind a # what to know about it. */
export const command = (words: readonly string[], hint: string): string => `${words.map(quoted).join(' ')}  # ${hint}`;

const watcher = ['kubectl', 'rollout', 'restart', '-n', 'kube-system', 'deployment/ipledger-pod-watcher'];

/** For what the pod-watcher mends within a second or two, where it runs and may. */
export const restartWatcher = (job: string): string => command(watcher, `${job}: look into its log first`);

/** An allocation so that it can be found in the ledger. */
export const said = (allocation: Allocation): string =>
  `${addressesOf(allocation)} of subnet ${allocation.subnet} (${allocation.attachment?.provider}, uid ${allocation.podUid}, event ${allocation.seq})`;
