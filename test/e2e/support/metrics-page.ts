/** Serves the health page of a real program with other values of its metrics. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { errorMessage } from '../../../lib/errors.ts';
import type { Run } from '../../harness/run.ts';

export interface MetricsPage {
  readonly port: number;
  /** Replacements of lines of the page, by the beginning of the line. */
  readonly edits: Map<string, string>;
}

/** @param health the address "host:port" of the program */
export async function serveMetrics(run: Run, health: string): Promise<MetricsPage> {
  const edits = new Map<string, string>();
  const server = createServer((_request, response) => {
    fetch(`http://${health}/metrics`).then(
      async (page) => {
        const lines = (await page.text())
          .split('\n')
          .filter((line) => ![...edits.keys()].some((key) => line.startsWith(key)));
        response.end(`${[...lines, ...edits.values()].join('\n')}\n`);
      },
      (error: unknown) => response.writeHead(502).end(errorMessage(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  run.onEnd(() => void server.close());
  return { port: (server.address() as AddressInfo).port, edits };
}
