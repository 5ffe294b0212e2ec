/**
 * The parts of one ADD, each measured alone: the process, its call of a socket, and the call of the
 * allocator with its append.
 */
import { createServer } from 'node:net';
import { join } from 'node:path';
import { call } from '../../../../lib/grpc/calls.ts';
import { connect } from '../../../../lib/grpc/http2/connect.ts';
import { IpamService } from '../../../../proto/generated/ipledger.ts';
import { measureTime, median } from '../../measurement.ts';
import { type AddEnvironment, namespace, node, provider } from './add-environment.ts';
import { addOurs, addStatic, callVersion, podNames } from './plugin-calls.ts';

/** The parts in milliseconds, each the median of some calls. */
export interface AddParts {
  /** The time from exec to the end of a process that answers VERSION. */
  readonly exec: number;
  /** The time of a process whose ADD the socket answers at once. */
  readonly socket: number;
  /** The time of a process of the plugin `static`, the floor of both. */
  readonly floor: number;
  /** The time of an Attach of a client with a connection: the second hop and the append. */
  readonly attach: number;
}

const answer = JSON.stringify({ ips: [{ ip: '10.64.0.2', cidr: '10.64.0.0/12', gateway: '10.64.0.1' }] });
const response = `HTTP/1.0 200 OK\r\nContent-Length: ${answer.length}\r\n\r\n${answer}`;

export async function measureAddParts(environment: AddEnvironment, calls: number): Promise<AddParts> {
  const { run, endpoint, plugin, allocate } = environment;
  const exec = median((await callVersion(plugin, calls)).map(({ ms }) => ms));
  const floor = median((await addStatic(environment)(podNames('static', calls))).each.map(({ ms }) => ms));

  const socket = join(run.folder, 'answers-at-once.sock');
  const server = createServer((plugin) => plugin.once('data', () => plugin.end(response)));
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  const answered = median(
    (await addOurs({ plugin, socket })(podNames('pod-of-socket', calls))).each.map(({ ms }) => ms),
  );
  server.close();

  const connection = connect(endpoint, undefined);
  const attached: number[] = [];
  for (const pod of await allocate(calls)) {
    const sandbox = { namespace, pod, podUid: pod, provider, containerId: pod, interface: 'net1' };
    const request = { ...sandbox, node, bootId: 'this-boot' };
    attached.push((await measureTime(() => call(connection, IpamService.attach, request, { timeoutMs: 20_000 }))).ms);
  }
  connection.close();
  return { exec, socket: answered, floor, attach: median(attached) };
}
