/** Formats for people how much of its quota etcd uses. */
import type { StorageUse as StorageUseMessage } from '../../proto/generated/ipledger.ts';

type StorageUse = Pick<StorageUseMessage, 'usedBytes' | 'quotaBytes'> & { readonly daysLeft?: number | undefined };

/** Thresholds of the alerts IpledgerEtcdHalfFull and IpledgerEtcdFillsUp. */
const noticeAtShare = 0.5;
const noticeAtDays = 14;

/** Formats "12 % of 2.0 GiB are in use, full in 40 days at the growth of the last day". */
export function formatStorageUse({ usedBytes, quotaBytes, daysLeft }: StorageUse): string {
  const use = `${Math.round((100 * usedBytes) / quotaBytes)} % of ${formatBytes(quotaBytes)} are in use`;
  if (daysLeft === undefined) return use;
  const until = daysLeft === 0 ? 'in less than a day' : `in ${daysLeft} ${daysLeft === 1 ? 'day' : 'days'}`;
  return `${use}, full ${until} at the growth of the last day`;
}

/** The use and what to do, if an operator should look; '' otherwise. */
export function noticeOfStorageUse(use: StorageUse | undefined): string {
  if (!use) return '';
  const { usedBytes, quotaBytes, daysLeft = Infinity } = use;
  if (usedBytes <= noticeAtShare * quotaBytes && daysLeft >= noticeAtDays) return '';
  return `etcd: ${formatStorageUse(use)}. See the runbook IpledgerEtcdHalfFull`;
}

function formatBytes(bytes: number): string {
  const mebibytes = bytes / 2 ** 20;
  return mebibytes < 1024 ? `${mebibytes.toFixed(0)} MiB` : `${(mebibytes / 1024).toFixed(1)} GiB`;
}
