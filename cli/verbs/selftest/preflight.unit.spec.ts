import { expect } from 'chai';
import type { GetStatusReply } from '../../../proto/generated/ipledger.ts';
import { findObstacle } from './preflight.ts';
import type { TestPlan } from './test-objects.ts';
import { plan as onePlan } from './testing/test-plan.fixture.ts';

const plan: TestPlan = { ...onePlan, nodes: ['node-1', 'node-2'], network: 'default/lan' };
const lan = '/apis/k8s.cni.cncf.io/v1/namespaces/default/network-attachment-definitions/lan';
const objects = ['/api/v1/nodes/node-1', '/api/v1/nodes/node-2', lan];

/** Why a selftest does not start, in a cluster with these objects and these rights. */
const obstacleIn = ({
  paths = objects,
  isAllowed = true,
  status = {},
}: {
  readonly paths?: readonly string[];
  readonly isAllowed?: boolean;
  readonly status?: object;
} = {}): Promise<string> =>
  findObstacle(plan, {
    allocator: { call: () => Promise.resolve({ ...status } as GetStatusReply as never) },
    kubernetes: {
      get: (path) => Promise.resolve(paths.includes(path) ? {} : undefined),
      create: () => Promise.resolve({ status: { allowed: isAllowed } }),
    },
  });

describe('A selftest does not start', () => {
  it('A selftest does not start when a right, a node or the network is missing, or nothing can be allocated', async () => {
    expect(await obstacleIn()).to.equal('');
    expect(await obstacleIn({ isAllowed: false })).to.match(
      /^your Kubernetes user may not: get nodes, list namespaces, .*docs\/troubleshooting\.md#do-pods-get-addresses names the rights$/,
    );
    expect(await obstacleIn({ paths: [lan, '/api/v1/nodes/node-1'] })).to.equal(
      'there is no node node-2: kubectl get nodes lists them',
    );
    expect(await obstacleIn({ paths: objects.filter((path) => path !== lan) })).to.equal(
      'there is no NetworkAttachmentDefinition default/lan: kubectl get network-attachment-definitions -A lists them',
    );
    const cannotWrite = { reason: 'etcd-full', message: 'etcd is full', since: '2026-01-31T07:00:00Z' };
    expect(await obstacleIn({ status: { cannotWrite } })).to.equal(
      'nothing can be allocated since 2026-01-31T07:00:00Z: etcd is full. Run: ipledger doctor',
    );
    expect(await obstacleIn({ status: { freeze: { reportedBy: 'w' } } })).to.equal(
      'nothing can be allocated, because the ledger is frozen. Run: ipledger recover',
    );
  });
});
