/** The model of etcd outside of a simulation: in real time, for the contracts. */
import type { EtcdClient } from '../../../../ledger/log/store/etcd-client.ts';
import { simulatedChannel } from '../../kernel/grpc-channel.ts';
import { Network } from '../../kernel/network.ts';
import { World } from '../../kernel/world.ts';
import { connectToModel } from '../connect-to-model.ts';
import { EtcdModel } from '../etcd-model.ts';

class RealTimeWorld extends World {
  override readonly beganAt = Date.now() - performance.now();

  override after(ms: number, act: () => void): () => void {
    this.now = performance.now();
    if (ms < 5) {
      const turn = setImmediate(act);
      return () => clearImmediate(turn);
    }
    const timer = setTimeout(act, ms).unref();
    return () => clearTimeout(timer);
  }
}

/** A model with a client of it. */
export function startModel(): { readonly model: EtcdModel; readonly client: EtcdClient } {
  const world = new RealTimeWorld(1);
  const model = new EtcdModel({ now: () => performance.now(), after: (ms, act) => world.after(ms, act) });
  const machine = world.machine('etcd');
  const server = { name: 'etcd', machine, methods: model.methods };
  const client = world.machine('client').start('client', () => undefined);
  const channel = simulatedChannel(client, new Network(world), new Map([['etcd:2379', server]]));
  return { model, client: connectToModel(['etcd:2379'], channel) };
}
