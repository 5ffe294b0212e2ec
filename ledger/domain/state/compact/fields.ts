/** The fields that claims and allocations have in common, as bytes. */
import type { Attachment } from '../../events/event.ts';
import { SharedFields } from '../../../../lib/compact/shared-fields.ts';

const attachmentKeys: readonly (keyof Attachment)[] = ['namespace', 'pod', 'provider', 'ordinal'];

/** How a value is stored: as JSON if it has an unusual shape. */
export const formats = { json: 0, compact: 1 } as const;

export class Fields extends SharedFields {
  /** @throws TypeError for an attachment of another shape. */
  writeAttachment(attachment: Attachment): void {
    requireShape(attachment, attachmentKeys);
    this.writeShared(attachment.namespace);
    this.writer.text(attachment.pod);
    this.writeShared(attachment.provider);
    this.writer.number(attachment.ordinal);
  }

  readAttachment(): Attachment {
    const namespace = this.readShared();
    const pod = this.reader.text();
    return { namespace, pod, provider: this.readShared(), ordinal: this.reader.number() };
  }
}

/** @throws TypeError for an object with another key, or another order of the keys. A missing one fails when it is written. */
export function requireShape(value: object, keys: readonly string[], apart: readonly string[] = []): void {
  let next = 0;
  for (const key in value) {
    if (apart.includes(key)) continue;
    while (next < keys.length && keys[next] !== key) next++;
    if (next++ === keys.length) throw new TypeError(`"${key}" is unknown, or not in its place`);
  }
}
