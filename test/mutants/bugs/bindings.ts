/** Mistakes in the rules of bindings and releases. */
import type { PlantedBug } from '../planted-bug.ts';

const specs = ['ledger/domain/decide/**/*.unit.spec.ts', 'ledger/domain/state/*.unit.spec.ts'];

export const bindingBugs: readonly PlantedBug[] = [
  {
    name: 'a release of an earlier Pod frees the addresses of a newer one',
    file: 'ledger/domain/decide/release.ts',
    from: '(allocation) => allocation.uid === uid && (alloc',
    to: '(allocation) => (alloc',
    specs,
  },
  {
    name: 'a release with a number releases all attachments',
    file: 'ledger/domain/decide/release.ts',
    from: '(alloc === undefined || allocation.seq === alloc)',
    to: '(alloc === undefined || allocation.seq >= alloc)',
    specs,
  },
  {
    name: 'a fenced address is released',
    file: 'ledger/domain/decide/release.ts',
    from: '!addresses.some(({ address }) => isFenced(state, subnet, address)),',
    to: 'addresses.length > 0,',
    specs,
  },
  {
    name: 'an attachment that the Pod no longer requests is released while a container is bound',
    file: 'ledger/domain/decide/release.ts',
    from: "  if (cause === 'detached') for (const allocation of releasable) refuseBound(state, allocation);\n",
    to: '',
    specs,
  },
  {
    name: 'a Pod that has ended keeps its address while a container is bound',
    file: 'ledger/domain/decide/release.ts',
    from: "if (cause === 'detached') for (const allocation of releasable)",
    to: 'for (const allocation of releasable)',
    specs,
  },
  {
    name: 'a new container finds no attachment when the networks of its Pod were edited',
    file: 'ledger/domain/decide/bind.ts',
    from: '(isCounted(sandbox.interface)',
    to: '(false',
    specs,
  },
  {
    name: 'a container of edited networks gets an attachment to which another one is bound',
    file: 'ledger/domain/decide/bind.ts',
    from: 'isCounted(allocation.interface) && !ownBindingOf(state, allocation)',
    to: 'isCounted(allocation.interface)',
    specs,
  },
  {
    name: 'an agent binds Pods of other nodes',
    file: 'ledger/domain/decide/bind.ts',
    from: "if (onlyNode === undefined || node === '' || node === onlyNode",
    to: "if (onlyNode !== undefined || node === '' || node === onlyNode",
    specs,
  },
  {
    name: 'a Bind of the same container after a transfer writes no event',
    file: 'ledger/domain/decide/bind.ts',
    from: '    known.bootId === bootId &&\n    known.alloc === allocation.seq;',
    to: '    known.bootId === bootId;',
    specs,
  },
  {
    name: 'a Bind of the same container after a reboot writes no event',
    file: 'ledger/domain/decide/bind.ts',
    from: '    known.bootId === bootId &&\n    known.alloc',
    to: '    known.alloc',
    specs,
  },
  {
    name: 'an address is bound while a container on another node may answer',
    file: 'ledger/domain/decide/bind.ts',
    from: '  refuseIfBoundElsewhere(state, allocation, command);\n',
    to: '',
    specs,
  },
  {
    name: 'a machine that was started again counts as one that migrates',
    file: 'ledger/domain/decide/bind.ts',
    from: '!(migrates && known.alloc === allocation.seq);',
    to: '!migrates;',
    specs,
  },
  {
    name: 'the timeout of a binding counts from the binding, not from the transfer',
    file: 'ledger/domain/decide/bind.ts',
    from: 'Math.max(at, allocation.at) + timeoutMs',
    to: 'at + timeoutMs',
    specs,
  },
  {
    name: 'a person ends the binding of a Pod that holds the address',
    file: 'ledger/domain/decide/bind.ts',
    from: 'if (releasedOnly) refuseInUse(',
    to: 'if (!releasedOnly && onlyNode) refuseInUse(',
    specs,
  },
  {
    name: 'an agent ends bindings of other nodes',
    file: 'ledger/domain/decide/bind.ts',
    from: '(onlyNode === undefined || b.node === onlyNode)',
    to: 'true',
    specs,
  },
];
