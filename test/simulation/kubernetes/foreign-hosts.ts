/**
 * Hosts on the wire that ipledger does not know. While a host is there, it answers the probes of
 * its address. When it has left, an operator ends the quarantine.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '../../../lib/grpc/calls.ts';
import { createLedgerClient } from '../../../lib/ledger-client/ledger-client.ts';
import { IpamService } from '../../../proto/generated/ipledger.ts';
import type { AddressConflict, ProbeTarget } from '../../../services/node-agent/requests/address-probe.ts';
import type { Program } from '../kernel/program.ts';
import type { World } from '../kernel/world.ts';

export const probedNetwork = 'macvlan';
const foreignMac = '52:54:00:00:00:01';
const retryMs = 2_000;

export class ForeignHosts {
  readonly #world: World;
  readonly #connect: (from: Program) => Connection;
  /** The number of hosts by address. */
  readonly #present = new Map<string, number>();
  /** Whether all hosts are switched off. */
  areSilent = false;
  /** What hosts answered to the last probe, by "namespace interface address". */
  readonly #answered = new Set<string>();

  constructor(world: World, connect: (from: Program) => Connection) {
    this.#world = world;
    this.#connect = connect;
  }

  appear(address: string): void {
    this.#present.set(address, (this.#present.get(address) ?? 0) + 1);
    this.#world.trace(`a foreign host has ${address}`);
  }

  leave(address: string): void {
    const left = (this.#present.get(address) ?? 0) - 1;
    this.#present.set(address, left);
    if (left > 0) return;
    this.#world.trace(`no foreign host has ${address} any more`);
    const operator = this.#world.machine('operator').start(`operator of ${address}`, async () => {
      const client = createLedgerClient(this.#connect(operator), new AbortController().signal);
      const request = { subnet: probedNetwork, address, reason: 'the host has left' };
      // A report that was on its way may quarantine the address after the first call
      for (let calls = 0; calls < 5; await sleep(retryMs))
        if (await client.call(IpamService.unquarantine, request).catch(() => undefined)) calls++;
    });
  }

  /** The addresses from which each host has left. */
  get left(): string[] {
    return [...this.#present].flatMap(([address, count]) => (count > 0 ? [] : [address]));
  }

  /** Answers a probe as the wire does. A later probe without an answer permits the use. */
  answer({ netns, interface: name, addresses }: ProbeTarget): AddressConflict | undefined {
    for (const each of addresses) this.#answered.delete(`${netns} ${name} ${each}`);
    const address = addresses.find((each) => (this.#present.get(each) ?? 0) > 0);
    if (address === undefined || this.areSilent) return undefined;
    this.#answered.add(`${netns} ${name} ${address}`);
    return { address, mac: foreignMac };
  }

  /** Checks the addresses that a container is about to use. */
  checkUse(netns: string, name: string, addresses: readonly string[]): void {
    for (const address of addresses)
      if (this.#answered.has(`${netns} ${name} ${address}`))
        this.#world.fail(
          'no use after a conflict',
          `${name} in ${netns} gets ${address}, on which a foreign host answered its probe`,
        );
  }
}
