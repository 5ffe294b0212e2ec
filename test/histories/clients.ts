/**
 * Clients that send every kind of command, and reads, to random replicas. They share Pod names,
 * addresses and Subnets, so that their calls conflict.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, connect } from '../../lib/grpc/client.ts';
import type { SeededRandom } from '../faults/seeded-random.ts';
import { Client } from './client.ts';
import type { History } from './history.ts';
import { lan, lanAddresses, podNames, wan } from './world.ts';

const maxPaceMs = 150;

export interface Clients {
  /** Configures the Subnets of the Pods. */
  prepare(): Promise<void>;
  /** Sends calls of `count` clients until `isOver`. */
  run(count: number, isOver: () => boolean): Promise<void>;
  /** Reads all addresses and Pods at each replica. */
  readAll(): Promise<void>;
  close(): void;
}

/** Connects to each replica, and to all of them as one. */
export function openClients(history: History, endpoints: readonly string[], random: SeededRandom): Clients {
  const replicas: readonly Connection[] = [...endpoints, endpoints.join()].map((each) => connect(each, undefined));
  const world = { history, replicas, uids: new Map(), sandboxes: [], requests: 0 };
  const first = new Client(-1, world, random.fork());
  return {
    async prepare() {
      for (const subnet of [lan, wan]) await first.applySubnet(subnet, []);
    },
    async run(count, isOver) {
      const work = async (index: number, own: SeededRandom): Promise<void> => {
        const client = new Client(index, world, own);
        while (!isOver()) {
          await client.doSomething();
          await sleep(own.nextInt(maxPaceMs));
        }
      };
      await Promise.all(Array.from({ length: count }, (_, index) => work(index, random.fork())));
    },
    async readAll() {
      for (const replica of replicas) {
        for (const address of lanAddresses) await first.readAddress(address, { replica });
        for (const pod of podNames) await first.list(pod, replica);
      }
    },
    close: () => replicas.forEach((each) => each.close()),
  };
}
