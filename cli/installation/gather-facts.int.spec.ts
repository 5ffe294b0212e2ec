import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { LedgerService } from '../../proto/generated/ipledger.ts';
import type { Facts } from './facts.ts';
import { gatherFacts } from './gather-facts.ts';

describe('The comparison of ledger and cluster', () => {
  it('The comparison of ledger and cluster is made only when the other facts permit it, because it reads the whole cluster', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"kind":"Status","code":404}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const folder = await mkdtemp(join(tmpdir(), 'facts-'));
    const kubeconfig = join(folder, 'kubeconfig');
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const cluster = { name: 'c', cluster: { server: address, 'insecure-skip-tls-verify': true } };
    const context = { name: 'c', context: { cluster: 'c', user: 'u' } };
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'c',
      contexts: [context],
      clusters: [cluster],
    };
    await writeFile(kubeconfig, JSON.stringify({ ...config, users: [{ name: 'u', user: {} }] }));
    /** The requests to the allocator, and the reason of the gap. */
    const gather = async (compareIf?: (facts: Facts) => boolean) => {
      const methods: unknown[] = [];
      const call = (method: unknown): Promise<never> => {
        methods.push(method);
        return Promise.reject(new Error('it is down'));
      };
      const { gaps } = await gatherFacts({
        allocator: { call, stream: (method) => call(method) as never, [Symbol.dispose]: () => undefined },
        endpoints: [],
        options: { kubeconfig },
        namespace: 'ipledger-system',
        skip: [],
        addresses: [],
        signal: new AbortController().signal,
        ...(compareIf && { compareIf }),
      });
      const ofStatus = new Set<unknown>([LedgerService.getStatus, LedgerService.checkpoint]);
      return {
        isCompared: methods.some((method) => !ofStatus.has(method)),
        reason: gaps.find(({ part }) => part === 'comparison')?.reason,
      };
    };
    try {
      let judged: Facts | undefined;
      const put = await gather((facts) => {
        judged = facts;
        return false;
      });
      expect(put).to.deep.equal({ isCompared: false, reason: 'it is made when nothing else is wrong' });
      expect(judged?.gaps.map(({ part }) => part)).to.include('allocators');
      for (const compareIf of [() => true, undefined])
        expect(await gather(compareIf)).to.deep.equal({ isCompared: true, reason: 'it is down' });
    } finally {
      server.close();
      await rm(folder, { recursive: true });
    }
  });
});
