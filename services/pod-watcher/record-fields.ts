/** The fields of Pods, IP objects and allocations as bytes. */
import { SharedFields } from '../../lib/compact/shared-fields.ts';
import { ValuePool } from '../../lib/compact/value-pool.ts';

/** Names of namespaces, Nodes, Subnets and the like. Later ones are stored in each record. */
const maxShared = 32_768;
/** Tenants choose these texts, so that they have a pool of their own. */
const maxTenantTexts = 8_192;
/** Lists of texts that tenants choose: how many, and the characters of one and of all of them. One Pod must not fill the pool. */
const maxTenantLists = { count: 8_192, keyLength: 2_048, length: 2 << 20 } as const;

/** An owner of Pods, with the keys of its interface in the ledger or in Kubernetes. */
export interface RecordOwner {
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

export class RecordFields extends SharedFields {
  readonly #tenantTexts = new ValuePool<string>(maxTenantTexts);
  readonly #tenantLists = new ValuePool<readonly string[]>(maxTenantLists.count, maxTenantLists);
  /** The last time: the Pods of a burst have the same. */
  #time = { text: '', seconds: -1 };

  /** A text that many Pods have and that tenants choose. */
  writeTenantText(text: string): void {
    this.writeShared(text, this.#tenantTexts);
  }

  readTenantText(): string {
    return this.readShared(this.#tenantTexts);
  }

  /** A list that many Pods have and that tenants choose. It must not change later. */
  writeTenantList(texts: readonly string[]): void {
    this.writeList(texts, this.#tenantLists);
  }

  readTenantList(): readonly string[] {
    return this.readList(this.#tenantLists);
  }

  /** A text that usually is a decimal number. */
  writeDecimal(text: string): void {
    const value = Number(text);
    const isNumber = Number.isSafeInteger(value + 1) && value >= 0 && String(value) === text;
    this.writer.number(isNumber ? value + 1 : 0);
    if (!isNumber) this.writer.text(text);
  }

  readDecimal(): string {
    const number = this.reader.number();
    return number === 0 ? this.reader.text() : String(number - 1);
  }

  /** A text that usually is a time of whole seconds, in the format of Kubernetes. */
  writeTime(text: string): void {
    if (text !== this.#time.text) {
      const seconds = Date.parse(text) / 1_000;
      const isTime = seconds >= 0 && Number.isInteger(seconds) && timeText(seconds) === text;
      this.#time = { text, seconds: isTime ? seconds : -1 };
    }
    const { seconds } = this.#time;
    this.writer.number(seconds + 1);
    if (seconds < 0) this.writer.text(text);
  }

  readTime(): string {
    const number = this.reader.number();
    if (number === 0) return this.reader.text();
    if (number - 1 !== this.#time.seconds) this.#time = { text: timeText(number - 1), seconds: number - 1 };
    return this.#time.text;
  }

  /**
   * First a number: 0 for no owner, 1 if the name of the owner follows, else the length of that name + 2.
   * @param pod the name of the Pod, which usually begins with the name of its owner.
   */
  writeOwner(owner: RecordOwner | undefined, pod: string): void {
    const isPrefix = owner !== undefined && pod.startsWith(owner.name);
    this.writer.number(owner ? (isPrefix ? owner.name.length + 2 : 1) : 0);
    if (!owner) return;
    if (!isPrefix) this.writer.text(owner.name);
    this.writeTenantText(owner.kind);
    this.writer.text(owner.uid);
  }

  readOwner(pod: string): RecordOwner | undefined {
    const form = this.reader.number();
    if (form === 0) return undefined;
    const name = form === 1 ? this.reader.text() : pod.slice(0, form - 2);
    return { kind: this.readTenantText(), name, uid: this.reader.text() };
  }
}

const timeText = (seconds: number): string => new Date(seconds * 1_000).toISOString().replace('.000Z', 'Z');

/** The fields of all records of this process: they share one pool of texts. */
export const recordFields = new RecordFields(maxShared);
