/** A client of an etcd with one member, whose calls a spec answers. */
import type { Etcd3 } from 'etcd3';

/** The arguments of a call, as `callKv` passes them to gRPC. */
export type UnaryCall = [
  path: string,
  serialize: (bytes: Buffer) => Buffer,
  deserialize: (bytes: Buffer) => unknown,
  message: Buffer,
  metadata: unknown,
  options: { readonly deadline: number },
  onReply: (error: Error | null, reply?: unknown) => void,
];

/**
 * Makes the client.
 * @param methods the generated functions of each method that is called
 * @param answer is called with each call
 */
export function fakeEtcd(methods: Readonly<Record<string, object>>, answer: (...call: UnaryCall) => void): Etcd3 {
  const service = class {
    static readonly service = methods;
    readonly makeUnaryRequest = answer;
  };
  const pool = {
    hosts: ['one'],
    shuffledHosts: () => ['one'].values(),
    withConnection: async (_name: string, run: (connection: object) => unknown) =>
      run({ client: new service(), metadata: {} }),
  };
  return { pool } as unknown as Etcd3;
}
