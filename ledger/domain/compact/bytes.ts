/**
 * Packs numbers and texts into bytes. The bytes are a JavaScript string with one byte per
 * character: one object without references, so it costs the garbage collector little.
 */

/** Ways to store a text. The first three halve its length. */
const kinds = { uuid: 0, hex: 1, mac: 2, latin1: 3, utf16: 4 } as const;
const kindCount = 8;
/** Texts shorter than this are not packed as hex: few of them are hexadecimal only. */
const minHexLength = 16;
const uuidLength = 36;
const macLength = 17;
const hyphen = '-'.charCodeAt(0);
const colon = ':'.charCodeAt(0);
const dot = '.'.charCodeAt(0);
const zero = '0'.charCodeAt(0);
const initialSize = 1_024;
const ipv4Parts = 4;
/** The bytes of a number up to 2^53. */
const maxNumberBytes = 8;

/** The value of each lower-case hexadecimal digit; `noDigit` for other characters. */
const noDigit = 255;
const digits = new Uint8Array(128).fill(noDigit);
const characters = Buffer.from('0123456789abcdef');
for (const [value, character] of characters.entries()) digits[character] = value;
const digitAt = (text: string, index: number): number => digits[text.charCodeAt(index)] ?? noDigit;
const uuidText = Buffer.alloc(uuidLength);

/** Collects values as bytes. `take` returns the bytes and empties the writer. */
export class ByteWriter {
  #bytes = Buffer.allocUnsafe(initialSize);
  #length = 0;

  take(): string {
    const taken = this.#bytes.toString('latin1', 0, this.#length);
    this.#length = 0;
    return taken;
  }

  clear(): void {
    this.#length = 0;
  }

  /** Appends bytes that `take` of another writer returned. */
  append(bytes: string): void {
    this.#reserve(bytes.length);
    for (let index = 0; index < bytes.length; index++) this.#bytes[this.#length++] = bytes.charCodeAt(index);
  }

  /** Appends a whole number of at least 0. @throws TypeError for another value. */
  number(value: number): void {
    if (!Number.isSafeInteger(value) || value < 0) throw new TypeError(`${value} is not a number to store`);
    this.#reserve(maxNumberBytes);
    if (value < 128) {
      this.#bytes[this.#length++] = value;
      return;
    }
    let rest = value;
    while (rest >= 128) {
      this.#bytes[this.#length++] = (rest % 128) + 128;
      rest = Math.floor(rest / 128);
    }
    this.#bytes[this.#length++] = rest;
  }

  /** A whole number of either sign, which is usually small. @throws TypeError for another value. */
  difference(value: number): void {
    this.number(value < 0 ? -2 * value - 1 : 2 * value);
  }

