/**
 * Tokens of simulated agents, and the Kubernetes API that reviews them: it accepts each token, and
 * names the node in it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { serviceAccountUser, tokenAudience } from '../../../../services/allocator/token-review/agent-token.ts';
import type { TlsFiles } from '../../../../lib/tls/certificates.ts';
import { findFreePort } from '../../../harness/processes/free-ports.ts';
import type { Run } from '../../../harness/run.ts';
import type { TokenReviewSettings } from '../../../harness/services.ts';

const account = 'kube-system/ipledger-node-agent';
/** Fills a token to the length of a real token: ids of Pod and Node, times, and the signature. */
const padding = 'x'.repeat(500);

/** The token of a node's agent. */
export function tokenOf(node: string): string {
  const content = { aud: [tokenAudience], sub: serviceAccountUser(account), node, padding };
  return ['e30', Buffer.from(JSON.stringify(content)).toString('base64url'), padding].join('.');
}

/** Starts the API, with the certificate of a server on this machine. */
export async function startTokenReviews(run: Run, { ca, cert, key }: TlsFiles): Promise<TokenReviewSettings> {
  const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (request, response) => {
    const answer = async (): Promise<void> => {
      const { spec, ...review } = (await json(request)) as { spec: { token: string } };
      response.writeHead(201, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ ...review, status: statusOf(spec.token) }));
    };
    answer().catch(() => response.writeHead(400).end());
  });
  const port = await findFreePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  run.onEnd(() => server.closeAllConnections());
  run.onEnd(() => void server.close());
  const cluster = { server: `https://127.0.0.1:${port}`, 'certificate-authority': ca };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'bench', cluster }],
    users: [{ name: 'allocator', user: { token: 'any' } }],
    contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'allocator' } }],
    'current-context': 'bench',
  };
  const kubeconfig = join(run.folder, 'token-reviews.kubeconfig');
  writeFileSync(kubeconfig, JSON.stringify(config));
  return { kubeconfig, account };
}

function statusOf(token: string): object {
  const { node } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { node: string };
  const extra = { 'pod-name': [`agent-of-${node}`], 'pod-uid': [node], 'node-name': [node] };
  return {
    authenticated: true,
    audiences: [tokenAudience],
    user: {
      username: serviceAccountUser(account),
      groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
      extra: Object.fromEntries(
        Object.entries(extra).map(([key, value]) => [`authentication.kubernetes.io/${key}`, value]),
      ),
    },
  };
}
