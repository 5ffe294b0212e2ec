import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createKubernetesGet } from './object-reader.ts';

describe('The agent’s connection to the Kubernetes API', () => {
  const before = process.env['KUBECONFIG'];
  const options = { timeoutMs: 5_000, signal: new AbortController().signal };
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-agent-'));
    process.env['KUBECONFIG'] = join(folder, 'kubeconfig');
  });

  afterEach(() => {
    if (before === undefined) delete process.env['KUBECONFIG'];
    else process.env['KUBECONFIG'] = before;
    rmSync(folder, { recursive: true, force: true });
  });

  it('The agent’s connection to the Kubernetes API reads an absent configuration again at the next read', async () => {
    const get = createKubernetesGet();
    const first: unknown = await get('/', options).catch((error: unknown) => error);
    expect(first).to.have.property('message').that.contains(folder);
    writeFileSync(
      join(folder, 'kubeconfig'),
      JSON.stringify({ apiVersion: 'v1', kind: 'Config', clusters: [], contexts: [], users: [] }),
    );
    const second: unknown = await get('/', options).catch((error: unknown) => error);
    expect(second).to.have.property('message').that.contains('the kubeconfig names no cluster');
  });
});
