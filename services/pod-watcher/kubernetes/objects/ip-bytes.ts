/** A `ShownIp` as bytes, as nearly all IP objects are. */
import type { ObjectCodec } from '../compact-objects.ts';
import { recordFields as fields } from '../../record-fields.ts';
import { type IpObject, ShownIp } from './ip.ts';

const { reader, writer } = fields;

export const ipBytes: ObjectCodec<IpObject> = {
  encode(object) {
    if (!(object instanceof ShownIp)) return undefined;
    writer.clear();
    writeName(object.name);
    writer.text(object.uid);
    fields.writeDecimal(object.resourceVersion);
    fields.writeDecimal(object.allocation);
    writer.text(object.digest);
    fields.writeShared(object.node);
    return writer.take();
  },

  decode(bytes) {
    reader.open(bytes);
    return new ShownIp({
      name: readName(),
      uid: reader.text(),
      resourceVersion: fields.readDecimal(),
      allocation: fields.readDecimal(),
      digest: reader.text(),
      node: fields.readShared(),
    });
  },

  keyOf(bytes) {
    reader.open(bytes);
    return readName();
  },
};

/** The name is "<pod>.<namespace>.<provider>": the part behind the name of a Pod without dots is shared. */
function writeName(name: string): void {
  const dot = name.indexOf('.');
  const length = dot < 0 ? name.length : dot;
  writer.text(name.slice(0, length));
  fields.writeTenantText(name.slice(length));
}

const readName = (): string => reader.text() + fields.readTenantText();
