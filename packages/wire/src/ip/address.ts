// Addresses are four 32-bit words; IPv4 addresses are mapped to IPv6 (::ffff:0:0/96).

export const mappedPrefix = 0xffff;

export const isMappedAddress = (words: Int32Array, at: number): boolean =>
  words[at] === 0 && words[at + 1] === 0 && words[at + 2] === mappedPrefix;

export const writeMapped = (words: Int32Array, at: number, address: number): void => {
  words[at] = 0;
  words[at + 1] = 0;
  words[at + 2] = mappedPrefix;
  words[at + 3] = address;
};

export const copyAddress = (from: Int32Array, atFrom: number, to: Int32Array, atTo: number): void => {
  for (let i = 0; i < 4; i++) to[atTo + i] = from[atFrom + i] as number;
};

export const readAddress6 = (view: DataView, at: number, words: Int32Array, to: number): void => {
  for (let i = 0; i < 4; i++) words[to + i] = view.getInt32(at + i * 4);
};

export const writeAddress6 = (view: DataView, at: number, words: Int32Array, from: number): void => {
  for (let i = 0; i < 4; i++) view.setInt32(at + i * 4, words[from + i] as number);
};

export const isSameAddress = (a: Int32Array, atA: number, b: Int32Array, atB: number): boolean =>
  a[atA + 3] === b[atB + 3] && a[atA + 2] === b[atB + 2] && a[atA + 1] === b[atB + 1] && a[atA] === b[atB];

/** True if both lie in the same network of that many leading bits of the 128. */
export const isSamePrefix = (a: Int32Array, atA: number, b: Int32Array, atB: number, bits: number): boolean => {
  for (let i = 0, left = bits; left > 0; i++, left -= 32) {
    const mask = left >= 32 ? -1 : ~(0xffffffff >>> left);
    if ((((a[atA + i] as number) ^ (b[atB + i] as number)) & mask) !== 0) return false;
  }
  return true;
};

const parse4 = (text: string): number => {
  const parts = text.split('.');
  const isValid = parts.length === 4 && parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256);
  if (!isValid) throw new RangeError(`${text} is not an IPv4 address`);
  return parts.reduce((value, part) => (value << 8) | Number(part), 0);
};

const parse6 = (text: string): Int32Array => {
  const fail = () => new RangeError(`${text} is not an IPv6 address`);
  let rest = text;
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  if (dotted !== null) {
    const value = parse4(dotted[2] as string) >>> 0;
    rest = `${dotted[1]}${(value >>> 16).toString(16)}:${(value & 0xffff).toString(16)}`;
  }
  const halves = rest.split('::');
  if (halves.length > 2) throw fail();
  const groups = halves.map((half) => (half === '' ? [] : half.split(':')));
  const [head = [], tail = []] = groups;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) throw fail();
  const all = [...head, ...Array<string>(halves.length === 1 ? 0 : missing).fill('0'), ...tail];
  if (all.some((group) => !/^[0-9a-f]{1,4}$/i.test(group))) throw fail();
  const values = all.map((group) => Number.parseInt(group, 16));
  return Int32Array.from([0, 2, 4, 6], (i) => ((values[i] as number) << 16) | (values[i + 1] as number));
};

/** Words of an address in text form. */
export const parseAddress = (text: string): Int32Array => {
  if (text.includes(':')) return parse6(text);
  const words = new Int32Array(4);
  writeMapped(words, 0, parse4(text));
  return words;
};

export const formatIpv4 = (value: number): string =>
  `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`;

/** Text of an address (RFC 5952). */
export const formatAddress = (words: Int32Array, at = 0): string => {
  if (isMappedAddress(words, at)) return formatIpv4(words[at + 3] as number);
  const groups = Array.from({ length: 8 }, (_, i) => {
    const word = words[at + (i >> 1)] as number;
    return (i % 2 === 0 ? word >>> 16 : word & 0xffff).toString(16);
  });
  let best = { start: -1, length: 1 };
  for (let start = 0; start < 8; start++) {
    let length = 0;
    while (groups[start + length] === '0') length++;
    if (length > best.length) best = { start, length };
  }
  if (best.start < 0) return groups.join(':');
  return `${groups.slice(0, best.start).join(':')}::${groups.slice(best.start + best.length).join(':')}`;
};
