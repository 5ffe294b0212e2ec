/** The options of verbs that read a whole installation. */
import { type Command, Option } from 'commander';
import { chartNamespace, type LedgerClient, namespaceOf } from '../clients/ledger-client.ts';
import type { FactSources } from '../installation/gather-facts.ts';
import { type Part, parts } from '../installation/facts.ts';
import {
  addNodeSwitchOption,
  addNorthboundOption,
  type NodeSwitchOptions,
  type NorthboundOptions,
} from '../ovn/ovn-databases.ts';
import { endpointsOf } from './allocator-options.ts';
import { addVerbOptions, type VerbOptions } from './verb.ts';

export interface FactOptions extends VerbOptions, NorthboundOptions, NodeSwitchOptions {
  readonly namespace?: string;
  readonly metrics: readonly string[];
  readonly skip: readonly Part[];
}

/** Adds the options of addVerbOptions, `--namespace`, `--metrics`, `--skip`, and those of OVN. */
export const addFactOptions = (verb: Command): Command =>
  addNodeSwitchOption(addNorthboundOption(addVerbOptions(verb)))
    .addOption(
      new Option(
        '--namespace <name>',
        'the namespace of ipledger; default: that of --allocator, or ipledger-system',
      ).env('IPLEDGER_NAMESPACE'),
    )
    .addOption(
      new Option('--metrics <host:port...>', 'addresses of /metrics of programs that do not run as Pods')
        .env('IPLEDGER_METRICS')
        .default([]),
    )
    .addOption(new Option('--skip <part...>', 'do not look at these parts').choices(parts).default([]));

export const factSourcesOf = (options: FactOptions, allocator: LedgerClient, signal: AbortSignal): FactSources => ({
  allocator,
  endpoints: endpointsOf(options),
  signal,
  options,
  namespace: options.namespace ?? namespaceOf(options.allocator) ?? chartNamespace,
  skip: options.skip,
  addresses: options.metrics.flatMap((each) => each.split(',').flatMap((address) => address.trim() || [])),
});
