/** Mistakes that show only between several replicas, found by a history of them. */
import type { PlantedBug } from '../planted-bug.ts';

const specs = ['test/histories/histories.e2e.spec.ts'];

export const historyBugs: readonly PlantedBug[] = [
  {
    name: 'a standby answers a linearizable read from its own state',
    file: 'ledger/log/reader/follower.ts',
    from: "      this.#pendingReads.add(pending);\n      this.#requestCatchUp('read');",
    to: '      pending.settle();',
    specs,
  },
  {
    name: 'a writer answers before its transaction is committed',
    file: 'ledger/log/writer/writer.ts',
    from: '    this.#answerProven();\n    const stopDeciding',
    to: '    for (const { settle } of decided) settle();\n    const stopDeciding',
    specs,
  },
  {
    name: 'the pages of a Watch begin one event later after an interruption',
    file: 'services/allocator/grpc/ledger/watch.ts',
    from: 'let next = request.fromSeq || replica.head.seq + 1;',
    to: 'let next = (request.fromSeq || replica.head.seq + 1) + (request.after ? 1 : 0);',
    specs,
  },
];
