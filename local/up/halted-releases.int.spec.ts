import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { probeReadyOrHalted } from './halted-releases.ts';

describe('The pod-watcher of `make up`', () => {
  it('The pod-watcher of `make up` counts as ready if its only problem is that it has halted releases, which is reported', async () => {
    let reply: [number, string] = [200, 'ok\n'];
    const server = createServer((_, response) => response.writeHead(reply[0]).end(reply[1])).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const reports: string[] = [];
    const probe = () => {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/readyz`;
      return probeReadyOrHalted(url, new AbortController().signal, (text) => reports.push(text));
    };
    try {
      await probe();
      expect(reports).to.deep.equal([]);
      reply = [
        503,
        'not ready: 30 of 35 Pods are missing; run: ipledger accept-mass-deletion --namespace kube-system\n',
      ];
      await probe();
      expect(reports[0]).to.contain('30 of 35 Pods');
      reply = [503, 'not ready: the ledger is not followed\n'];
      expect(await probe().catch((error: unknown) => String(error))).to.contain('the ledger is not followed');
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
});