  /** @throws TypeError for a value that is not a text. */
  text(value: string): void {
    if (typeof value !== 'string') throw new TypeError('it is not a text');
    const { length } = value;
    this.#reserve(2 * length + maxNumberBytes);
    const start = this.#length;
    if (length === uuidLength && this.#hexText(value, kinds.uuid)) return;
    if (length === macLength && this.#hexText(value, kinds.mac)) return;
    if (length >= minHexLength && length % 2 === 0 && this.#hexText(value, kinds.hex)) return;
    this.number(length * kindCount + kinds.latin1);
    for (let index = 0; index < length; index++) {
      const code = value.charCodeAt(index);
      if (code > 255) return this.#utf16(value, start);
      this.#bytes[this.#length++] = code;
    }
  }

  /** Appends an address in canonical text. IPv4 is packed into four bytes. */
  address(value: string): void {
    this.#reserve(1 + ipv4Parts);
    const start = this.#length++;
    let [part, digitCount, parts] = [0, 0, 0];
    for (let index = 0; index <= value.length && parts >= 0; index++) {
      const digit = index === value.length ? dot : value.charCodeAt(index);
      if (digit === dot) {
        parts = digitCount === 0 || parts === ipv4Parts ? -1 : parts + 1;
        if (parts > 0) this.#bytes[this.#length++] = part;
        [part, digitCount] = [0, 0];
      } else {
        const isFirstZero = digitCount > 0 && part === 0;
        part = part * 10 + digit - zero;
        digitCount++;
        if (digit < zero || digit > zero + 9 || isFirstZero || part > 255) parts = -1;
      }
    }
    this.#bytes[start] = parts === ipv4Parts ? 1 : 0;
    if (parts === ipv4Parts) return;
    this.#length = start + 1;
    this.text(value);
  }

  /** Packs a text of hex digits. Returns false, and writes nothing, for another form. */
  #hexText(value: string, kind: 0 | 1 | 2): boolean {
    const start = this.#length;
    this.number(value.length * kindCount + kind);
    for (let index = 0; index < value.length; index += 2) {
      if (kind === kinds.uuid && (index === 8 || index === 13 || index === 18 || index === 23)) {
        if (value.charCodeAt(index++) !== hyphen) return this.#backTo(start);
      } else if (kind === kinds.mac && index > 0 && value.charCodeAt(index++) !== colon) return this.#backTo(start);
      const [high, low] = [digitAt(value, index), digitAt(value, index + 1)];
      if (high === noDigit || low === noDigit) return this.#backTo(start);
      this.#bytes[this.#length++] = high * 16 + low;
    }
    return true;
  }

  #utf16(value: string, start: number): void {
    this.#length = start;
    this.number(value.length * kindCount + kinds.utf16);
    this.#length += this.#bytes.write(value, this.#length, 'utf16le');
  }

  #backTo(start: number): false {
    this.#length = start;
    return false;
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.#length + count));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

/** Reads the values in the order in which they were written. */
export class ByteReader {
  #bytes = Buffer.allocUnsafe(initialSize);
  #next = 0;
  #end = 0;

  /** Starts to read these bytes. */
  open(bytes: string): void {
    if (bytes.length > this.#bytes.length) this.#bytes = Buffer.allocUnsafe(2 * bytes.length);
    this.#end = this.#bytes.write(bytes, 'latin1');
    this.#next = 0;
  }

  /** Starts to read bytes of which only the first numbers are needed. */
  openFirst(bytes: string): void {
    this.open(bytes.slice(0, 2 * maxNumberBytes));
  }

  /** @throws RangeError at the end of the bytes: the loop would not end there */
  number(): number {
    let [value, scale] = [0, 1];
    for (;;) {
      if (this.#next >= this.#end) throw new RangeError('the bytes end before or within a number');
      const byte = this.#bytes[this.#next++] as number;
      if (byte < 128) return value + byte * scale;
      value += (byte - 128) * scale;
      scale *= 128;
    }
  }

  difference(): number {
    const value = this.number();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  text(): string {
    const header = this.number();
    const kind = header % kindCount;
    const length = (header - kind) / kindCount;
    if (kind === kinds.latin1) return this.#slice('latin1', length);
    if (kind === kinds.hex) return this.#slice('hex', length / 2);
    if (kind === kinds.utf16) return this.#slice('utf16le', 2 * length);
    if (kind === kinds.mac) return (this.#slice('hex', 6).match(/../g) ?? []).join(':');
    return this.#uuid();
  }

  address(): string {
    if (this.#bytes[this.#next++] === 0) return this.text();
    const [bytes, at] = [this.#bytes, this.#next];
    this.#next += ipv4Parts;
    return `${bytes[at]}.${bytes[at + 1]}.${bytes[at + 2]}.${bytes[at + 3]}`;
  }

  /** Formats a uid in one pass: five slices would take several times as long. */
  #uuid(): string {
    let at = 0;
    for (let index = 0; index < uuidLength; index++)
      if (index === 8 || index === 13 || index === 18 || index === 23) uuidText[index] = hyphen;
      else {
        const byte = this.#bytes[this.#next + (at >> 1)] as number;
        uuidText[index] = characters[at++ % 2 === 0 ? byte >> 4 : byte & 15] as number;
      }
    this.#next += at >> 1;
    return uuidText.toString('latin1');
  }

  #slice(encoding: 'latin1' | 'hex' | 'utf16le', count: number): string {
    const from = this.#next;
    this.#next += count;
    return this.#bytes.toString(encoding, from, this.#next);
  }
}
