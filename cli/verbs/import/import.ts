/** `ipledger import`: imports the addresses that another IPAM allocated. One subcommand per source. */
import type { Command } from 'commander';
import { defineHostLocal, defineWhereabouts } from './ipam-plugin.ts';
import { defineKubeOvn } from './kube-ovn.ts';

export function defineImport(verb: Command): void {
  defineKubeOvn(verb);
  defineWhereabouts(verb);
  defineHostLocal(verb);
}
