import { describeLedger } from './ledger.contract.ts';
import { MemoryLedger } from './memory-ledger.ts';

describeLedger('MemoryLedger', () => {
  const ledger = new MemoryLedger();
  return Promise.resolve({
    ledger,
    put: (key, text) => {
      ledger.put(key, text);
      return Promise.resolve();
    },
    everything: () => Promise.resolve(ledger.everything()),
    created: (key) => Promise.resolve(ledger.createdAt(key)),
  });
});
