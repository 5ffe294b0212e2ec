/**
 * Drops all packets between a worker and the other workers, without a refusal. Its kubelet still
 * reaches the Kubernetes API.
 */
import type { Worker } from '../../harness/node/worker.ts';

const chain = (hook: string, rules: string): string =>
  `chain ${hook} { type filter hook ${hook} priority -300; ${rules} }`;

export async function cutNetwork(worker: Worker): Promise<void> {
  const [from, to] = ['iifname "eth0" drop;', 'oifname "eth0" drop;'];
  const chains = [chain('input', from), chain('output', to), chain('forward', `${from} ${to}`)];
  await nft(worker, `table inet cut {\n${chains.join('\n')}\n}`);
}

export const restoreNetwork = (worker: Worker): Promise<void> => nft(worker, 'delete table inet cut');

async function nft({ name, machine }: Worker, command: string): Promise<void> {
  const { code, stderr } = await machine.run(['nft', command]);
  if (code !== 0) throw new Error(`nft ${command} on ${name}: ${stderr}`);
}
