/**
 * The floor of watcher-start, a process of its own: lists Pods, IP objects and allocations page by
 * page, all three at the same time as a pod-watcher does, and parses them.
 */
import { call, connect } from '../../../../lib/grpc/client.ts';
import { type Api, connectDefaultApi } from '../../../../lib/kubernetes/client/kubernetes-api.ts';
import { listPages } from '../../../../lib/kubernetes/client/list-pages.ts';
import { IpamService } from '../../../../proto/generated/ipledger.ts';

const [endpoint = '', expected = ''] = process.argv.slice(2);
const timeoutMs = 60_000;
const { signal } = new AbortController();

async function countObjects(api: Api, path: string): Promise<number> {
  let objects = 0;
  for await (const { items } of listPages(api, path, { pageSize: 500, timeoutMs, signal })) objects += items.length;
  return objects;
}

async function countAllocations(): Promise<number> {
  const client = connect(endpoint, undefined);
  let allocations = 0;
  for (let pageToken = ''; ;) {
    const page = await call(client, IpamService.listAllocations, { pageSize: 1_000, pageToken }, { timeoutMs });
    allocations += page.allocations.length;
    pageToken = page.nextPageToken;
    if (pageToken === '') break;
  }
  client.close();
  return allocations;
}

const api = await connectDefaultApi();
const counts = await Promise.all([
  countObjects(api, '/api/v1/pods'),
  countObjects(api, '/apis/kubeovn.io/v1/ips'),
  countAllocations(),
]);
const objects = counts.reduce((sum, each) => sum + each, 0);
if (objects < Number(expected)) throw new Error(`listed ${objects} objects, expected at least ${expected}`);
process.exit(0);
