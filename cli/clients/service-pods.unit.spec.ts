import { expect } from 'chai';
import type { KubernetesClient } from './kubernetes-client.ts';
import { findServicePods } from './service-pods.ts';

describe('findServicePods', () => {
  it('findServicePods names the command that shows why a program ended, if none of its Pods is ready', async () => {
    const selector = { 'app.kubernetes.io/name': 'ipledger', 'app.kubernetes.io/component': 'allocator' };
    const kubernetes = {
      get: (path: string) => Promise.resolve(path.includes('/services/') ? { spec: { selector } } : { items: [{}] }),
    } as unknown as KubernetesClient;
    const service = { name: 'ipledger-allocator', port: 'grpc', advice: '' };
    const failure = await findServicePods(kubernetes, 'ipam', service).catch((error: unknown) => error);
    expect((failure as Error).message).to.equal(
      'no Pod behind Service ipledger-allocator of ipam is ready. Run: kubectl describe pods -n ipam -l app.kubernetes.io/name=ipledger,app.kubernetes.io/component=allocator  # Last State of a program that ended states why',
    );
  });
});
