/**
 * Readiness of the pod-watcher of `make up`. A pod-watcher that halts releases works, and only the
 * operator can end the halt.
 */
export async function probeReadyOrHalted(
  url: string,
  signal: AbortSignal,
  report: (text: string) => void,
): Promise<void> {
  const response = await fetch(url, { signal });
  const text = (await response.text()).trim();
  if (response.ok) return;
  if (!text.includes('ipledger accept-mass-deletion')) throw new Error(`GET ${url}: ${response.status} ${text}`);
  report(`the pod-watcher runs, and has halted releases: ${text}`);
}
