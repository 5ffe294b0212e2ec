/** The protobuf messages of etcd, from the definitions in the client package. For specs. */
import { join } from 'node:path';
import protobuf from 'protobufjs';

const packageFolder = join(import.meta.dirname, '../../../node_modules/etcd3/proto');
const root = new protobuf.Root();
root.resolvePath = (_origin, target) => join(packageFolder, target.split('/').at(-1) ?? '');
root.loadSync('rpc.proto', { keepCase: true });

/** Returns the type of a message, such as "RangeResponse". @throws Error for an unknown name */
export const etcdMessage = (name: string): protobuf.Type => root.lookupType(`etcdserverpb.${name}`);
