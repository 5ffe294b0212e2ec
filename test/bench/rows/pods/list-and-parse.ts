/**
 * The floor of watcher-start, a process of its own: lists Pods, IP objects and allocations page by
 * page, and parses them.
 */
import { call, connect } from '../../../../lib/grpc/client.ts';
import { connectDefaultApi } from '../../../../lib/kubernetes/client/kubernetes-api.ts';
import { listPages } from '../../../../lib/kubernetes/client/list-pages.ts';
import { IpamService } from '../../../../proto/generated/ipledger.ts';

const [endpoint = '', expected = ''] = process.argv.slice(2);
const timeoutMs = 60_000;
const { signal } = new AbortController();
const api = await connectDefaultApi();
let objects = 0;
for (const path of ['/api/v1/pods', '/apis/kubeovn.io/v1/ips'])
  for await (const { items } of listPages(api, path, { pageSize: 500, timeoutMs, signal })) objects += items.length;
const client = connect(endpoint, undefined);
for (let pageToken = ''; ;) {
  const page = await call(client, IpamService.listAllocations, { pageSize: 1_000, pageToken }, { timeoutMs });
  objects += page.allocations.length;
  pageToken = page.nextPageToken;
  if (pageToken === '') break;
}
client.close();
if (objects < Number(expected)) throw new Error(`listed ${objects} objects, expected at least ${expected}`);
process.exit(0);
